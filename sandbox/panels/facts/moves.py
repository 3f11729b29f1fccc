"""Moves of pods in the queue: source, target, and what caused them.

Source and target are lanes, or the binding, during which a pod is in no lane.
"""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.state import Queued
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.say import say
from scheduler_engine.trace.events import PodMoved

BEGINS, FAILS = "Scheduled", "ScheduleAttemptFailure"
"""Causes of the moves to the binding and, if it fails, back from it."""


def source_of(move: PodMoved) -> str:
    """Return the lane or the binding that the pod left, "" if it is new."""
    return move.source or (say("queues.binding") if move.cause == FAILS else "")


def target_of(move: PodMoved) -> str:
    """Return the lane or the binding that the pod moved to, "" if it left for good."""
    return move.target or (say("queues.binding") if move.cause == BEGINS else "")


def origin(world: World, queued: Queued) -> dict[str, Any]:
    """Return the cause of a move, a command, a cycle or the clock, in words. A Pop has none but the pod's turn.

    ``command`` or ``cycle``: the number of its mark on the timeline, if there is one.
    """
    if queued.came.cause in ("Pop", "PopFromBackoffQ"):
        return {"text": ""}
    cycle = world.by_number.get(queued.cycle)
    if cycle is not None:
        return {
            "text": say("history.in-cycle", cycle=queued.cycle, pod=short_name(cycle.pod)),
            "cycle": queued.cycle,
            "moment": str(world.moment_of(cycle.last_entry)),
        }
    if not 0 < queued.command <= len(world.commands):
        return {"text": ""}
    command = world.commands[queued.command - 1]
    if command.command.steps:
        return {"text": say("history.by-the-clock")}
    text = say("history.by-command", number=command.number, summary=command.summary)
    return {"text": text, "command": command.number}
