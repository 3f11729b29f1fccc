"""Conditions in the status of objects, set in the place of the one of their type.

Source: upstream ``apimachinery/pkg/api/meta/conditions.go`` and ``pkg/api/v1/pod/util.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.objects import timestamp

Condition = dict[str, Any]


def with_condition(conditions: Sequence[Condition], condition: Mapping[str, Any]) -> list[Condition]:
    """Conditions with ``condition`` put in the place of the one of its type, or at the end."""
    kept = [item for item in conditions if item.get("type") != condition["type"]]
    position = next((i for i, item in enumerate(conditions) if item.get("type") == condition["type"]), len(kept))
    return [*kept[:position], dict(condition), *kept[position:]]


def condition_set(
    conditions: Sequence[Condition], now_us: int, kind: str, status: str, reason: str = "", message: str = ""
) -> list[Condition]:
    """Conditions with the one of type ``kind`` set; its transition time changes only with its status."""
    held = next((item for item in conditions if item.get("type") == kind), {})
    since = held.get("lastTransitionTime") if held.get("status") == status else None
    new = {"type": kind, "status": status, "lastTransitionTime": since or timestamp(now_us)}
    new |= {name: text for name, text in (("reason", reason), ("message", message)) if text}
    return with_condition(conditions, new)
