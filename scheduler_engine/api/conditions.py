"""Conditions in the status of objects: setting one in the place of the one of its type, and what they say.

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
"""Node condition → status → the taint that it means, with the effect NoSchedule. Ready also taints NoExecute."""

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


def is_ready(pod: Pod) -> bool:
    """As its condition Ready says; without one it is not."""
    return pod.condition_status("Ready") == "True"


def condition_statuses(node: Node) -> dict[str, str]:
    """Status of each condition that means a taint, as far as the node reports it, in the table's order."""
    given = {item.get("type"): str(item.get("status")) for item in node.status.get("conditions") or ()}
    return {kind: given[kind] for kind in CONDITION_TAINTS if kind in given}
