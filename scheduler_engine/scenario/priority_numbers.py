"""Find files that give pods a priority as a number only, as older ones do and no cluster allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def gives_numbers(data: Any) -> bool:
    """Return True if any spec of a pod or template in ``data`` has a priority other than 0 and no class.

    ``data``: a scenario, a lesson, commands or parts of them.
    """
    if is_dataclass(data) and not isinstance(data, type):
        return any(gives_numbers(getattr(data, item.name)) for item in fields(data))
    if isinstance(data, Mapping):
        if "containers" in data and data.get("priority") and not data.get("priorityClassName"):
            return True
        return any(gives_numbers(value) for value in data.values())
    return isinstance(data, (list, tuple)) and any(gives_numbers(item) for item in data)
