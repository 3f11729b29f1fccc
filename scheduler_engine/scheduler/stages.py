"""The stages of a pod's two cycles, and the allowed successors of each: stepping follows and enforces this table.

``""`` = the cycle is over: the pod is bound, or has failed and is back in the queue. Pop is not in the table: it
creates the cycle. Source: seed 002 §6 and 004; upstream ``schedule_one.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scheduler_engine.scheduler import binding, schedule_one
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.parts import SchedulerParts

OVER = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage. ``run`` performs it and returns the next one, one of ``then``."""

    run: Callable[[SchedulerParts, Cycle], str]
    then: tuple[str, ...]


SCHEDULING: dict[str, Stage] = {
    "Snapshot": Stage(schedule_one.take_snapshot, ("PreFilter", OVER)),
    "PreFilter": Stage(schedule_one.pre_filter, ("Filter", "PostFilter", OVER)),
    "Filter": Stage(schedule_one.filter_nodes, ("PreScore", "SelectHost", "PostFilter", OVER)),
    "PostFilter": Stage(schedule_one.post_filter, (OVER,)),
    "PreScore": Stage(schedule_one.pre_score, ("Score", OVER)),
    "Score": Stage(schedule_one.score, ("NormalizeScore", OVER)),
    "NormalizeScore": Stage(schedule_one.normalize_score, ("SelectHost", OVER)),
    "SelectHost": Stage(schedule_one.select_host, ("Assume",)),
    "Assume": Stage(schedule_one.assume, ("Reserve", OVER)),
    "Reserve": Stage(schedule_one.reserve, ("Permit", OVER)),
    "Permit": Stage(schedule_one.permit, ("WaitOnPermit", "PreBind", OVER)),
}
BINDING: dict[str, Stage] = {
    "WaitOnPermit": Stage(binding.wait_on_permit, ("PreBind", OVER)),
    "PreBind": Stage(binding.pre_bind, ("PreBind", "Bind", OVER)),
    "Bind": Stage(binding.bind, ("Bind", "PostBind", OVER)),
    "PostBind": Stage(binding.post_bind, (OVER,)),
}
"""These run alongside the next scheduling cycle. PreBind and Bind repeat while a plugin is not done."""
STAGES = {**SCHEDULING, **BINDING}


def run(scheduler: SchedulerParts, cycle: Cycle) -> None:
    """Run the next stage of ``cycle``. Raises AssertionError if its successor is not allowed."""
    ran = cycle.stage
    cycle.stage = STAGES[ran].run(scheduler, cycle)
    assert cycle.stage in STAGES[ran].then, f"{ran} must not lead to {cycle.stage or 'the end'}"
