"""What a row of the table says in words, and where its source is."""

from __future__ import annotations

import re
from typing import Any

from scheduler_engine.words import say

KUBERNETES = "https://github.com/kubernetes"
LINKS = {r"#(\d+)": f"{KUBERNETES}/kubernetes/pull/{{}}", r"KEP-(\d+)": f"{KUBERNETES}/enhancements/issues/{{}}"}
"""Pattern of a source → its address."""


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
