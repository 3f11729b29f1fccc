"""Jobs whose answers come from copies of the engine: comparisons, counts of what fits, and fixes."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.version import rules_in
from sandbox.panels.model.moment import Moment
from sandbox.storage.records import Position
from sandbox.worker import comparing, fixing, headroom, leaving, other_run, rerolling, room
from sandbox.worker import in_step as two_runs
from sandbox.worker import seeds as over_seeds
from sandbox.worker.job import replaying
from sandbox.worker.live import Live
from scheduler_engine.versions import named

Answer = dict[str, Any]


def _by_rules(live: Live, at: Moment | None, answer: Answer) -> Answer:
    """Add the version of Kubernetes at the moment of an answer, in words: by its rules the answer holds.

    ``stopped``: why the answer is about an earlier state than the head of the log, "" if it is not.
    """
    world = live.at(at)
    return {"kubernetes": named(rules_in(world.configured)), "stopped": world.stopped, **answer}


@replaying
def difference(live: Live, position: Position, other: other_run.Other, at: Moment | None = None) -> dict[str, Any]:
    """Return what differs between a moment, None = the present, and another run, in words."""
    live.move_to(position)
    return _by_rules(live, at, comparing.difference(live, other, at))


@replaying
def in_step(
    live: Live, position: Position, other: other_run.Other, at: Moment | None = None
) -> tuple[other_run.Course, other_run.Course]:
    """Return the run up to a moment, None = the present, and another run, both until they first differ."""
    live.move_to(position)
    return two_runs.in_step(live, other, at)


@replaying
def seeds(live: Live, position: Position, wanted: over_seeds.Wanted, at: Moment | None = None) -> dict[str, Any]:
    """Return what luck decides up to a moment, None = the present, and if another run differs by more, in words."""
    live.move_to(position)
    return _by_rules(live, at, over_seeds.answer(live, wanted, at))


@replaying
def reroll(live: Live, position: Position, cycle: int, draws: int) -> dict[str, Any]:
    """Return how often each equal node of an attempt wins under other seeds, in words."""
    live.move_to(position)
    return _by_rules(live, None, rerolling.answer(live, cycle, draws))


@replaying
def fit(live: Live, position: Position, asked: room.Asked, at: Moment | None = None) -> dict[str, Any]:
    """Return how many copies of a pod fit at a moment, None = the present, in words."""
    live.move_to(position)
    return _by_rules(live, at, room.answer(live, asked, at))


@replaying
def fixes(live: Live, position: Position, pod: str, at: Moment | None = None) -> dict[str, Any]:
    """Return what would let a pod run that is pending at a moment, None = the present, in words."""
    live.move_to(position)
    return _by_rules(live, at, fixing.answer(live, pod, at))


@replaying
def still_fits(live: Live, position: Position, at: Moment | None = None) -> dict[str, Any]:
    """Return how much room workloads have at a moment, None = the present, and which nodes could go, in words."""
    live.move_to(position)
    return _by_rules(live, at, headroom.answer(live, at))


@replaying
def leave(live: Live, position: Position, node: str, zone: str, at: Moment | None = None) -> dict[str, Any]:
    """Return what becomes of the pods if a node is drained, or a zone is lost, at a moment, None = the present."""
    live.move_to(position)
    return _by_rules(live, at, leaving.answer(live, node, zone, at))
