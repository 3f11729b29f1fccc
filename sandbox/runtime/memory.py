"""Settings for freeing memory: Python's garbage collector, and malloc of the C library.

By default Python's full collection goes through all live simulations now and then. Everybody waits meanwhile, half a
second with a hundred sandboxes. A worker collects when its memory is nearly full, see ``sandbox/worker/process.py``.
"""

from __future__ import annotations

import ctypes
import gc

OF_AN_ENGINE = (10_000, 10, 5_000)
"""Thresholds of a worker: young objects often, all objects very rarely."""
OF_THE_SITE = (10_000, 10, 10)
"""Thresholds of the web process. A full collection takes some milliseconds there, and can free large answers."""
MALLOC_SETTINGS = {-8: 2, -3: 128 * 1024}
"""``M_ARENA_MAX``: number of arenas. ``M_MMAP_THRESHOLD``: bytes from which a block is mapped separately."""


def freeze_loaded(thresholds: tuple[int, int, int] = OF_AN_ENGINE) -> None:
    """Exempt all present objects from garbage collection, and set its thresholds. Call it at the end of the start."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*thresholds)


def return_freed_memory() -> None:
    """Set malloc so that freed memory returns to the system. Call it before any thread starts.

    The GNU C library has an arena for each thread, up to eight per core. A large request can leave each of them large
    forever. Separately mapped blocks return completely. Other C libraries without ``mallopt`` are left alone.
    """
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        for setting, value in MALLOC_SETTINGS.items():
            mallopt(setting, value)
