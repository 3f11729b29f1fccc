"""Members of manifests as the texts of forms: what all readers of manifests share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Data = Mapping[str, Any]
Row = dict[str, Any]
Values = dict[str, Any]
"""Field → text, True if ticked, or rows."""


def parts_of(manifest: Data) -> tuple[Data, Data, Data]:
    return manifest.get("metadata") or {}, manifest.get("spec") or {}, manifest.get("status") or {}


def namespace_of(metadata: Data) -> Values:
    return {"namespace": metadata.get("namespace") or "default"}


def row_of(item: Data, *names: str, empty: str = "") -> Row:
    """Return members as texts; missing ones are "". The member ``empty`` is left out if it is missing."""
    return {name: text_of(item.get(name)) for name in names if name != empty or item.get(name)}


def pairs_text(data: Data) -> str:
    return ", ".join(f"{name}={text_of(value)}" for name, value in data.items())


def text_of(value: Any) -> str:
    return "" if value is None else str(value)
