"""Counts that a dry run can change without copying them.

Preemption clones the plugins' state once per node; PreFilter's counts over the whole cluster stay shared, and a
clone holds only the differences.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)


class OverlayCounts(Generic[KeyT]):
    """Numbers by key: ``base`` is shared between clones and never changed, ``changed`` overrides it.

    ``nonzero`` is the number of keys with a value other than 0.
    """

    __slots__ = ("base", "changed", "nonzero")

    def __init__(self, base: dict[KeyT, int]) -> None:
        self.base = base
        self.changed: dict[KeyT, int] = {}
        self.nonzero = sum(1 for number in base.values() if number)

    def get(self, key: KeyT) -> int:
        if self.changed and key in self.changed:
            return self.changed[key]
        return self.base.get(key, 0)

    def add(self, key: KeyT, delta: int) -> None:
        old = self.get(key)
        self.changed[key] = old + delta
        self.nonzero += (old + delta != 0) - (old != 0)

    def clone(self) -> OverlayCounts[KeyT]:
        copied = OverlayCounts.__new__(OverlayCounts)
        copied.base = self.base
        copied.changed = dict(self.changed)
        copied.nonzero = self.nonzero
        return copied
