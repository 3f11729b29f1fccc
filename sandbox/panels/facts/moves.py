"""From where to where a pod moved: lanes of the queue, or its binding, during which it is in none of them."""

from __future__ import annotations

from sandbox.words.say import say
from scheduler_engine.trace.events import PodMoved

BEGINS, FAILS = "Scheduled", "ScheduleAttemptFailure"
"""Causes of the moves to the binding and, if it fails, back from it."""


def source_of(move: PodMoved) -> str:
    """A lane or the binding, "" where the pod was not there before."""
    return move.source or (say("queues.binding") if move.cause == FAILS else "")


def target_of(move: PodMoved) -> str:
    """A lane or the binding, "" where the pod left for good."""
    return move.target or (say("queues.binding") if move.cause == BEGINS else "")
