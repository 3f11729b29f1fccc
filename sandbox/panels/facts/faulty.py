"""Faults that were injected and have not happened yet, in words."""

from __future__ import annotations

from sandbox.panels.model.state import Fault
from sandbox.words.amounts import seconds
from sandbox.words.say import say
from scheduler_engine.framework.faults import ANSWERS

NEXT = {
    "error": "faults.next-fails",
    "deny": "faults.next-says-no",
    "wait": "faults.next-waits",
    "late": "faults.next-is-late",
}
POINTS = {point: point[0].upper() + point[1:] for point in ANSWERS}
"""Extension points → the names of their stages."""


def pending_fault(fault: Fault) -> str:
    """Return the sentence on what will go wrong."""
    wish = fault.wish
    return say(NEXT[wish.answer], plugin=wish.plugin, point=POINTS[wish.point], seconds=seconds(wish.duration_us))
