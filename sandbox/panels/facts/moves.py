"""Source and target of a pod's move: a lane of the queue, or its binding, during which it is in no lane."""

from __future__ import annotations

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
