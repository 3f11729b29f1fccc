"""How memory comes back: when Python looks for cycles of garbage, and what the C library keeps of what was freed.

By default Python goes through every live simulation now and then, and everybody waits meanwhile: half a second with a
hundred sandboxes. An engine looks when its memory is nearly full, see ``sandbox/engines/process.py``.
"""

from __future__ import annotations

import ctypes
import gc

OF_AN_ENGINE = (10_000, 10, 5_000)
"""Young objects are looked at as often as ever; all of them once in a long while."""
OF_THE_SITE = (10_000, 10, 10)
"""It is gone through in some milliseconds, and what it has read was large."""
MALLOC_SETTINGS = {-8: 2, -3: 128 * 1024}
"""``M_ARENA_MAX`` areas, and the bytes from which on a block is mapped by itself, ``M_MMAP_THRESHOLD``."""


def keep_what_is_loaded(thresholds: tuple[int, int, int] = OF_AN_ENGINE) -> None:
    """To be called at the end of the start: what is there now stays, and is never looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*thresholds)


def give_back_what_is_freed() -> None:
    """To be called before threads are made. Nothing happens with a C library that has no such settings.

    The GNU C library gives each thread an area of its own, up to eight for each core, and none of them shrinks below
    what some request for a megabyte has left in it. Large blocks that are mapped one by one leave nothing behind.
    """
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        for setting, value in MALLOC_SETTINGS.items():
            mallopt(setting, value)
