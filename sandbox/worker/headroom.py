"""What still fits: the headroom of each workload, what runs out first, and which nodes could go, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.panels.model.moment import Moment
from sandbox.words.say import say
from sandbox.worker.bounded import within
from sandbox.worker.earlier import simulation_at
from sandbox.worker.live import Live
from sandbox.worker.progress import departed
from sandbox.worker.room import note
from sandbox.worker.so_far import SoFar
from scheduler_engine.answers import leaving_phrases
from scheduler_engine.answers.balance import ResourceUse
from scheduler_engine.answers.headroom import Headroom, headroom_of, owners, scarcest
from scheduler_engine.answers.leaving import Departure, Leaving, removable, removable_together
from scheduler_engine.answers.room import Room, result_of
from scheduler_engine.errors import Rejected

MOST_REPLICAS = 500
"""Replicas that are placed before the page says "at least"."""
MOST_SECONDS = 4.0
"""How long each of three parts goes on: workloads, nodes alone, nodes together."""
MOST_REASONS = 3
CAN_GO = {True: "headroom.can-go", False: "headroom.can-go-alone", None: "headroom.can-go-perhaps"}
"""Whether a node could go after others, None = it was not tried → key of what is said of one that could go alone."""


@dataclass(slots=True)
class _Done:
    """What has been tried, of how many ``workloads`` and ``nodes``.

    ``replicas``: of the workload that is counted now. ``departure``: of the node that leaves a copy now.
    """

    workloads: int
    nodes: int
    replicas: int = 0
    departure: Departure | None = None
    rows: list[tuple[Headroom, str]] = field(default_factory=list)
    """With what keeps the replicas from running, although they fit."""
    alone: list[tuple[str, Leaving]] = field(default_factory=list)
    together: dict[str, bool] = field(default_factory=dict)

    def count(self, node: str) -> None:
        """Count a replica that has a place on ``node``."""
        self.replicas += 1

    def watch(self, departure: Departure) -> None:
        self.departure = departure

    def so_far(self) -> SoFar:
        found = {
            "workloads": [_workload(*row) for row in self.rows],
            "nodes": [_node(node, left, {}) for node, left in self.alone],
        }
        if self.departure is None:
            text = say("progress.workloads", tried=len(self.rows), count=self.workloads)
            now = say("progress.copies", count=self.replicas)
        else:
            key, tried = ("together", self.together) if self.together else ("nodes", self.alone)
            text = say(f"progress.{key}", tried=len(tried), count=self.nodes)
            now = departed(self.departure)
        text = f"{text} {now}"
        return SoFar(text, found)


def answer(live: Live, at: Moment | None) -> dict[str, Any]:
    """Return what still fits at a moment, None = the present, in words.

    ``nodes``: each alone; ``together``: the names of those that could go one after the other. ``problem``: why there
    is no answer about nodes, or "".
    """
    simulation = simulation_at(live, at)
    done = _Done(len([*owners(simulation)]), len([*simulation.api.list("Node")]))
    live.so_far = done.so_far
    for item in within(MOST_SECONDS, owners(simulation)):
        done.replicas = 0
        row = result_of(headroom_of(simulation, item, MOST_REPLICAS), done.count)
        done.rows.append((row, note(simulation, item)))
    scarce = scarcest(simulation)
    data: dict[str, Any] = {
        "problem": "",
        "verdict": _verdict([row for row, _ in done.rows], scarce),
        "workloads": [_workload(*row) for row in done.rows],
        "more_workloads": done.workloads - len(done.rows),
        "resources": [_resource(use) for use in scarce],
        "count": done.nodes,
        "nodes": [],
        "together": [],
    }
    try:
        for alone in within(MOST_SECONDS, removable(simulation, done.watch)):
            done.alone.append(alone)
        for node, can_go in within(MOST_SECONDS, removable_together(simulation, done.watch)):
            done.together[node] = can_go
    except Rejected as problem:
        return {**data, "problem": str(problem)}
    return {
        **data,
        "nodes": [_node(node, left, done.together) for node, left in done.alone],
        "together": [node for node, can_go in done.together.items() if can_go],
        "tried_together": len(done.together),
    }


def _verdict(rows: Sequence[Headroom], scarce: Sequence[ResourceUse]) -> list[str]:
    """Return how many workloads can grow, and which resource is the scarcest."""
    can_grow = sum(row.room is not None and row.room.total > 0 for row in rows)
    texts = [say("headroom.can-grow", count=can_grow, workloads=len(rows))] if rows else []
    if scarce:
        texts.append(say("headroom.scarcest", resource=scarce[0].resource, share=_share(scarce[0].whole.share)))
    return texts or [say("headroom.nothing")]


def _share(share: float) -> str:
    return f"{share:.0%}"


def _workload(row: Headroom, note: str) -> dict[str, Any]:
    """Return a row. ``replicas``: how many more, ``limited``: at least so many; None if that cannot be counted."""
    named = {"kind": row.kind, "key": row.key, "note": note}
    if row.room is None:
        return {**named, "replicas": None, "limited": False, "why": row.problem}
    why = "" if row.room.stopped is None else _stops(row.room)
    return {**named, "replicas": row.room.total, "limited": row.room.stopped is None, "why": why}


def _stops(found: Room) -> str:
    """Return what refuses the next replica, on most nodes first; the whole message if no node was asked."""
    reasons = found.reasons()
    texts = [
        say("fit.reason", plugin=plugin, reasons="; ".join(why), count=len(nodes))
        for (plugin, why), nodes in [*reasons.items()][:MOST_REASONS]
    ]
    if len(reasons) > MOST_REASONS:
        texts.append(say("headroom.more-reasons", count=len(reasons) - MOST_REASONS))
    return "; ".join(texts) or (found.stopped.message if found.stopped is not None else "")


def _resource(use: ResourceUse) -> dict[str, Any]:
    full = max(use.nodes, key=lambda node: node.share)
    return {"name": use.resource, "share": _share(use.whole.share), "fullest": _share(full.share), "node": full.name}


def _node(name: str, left: Leaving, together: Mapping[str, bool]) -> dict[str, Any]:
    """Return a row. ``together``: node → whether it could go after others, of the nodes that were tried so."""
    if left.can_go:
        text = say(CAN_GO[together.get(name)], count=sum(together.values()))
    else:
        text = say("headroom.cannot-go", why=leaving_phrases.why_not(left))
    return {"node": name, "fine": left.can_go, "text": text, "pods": len(left.leavers)}
