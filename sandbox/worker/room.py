"""How many more copies of a pod fit: as the scheduler places them, on each node alone, and with more nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandbox.words.say import say
from sandbox.worker.errors import UnknownName, no_answer
from scheduler_engine.answers.nodes_needed import nodes_needed
from scheduler_engine.answers.room import Room, room, room_by_node
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation

MOST_COPIES = 2_000
"""Copies that are placed before the page says "at least"."""
MOST_ALONE, MOST_NODES = 200, 40
"""Copies that are placed on a node alone, and nodes of the largest cluster whose nodes are tried alone."""
MOST_WANTED = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """``pod``: the key of the pod to copy. ``copies``: how many are wanted, with new nodes like ``shape``; 0 = nobody
    asked for that.
    """

    pod: str
    copies: int = 0
    shape: str = ""


def answer(simulation: Simulation, asked: Asked) -> dict[str, Any]:
    """Return how many copies of a pod fit at present, in words.

    ``problem``: why that cannot be counted, or "". ``unknown``: the field that names something that does not exist.
    """
    pod, nodes = simulation.api.pod(asked.pod), [*simulation.api.list("Node")]
    data: dict[str, Any] = {"problem": "", "unknown": "", "pod": asked.pod, "shapes": [node.name for node in nodes]}
    if not asked.pod:
        return {**data, "problem": say("errors.no-pod-named")}
    if pod is None:
        return {**data, "problem": say("errors.no-such-object", kind="Pod", key=asked.pod), "unknown": "pod"}
    try:
        found = room(simulation, pod.manifest, MOST_COPIES)
        alone = dict(room_by_node(simulation, pod.manifest, MOST_ALONE)) if len(nodes) <= MOST_NODES else {}
        data["needed"] = _needed(simulation, pod.manifest, asked)
    except Rejected as problem:
        return data | no_answer(problem)
    return {
        **data,
        "gates": ", ".join(pod.scheduling_gates),
        "total": found.total,
        "limited": found.stopped is None,
        "message": found.stopped.message if found.stopped is not None else "",
        "nodes": [_row(node.name, found, alone.get(node.name)) for node in nodes],
        "alone": bool(alone),
        "reasons": [
            {"plugin": plugin, "reasons": "; ".join(reasons), "count": len(names)}
            for (plugin, reasons), names in found.reasons().items()
        ],
    }


def _row(node: str, found: Room, alone: Room | None) -> dict[str, Any]:
    stopped = alone.stopped if alone is not None else found.stopped
    _, reasons = stopped.statuses.get(node, ("", ())) if stopped is not None else ("", ())
    return {
        "node": node,
        "placed": found.placed.get(node, 0),
        "alone": None if alone is None else alone.total,
        "alone_limited": alone is not None and stopped is None,
        "why": "; ".join(reasons) or (stopped.message if alone is not None and stopped is not None else ""),
    }


def _needed(simulation: Simulation, manifest: Any, asked: Asked) -> dict[str, Any] | None:
    """Return how many new nodes the wanted copies need; None if nobody asked. Raises Rejected."""
    if not asked.copies:
        return None
    shape = simulation.api.get("Node", asked.shape)
    if not asked.shape:
        raise Rejected(say("fit.no-shape"))
    if shape is None:
        raise UnknownName("shape", say("fit.no-node", node=asked.shape))
    needed = nodes_needed(simulation, manifest, asked.copies, shape.manifest)
    places = {"copies": asked.copies, "shape": asked.shape}
    if needed.nodes is None:
        why = needed.room.stopped.message if needed.room.stopped is not None else ""
        return {"text": say("fit.no-number", **places), "why": why}
    if not needed.nodes:
        return {"text": say("fit.needed-none", copies=asked.copies), "why": ""}
    return {"text": say("fit.needed", count=needed.nodes, **places), "why": ""}
