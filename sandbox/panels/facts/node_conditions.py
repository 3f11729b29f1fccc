"""Conditions of nodes: which ones are bad, since when, their taints, and how long they last."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.node_health import NodeHealth
from sandbox.panels.model.state import NodeState
from sandbox.panels.model.world import World
from sandbox.words.amounts import SECOND, short_clock
from sandbox.words.say import say
from scheduler_engine.api.conditions import CONDITION_TAINTS, condition_statuses
from scheduler_engine.api.objects import Node, time_us
from scheduler_engine.api.taints import UNSCHEDULABLE
from scheduler_engine.config.kubelet import SIGNALS, EvictionConfiguration

KUBELETS = tuple(kind for kind, _ in SIGNALS.values())
"""Conditions that a kubelet sets by what it measures."""
WORST_FIRST = ("Ready", "NetworkUnavailable", "MemoryPressure", "DiskPressure", "PIDPressure")


def is_bad(kind: str, status: str) -> bool:
    """Return True if the status is bad; for kinds without a taint, True is bad."""
    return status in CONDITION_TAINTS.get(kind, ("True",))


def troubles(node: Node) -> list[str]:
    """Return what is wrong, worst first: ``NotReady``, ``Unreachable``, or a condition that should be False."""
    if not node.status.get("conditions"):
        return []
    statuses = condition_statuses(node)
    kinds = []
    for kind in WORST_FIRST:
        status = statuses.get(kind, "")
        if is_bad(kind, status):
            kinds.append({"Unknown": "Unreachable", "False": "NotReady"}.get(status, kind))
    return kinds


def rank(node: NodeState) -> tuple[int, ...]:
    """Return a sort key that puts nodes in trouble first, then cordoned ones."""
    places = {"Unreachable": 0, "NotReady": 0, **{kind: place for place, kind in enumerate(WORST_FIRST)}}
    worst = [places[kind] for kind in troubles(node.node)]
    return worst[0] if worst else len(WORST_FIRST) + (not node.node.unschedulable), -len(worst)


def conditions(
    world: World, node: NodeState, configuration: EvictionConfiguration, health: NodeHealth
) -> list[dict[str, Any]]:
    by_kind = {item.get("type"): item for item in node.node.status.get("conditions") or ()}
    rows = []
    for kind, taints in CONDITION_TAINTS.items():
        item = by_kind.get(kind) or {}
        status = str(item.get("status") or "")
        statuses = ("True", "False", "Unknown") if kind == "Ready" else ("True", "False")
        rows.append(
            {
                "type": kind,
                "status": status,
                "bad": is_bad(kind, status),
                "choices": [(choice, choice == status, is_bad(kind, choice)) for choice in statuses],
                "since": _since(item.get("lastTransitionTime")),
                "message": item.get("message") or "",
                "stays": _stays(world, kind, configuration, health) if status == "True" else "",
                "taints": _taints(node, set(taints.values())),
                "by_kubelet": kind in KUBELETS,
            }
        )
    return rows


def other_taints(node: NodeState) -> list[dict[str, str]]:
    """Return the taints that stand for no condition, without that of a cordon, which the page says in words."""
    condition_keys = {key for taints in CONDITION_TAINTS.values() for key in taints.values()}
    return _taints(node, {taint.key for taint in node.node.taints} - condition_keys - {UNSCHEDULABLE})


def _taints(node: NodeState, keys: set[str]) -> list[dict[str, str]]:
    """Return one mark for each of ``keys`` with all its effects."""
    effects: dict[str, list[str]] = {}
    for taint in node.node.taints:
        if taint.key in keys:
            effects.setdefault(taint.key, []).append(taint.effect)
    joined = {key: ", ".join(of_key) for key, of_key in effects.items()}
    return [{"text": key.rpartition("/")[2], "title": f"{key}:{text}", "effects": text} for key, text in joined.items()]


def _since(text: object) -> str:
    try:
        at_us = time_us(text if isinstance(text, str) else None)
    except ValueError:
        at_us = None
    return short_clock(at_us) if at_us is not None and at_us >= 0 else ""


def _stays(world: World, kind: str, configuration: EvictionConfiguration, health: NodeHealth) -> str:
    """Return how long a pressure is still reported after it ended."""
    last_seen = dict(health.observation.conditions) if health.observation else {}
    if kind not in last_seen:
        return ""
    last_us = last_seen[kind]
    if last_us is None and health.relief is not None:
        last_us = health.relief.at_us
    if last_us is None:
        return say("nodes.threshold-met")
    left = max(0, last_us + configuration.transition_us - world.clock_us)
    return say("nodes.stays", seconds=left // SECOND)
