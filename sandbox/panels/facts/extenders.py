"""What extenders said in an attempt, in the words of the trace."""

from __future__ import annotations

from sandbox.panels.model.state import Cycle
from scheduler_engine.trace.events import ExtenderAsked
from scheduler_engine.wording.entries import line


def calls(cycle: Cycle, call: str) -> list[ExtenderAsked]:
    """Return the calls of a kind, such as ``filter``, in their order."""
    return [asked for asked in cycle.asked if asked.call == call]


def said(cycle: Cycle, call: str) -> list[str]:
    """Return a line for each call of a kind."""
    return [line(asked) for asked in calls(cycle, call)]


def failures(cycle: Cycle, call: str) -> list[str]:
    """Return a line for each call of a kind that failed."""
    return [line(asked) for asked in calls(cycle, call) if asked.error]
