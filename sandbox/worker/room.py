"""How many more copies of a pod fit: as the scheduler places them, on each node alone, and with more nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandbox.panels.model.moment import Moment
from sandbox.words.say import say
from sandbox.worker.earlier import simulation_at
from sandbox.worker.errors import UnknownName, no_answer
from sandbox.worker.live import Live
from sandbox.worker.so_far import SoFar
from scheduler_engine.answers.copies import pod_of
from scheduler_engine.answers.headroom import WITH_TEMPLATE, idle
from scheduler_engine.answers.nodes_needed import nodes_needed
from scheduler_engine.answers.room import Room, place_copies, result_of, room_by_node
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation

MOST_COPIES = 2_000
"""Copies that are placed before the page says "at least"."""
MOST_ALONE, MOST_NODES = 200, 40
"""Copies that are placed on a node alone, and nodes of the largest cluster whose nodes are tried alone."""
MOST_WANTED = 500


POD = "Pod"
KINDS = (POD, *WITH_TEMPLATE)
"""Kinds that can be copied; of a workload the pod in its template."""


@dataclass(frozen=True, slots=True)
class Asked:
    """``key``: of the pod to copy, or of a workload of this ``kind``. ``copies``: how many are wanted, with new nodes
    like ``shape``; 0 = nobody asked for that.
    """

    key: str
    copies: int = 0
    shape: str = ""
    kind: str = POD


@dataclass(slots=True)
class _Done:
    """What has been tried. ``nodes``: how many are tried alone; ``new``: the new nodes of the last try, None = none."""

    nodes: int
    copies: int = 0
    alone: dict[str, Room] = field(default_factory=dict)
    new: int | None = None

    def count(self, node: str) -> None:
        """Count a copy that has a place on ``node``."""
        self.copies += 1

    def try_new(self, nodes: int) -> None:
        self.new = nodes

    def so_far(self) -> SoFar:
        if self.new is not None:
            return SoFar(say("progress.new-nodes", count=self.new))
        texts = [say("progress.copies", count=self.copies)]
        if self.alone:
            texts.append(say("progress.alone", tried=len(self.alone), count=self.nodes))
        return SoFar(" ".join(texts))


def answer(live: Live, asked: Asked, at: Moment | None) -> dict[str, Any]:
    """Return how many copies of a pod, or of a workload's pod, fit at a moment, None = the present, in words.

    ``problem``: why that cannot be counted, or "". ``unknown``: the field that names something that does not exist.
    """
    simulation = simulation_at(live, at)
    item, nodes = simulation.api.get(asked.kind, asked.key), [*simulation.api.list("Node")]
    named = {"kind": asked.kind, "key": asked.key}
    data: dict[str, Any] = {"problem": "", "unknown": "", **named, "shapes": [node.name for node in nodes]}
    if not asked.key:
        return {**data, "problem": say("errors.no-pod-named" if asked.kind == POD else "errors.no-workload-named")}
    if item is None:
        unknown = "pod" if asked.kind == POD else "key"
        return {**data, "problem": say("errors.no-such-object", **named), "unknown": unknown}
    done = _Done(len(nodes))
    live.so_far = done.so_far
    try:
        found = result_of(place_copies(simulation, item.manifest, MOST_COPIES), done.count)
        if len(nodes) <= MOST_NODES:
            for node, alone in room_by_node(simulation, item.manifest, MOST_ALONE):
                done.alone[node] = alone
        data["needed"] = _needed(simulation, item.manifest, asked, done)
    except Rejected as problem:
        return data | no_answer(problem)
    return {
        **data,
        "note": note(simulation, item),
        "total": found.total,
        "limited": found.stopped is None,
        "message": found.stopped.message if found.stopped is not None else "",
        "nodes": [_row(node.name, found, done.alone.get(node.name)) for node in nodes],
        "alone": bool(done.alone),
        "reasons": [
            {"plugin": plugin, "reasons": "; ".join(reasons), "count": len(names)}
            for (plugin, reasons), names in found.reasons().items()
        ],
    }


def note(simulation: Simulation, item: KubeObject) -> str:
    """Return what keeps copies of a pod or workload from running, although they fit; "" if nothing does."""
    gates = Pod(pod_of(item.manifest)).scheduling_gates
    texts = [say("fit.gated", gates=", ".join(gates))] if gates else []
    if why := idle(simulation, item):
        texts.append(say(f"fit.{why}"))
    return " ".join(texts)


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


def _needed(simulation: Simulation, manifest: Any, asked: Asked, done: _Done) -> dict[str, Any] | None:
    """Return how many new nodes the wanted copies need; None if nobody asked. Raises Rejected."""
    if not asked.copies:
        return None
    shape = simulation.api.get("Node", asked.shape)
    if not asked.shape:
        raise Rejected(say("fit.no-shape"))
    if shape is None:
        raise UnknownName("shape", say("fit.no-node", node=asked.shape))
    needed = nodes_needed(simulation, manifest, asked.copies, shape.manifest, done.try_new)
    places = {"copies": asked.copies, "shape": asked.shape}
    if needed.nodes is None:
        why = needed.room.stopped.message if needed.room.stopped is not None else ""
        return {"text": say("fit.no-number", **places), "why": why}
    if not needed.nodes:
        return {"text": say("fit.needed-none", copies=asked.copies), "why": ""}
    return {"text": say("fit.needed", count=needed.nodes, **places), "why": ""}
