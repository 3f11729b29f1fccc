"""Names that look random but are derived from their objects, so that every replay gives the same ones.

Source: upstream ``apimachinery/pkg/util/rand`` (SafeEncodeString) and ``pkg/controller/controller_utils.go``
(ComputeHash).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.fields import without_empty
from scheduler_engine.controllers.pod_state import digest

ALPHANUMERICS = "bcdfghjklmnpqrstvwxz2456789"
"""No vowels and no look-alikes, as in Kubernetes' generated names."""


def suffix(text: str) -> str:
    """Return five characters that look random but depend only on ``text``."""
    number, letters = digest(text), ""
    for _ in range(5):
        number, rest = divmod(number, len(ALPHANUMERICS))
        letters += ALPHANUMERICS[rest]
    return letters


def template_hash(template: Mapping[str, Any]) -> str:
    """Return the value of ``pod-template-hash``: equal templates have equal hashes."""
    number = str(digest(json.dumps(_compared(template), sort_keys=True)) % 2**32)
    return "".join(ALPHANUMERICS[ord(digit) % len(ALPHANUMERICS)] for digit in number)


def same_template(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if Kubernetes considers two templates equal: ``resources: {}`` is the same as no resources."""
    return one == other or _compared(one) == _compared(other)


def _compared(template: Mapping[str, Any]) -> dict[str, Any]:
    return without_empty(template, "PodTemplateSpec", structs=True)
