"""When Python looks for cycles of garbage. By default it goes through every live simulation now and then, and everybody
waits meanwhile: half a second with a hundred sandboxes.
"""

from __future__ import annotations

import gc
from threading import Lock

THRESHOLDS = (10_000, 10, 5_000)
"""Young objects are looked at as often as ever; all of them once in a long while."""
DROPPED_BEFORE_LOOKING = 100_000
"""Nodes and pods of simulations that were dropped: they hold cycles, which only a full look finds."""
SMALLEST = 100

_lock = Lock()
_dropped = 0


def keep_what_is_loaded() -> None:
    """To be called at the end of the start: what is there now stays, and is never looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


def dropped(objects: int) -> None:
    """A simulation of so many nodes and pods is not needed any more."""
    global _dropped
    with _lock:
        _dropped += SMALLEST + objects
        if _dropped < DROPPED_BEFORE_LOOKING:
            return
        _dropped = 0
    gc.collect()
