"""What a row of the table says in words, and where its source is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from scheduler_engine.versions.names import release_of
from scheduler_engine.words import say

KUBERNETES = "https://github.com/kubernetes"
LINKS = {r"#(\d+)": f"{KUBERNETES}/kubernetes/pull/{{}}", r"KEP-(\d+)": f"{KUBERNETES}/enhancements/issues/{{}}"}
"""Pattern of a source → its address."""


def releases_text(versions: Iterable[str]) -> str:
    """Return the releases of versions in a sentence: ``v1.34.1, v1.35.6 and v1.36.2``."""
    *others, last = map(release_of, versions)
    return say("versions.and", first=", ".join(others), last=last) if others else last


def value_text(value: Any) -> str:
    """Return a value of a rule in words."""
    if isinstance(value, bool):
        return say("versions.yes") if value else say("versions.no")
    return str(value) if isinstance(value, int) else ", ".join(value) or say("versions.none")


def address_of(source: str) -> str:
    """Return the address of a source; "" for a file of Kubernetes."""
    for pattern, address in LINKS.items():
        if match := re.fullmatch(pattern, source):
            return address.format(match[1])
    return ""
