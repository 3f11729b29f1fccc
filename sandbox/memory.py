"""When Python looks for cycles of garbage. By default it goes through every live simulation now and then, and everybody
waits meanwhile: half a second with a hundred sandboxes.
"""

from __future__ import annotations

import gc

THRESHOLDS = (10_000, 10, 5_000)
"""Young objects are looked at as often as ever; all of them once in a long while."""
DROPPED_BEFORE_LOOKING = 50_000
"""Nodes and pods of simulations that were dropped: they hold cycles, which only a full look finds."""
SMALLEST = 100

_dropped = 0


def keep_what_is_loaded() -> None:
    """To be called at the end of the start: what is there now stays, and is never looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


def dropped(objects: int) -> None:
    """A simulation of so many nodes and pods is not needed any more."""
    global _dropped
    _dropped += SMALLEST + objects


def collect_if_due() -> None:
    """To be called when nobody waits: look for what was dropped, when it is worth it."""
    global _dropped
    if _dropped >= DROPPED_BEFORE_LOOKING:
        _dropped = 0
        gc.collect()
