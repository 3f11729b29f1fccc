"""Answers that end in time, however large the cluster is, and say how much of their work they did."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, items: Iterable[T]) -> Iterator[T]:
    """Yield items until ``seconds`` have passed; the first one in any case."""
    end = time.monotonic() + seconds
    for item in items:
        yield item
        if time.monotonic() >= end:
            return
