"""A piece of work that never changes, to compare machines: what the engine mostly does, without the engine.

Do not change it: figures that were kept before would no longer compare.
"""

from __future__ import annotations

import time

import numpy as np

ROUNDS, SIZE = 5, 60_000


def calibrate_ms() -> float:
    """Return the least CPU milliseconds of several rounds."""
    return min(_round_ms() for _ in range(ROUNDS))


def _round_ms() -> float:
    began = time.process_time()
    table: dict[str, tuple[int, str]] = {}
    for number in range(SIZE):
        key = f"default/pod-{number * 7919 % SIZE}"
        table[key] = (number, key.partition("/")[2])
    ordered = sorted(table.items(), key=lambda item: item[1])
    merged = [{"name": name, "place": place, "key": key} for key, (place, name) in ordered]
    amounts = np.arange(SIZE, dtype=np.int64)
    for _ in range(50):
        amounts = np.where(amounts % 3 > 0, amounts + 1, amounts - 1)
    assert len(merged) == SIZE
    return (time.process_time() - began) * 1000
