"""Conditions of nodes: which are bad, since when, what taints they mean, and how long they stay."""

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
    """Of a kind that no taint stands for, True is bad."""
    return status in CONDITION_TAINTS.get(kind, ("True",))


def troubles(node: Node) -> list[str]:
    """What is wrong, worst first: ``NotReady``, ``Unreachable``, or the name of a condition that should be False."""
    if not node.status.get("conditions"):
        return []
    statuses = condition_statuses(node)
    found = []
    for kind in WORST_FIRST:
        status = statuses.get(kind, "")
        if is_bad(kind, status):
            found.append({"Unknown": "Unreachable", "False": "NotReady"}.get(status, kind))
    return found


def rank(node: NodeState) -> tuple[int, ...]:
    """Sorts nodes in trouble before others."""
    places = {"Unreachable": 0, "NotReady": 0, **{kind: place for place, kind in enumerate(WORST_FIRST)}}
    worst = [places[kind] for kind in troubles(node.node)]
    return worst[0] if worst else len(WORST_FIRST) + (not node.node.unschedulable), -len(worst)


def conditions(
    world: World, node: NodeState, configuration: EvictionConfiguration, health: NodeHealth
) -> list[dict[str, Any]]:
    given = {item.get("type"): item for item in node.node.status.get("conditions") or ()}
    rows = []
    for kind, taints in CONDITION_TAINTS.items():
        item = given.get(kind) or {}
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
    """Taints that no condition stands for; the one of a cordoned node is said in words."""
    meant = {key for taints in CONDITION_TAINTS.values() for key in taints.values()}
    return _taints(node, {taint.key for taint in node.node.taints} - meant - {UNSCHEDULABLE})


def _taints(node: NodeState, keys: set[str]) -> list[dict[str, str]]:
    """One mark for each key, with all of its effects."""
    effects: dict[str, list[str]] = {}
    for taint in node.node.taints:
        if taint.key in keys:
            effects.setdefault(taint.key, []).append(taint.effect)
    return [
        {"text": key.rpartition("/")[2], "title": f"{key}:{', '.join(found)}", "effects": ", ".join(found)}
        for key, found in effects.items()
    ]


def _since(text: object) -> str:
    try:
        at_us = time_us(text if isinstance(text, str) else None)
    except ValueError:
        at_us = None
    return short_clock(at_us) if at_us is not None and at_us >= 0 else ""


def _stays(world: World, kind: str, configuration: EvictionConfiguration, health: NodeHealth) -> str:
    """How long a pressure is still reported although it is over."""
    told = dict(health.seen.conditions) if health.seen else {}
    if kind not in told:
        return ""
    last_us = told[kind]
    if last_us is None and health.relief is not None:
        last_us = health.relief.at_us
    if last_us is None:
        return say("nodes.threshold-met")
    left = max(0, last_us + configuration.transition_us - world.clock_us)
    return say("nodes.stays", seconds=left // SECOND)
