"""Label and field selectors as texts. Source: upstream ``apimachinery/pkg/labels`` and ``pkg/fields``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.kube.statuses import Refused
from scheduler_engine.api.labels import Requirement

KEY = r"(?P<key>[A-Za-z0-9._/-]+)"
SETS = re.compile(rf"{KEY}\s+(?P<operator>in|notin)\s*\(\s*(?P<values>[^()]*)\)")
EQUALS = re.compile(rf"{KEY}\s*(?P<operator>==|=|!=)\s*(?P<value>[A-Za-z0-9._-]*)")
EXISTS = re.compile(rf"(?P<not>!\s*)?{KEY}")
FIELD = re.compile(r"(?P<path>[A-Za-z.]+)(?P<operator>==|=|!=)(?P<value>[^,]*)")

Keeps = Callable[[Mapping[str, Any]], bool]


def by_labels(text: str) -> Keeps:
    """Return a function that says if a manifest has the labels of a selector. Raises ``Refused``."""
    requirements = [_requirement(part.strip(), text) for part in _parts(text)] if text.strip() else []

    def keeps(manifest: Mapping[str, Any]) -> bool:
        labels = (manifest.get("metadata") or {}).get("labels") or {}
        return all(requirement.matches(labels) for requirement in requirements)

    return keeps


def _parts(text: str) -> list[str]:
    """Split at commas outside of parentheses."""
    return re.findall(r"(?:[^,(]|\([^)]*\))+", text)


def _requirement(part: str, whole: str) -> Requirement:
    if found := SETS.fullmatch(part):
        values = tuple(value.strip() for value in found["values"].split(","))
        return Requirement(found["key"], {"in": "In", "notin": "NotIn"}[found["operator"]], values)
    if found := EQUALS.fullmatch(part):
        return Requirement(found["key"], "NotIn" if found["operator"] == "!=" else "In", (found["value"],))
    if found := EXISTS.fullmatch(part):
        return Requirement(found["key"], "DoesNotExist" if found["not"] else "Exists")
    raise Refused(400, f"unable to parse requirement: {part!r} in the label selector {whole!r}")


def by_fields(text: str) -> Keeps:
    """Return a function that says if a manifest has the values of a field selector. Raises ``Refused``."""
    wanted = []
    for part in filter(None, text.split(",")):
        found = FIELD.fullmatch(part)
        if found is None:
            raise Refused(400, f'invalid selector: "{text}"; can\'t understand "{part}"')
        wanted.append((found["path"].split("."), found["operator"] != "!=", found["value"]))

    def keeps(manifest: Mapping[str, Any]) -> bool:
        return all((_value(manifest, path) == value) == equal for path, equal, value in wanted)

    return keeps


def _value(manifest: Mapping[str, Any], path: list[str]) -> str:
    """Return the value at a path as text, "" if there is none."""
    value: Any = manifest
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int) else ""
