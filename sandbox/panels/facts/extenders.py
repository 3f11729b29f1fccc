"""What extenders said in an attempt, a sentence for each call."""

from __future__ import annotations

from sandbox.panels.model.state import Cycle
from sandbox.words.say import say
from scheduler_engine.trace.events import ExtenderAsked


def calls(cycle: Cycle, call: str) -> list[ExtenderAsked]:
    """Return the calls of a kind, such as ``filter``, in their order."""
    return [asked for asked in cycle.asked if asked.call == call]


def said(cycle: Cycle, call: str) -> list[str]:
    """Return a sentence for each call of a kind."""
    return [_sentence(asked) for asked in calls(cycle, call)]


def failures(cycle: Cycle, call: str) -> list[str]:
    """Return a sentence for each call of a kind that failed."""
    return [_sentence(asked) for asked in calls(cycle, call) if asked.error]


def failed_to_bind(cycle: Cycle) -> ExtenderAsked | None:
    """Return the call that failed the binding, None if there is none."""
    return next((asked for asked in calls(cycle, "bind") if asked.error and not asked.ignored), None)


def _sentence(asked: ExtenderAsked) -> str:
    if asked.error:
        key = "extenders.ignored" if asked.ignored else "extenders.failed"
        return say(key, name=asked.extender, error=asked.error)
    return say(f"extenders.{asked.call}", name=asked.extender, left=len(asked.remaining), count=len(asked.nodes))
