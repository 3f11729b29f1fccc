"""Conditions in the status of objects: set one by its type, and read what they imply.

Source: upstream ``apimachinery/pkg/api/meta/conditions.go``, ``pkg/api/v1/pod/util.go`` and
``pkg/controller/nodelifecycle`` (which taints they mean).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api import taints
from scheduler_engine.api.objects import Node, Pod, timestamp

CONDITION_TAINTS: dict[str, dict[str, str]] = {
    "Ready": {"False": taints.NOT_READY, "Unknown": taints.UNREACHABLE},
    "MemoryPressure": {"True": taints.MEMORY_PRESSURE},
    "DiskPressure": {"True": taints.DISK_PRESSURE},
    "PIDPressure": {"True": taints.PID_PRESSURE},
    "NetworkUnavailable": {"True": taints.NETWORK_UNAVAILABLE},
}
"""Node condition → status → the taint that it implies, with effect NoSchedule. Ready also implies NoExecute."""

Condition = dict[str, Any]


def with_condition(conditions: Sequence[Condition], condition: Mapping[str, Any]) -> list[Condition]:
    """Return the conditions with ``condition`` replacing the one of its type, or at the end."""
    kept = [item for item in conditions if item.get("type") != condition["type"]]
    position = next((i for i, item in enumerate(conditions) if item.get("type") == condition["type"]), len(kept))
    return [*kept[:position], dict(condition), *kept[position:]]


def condition_set(
    conditions: Sequence[Condition], now_us: int, kind: str, status: str, reason: str = "", message: str = ""
) -> list[Condition]:
    """Set the condition of type ``kind``; its transition time changes only with its status."""
    held = next((item for item in conditions if item.get("type") == kind), {})
    since = held.get("lastTransitionTime") if held.get("status") == status else None
    new = {"type": kind, "status": status, "lastTransitionTime": since or timestamp(now_us)}
    new |= {name: text for name, text in (("reason", reason), ("message", message)) if text}
    return with_condition(conditions, new)


def is_ready(pod: Pod) -> bool:
    """Return True if its condition Ready is True."""
    return pod.ready


def condition_statuses(node: Node) -> dict[str, str]:
    """Return the status of each reported condition that implies a taint, in the table's order."""
    statuses = {item.get("type"): str(item.get("status")) for item in node.status.get("conditions") or ()}
    return {kind: statuses[kind] for kind in CONDITION_TAINTS if kind in statuses}
