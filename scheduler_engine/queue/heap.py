"""A heap of pods by key, in the order of a ``less`` function; equals leave in order of arrival.

Source: upstream ``backend/heap/heap.go``. There the order of equals depends on the heap; here a serial decides, so
that the same commands always give the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cmp_to_key

from scheduler_engine.framework.interface import QueuedPodInfo

Less = Callable[[QueuedPodInfo, QueuedPodInfo], bool]
"""Return True if the left pod comes before the right one. Always a bound method, never a lambda."""


@dataclass(slots=True)
class Item:
    """``serial`` numbers arrivals in this heap, ``index`` is the position in the heap's array."""

    info: QueuedPodInfo
    serial: int
    index: int


class Heap:
    """``items``: pod key → item; ``array`` is the binary heap of the same items."""

    __slots__ = ("array", "arrivals", "items", "less")

    def __init__(self, less: Less) -> None:
        self.less = less
        self.items: dict[str, Item] = {}
        self.array: list[Item] = []
        self.arrivals = 0

    def __len__(self) -> int:
        return len(self.array)

    def __contains__(self, key: str) -> bool:
        return key in self.items

    def get(self, key: str) -> QueuedPodInfo | None:
        item = self.items.get(key)
        return item.info if item is not None else None

    def add_or_update(self, info: QueuedPodInfo) -> None:
        """Insert ``info``; it replaces one with the same key and keeps its rank among equals."""
        item = self.items.get(info.pod.key)
        if item is None:
            self.arrivals += 1
            item = self.items[info.pod.key] = Item(info, self.arrivals, len(self.array))
            self.array.append(item)
        else:
            item.info = info
        self._settle(item)

    def delete(self, key: str) -> QueuedPodInfo | None:
        """Remove and return the pod; None if it is not in the heap."""
        item = self.items.pop(key, None)
        if item is None:
            return None
        last = self.array.pop()
        if last is not item:
            last.index = item.index
            self.array[item.index] = last
            self._settle(last)
        return item.info

    def peek(self) -> QueuedPodInfo | None:
        return self.array[0].info if self.array else None

    def pop(self) -> QueuedPodInfo | None:
        """Remove and return the first pod; None if empty."""
        return self.delete(self.array[0].info.pod.key) if self.array else None

    def sorted(self) -> list[QueuedPodInfo]:
        """Return all pods in pop order."""
        return [item.info for item in sorted(self.array, key=cmp_to_key(self._compare))]

    def _compare(self, left: Item, right: Item) -> int:
        if self.less(left.info, right.info):
            return -1
        if self.less(right.info, left.info):
            return 1
        return left.serial - right.serial

    def _settle(self, item: Item) -> None:
        """Move ``item`` towards the root while it beats its parent, else towards the leaves."""
        start = item.index
        while item.index and self._compare(item, parent := self.array[(item.index - 1) // 2]) < 0:
            self._swap(item, parent)
        if item.index == start:
            self._sink(item)

    def _sink(self, item: Item) -> None:
        while 2 * item.index + 1 < len(self.array):
            child = self.array[2 * item.index + 1]
            if child.index + 1 < len(self.array):
                sibling = self.array[child.index + 1]
                child = sibling if self._compare(sibling, child) < 0 else child
            if self._compare(child, item) >= 0:
                return
            self._swap(item, child)

    def _swap(self, left: Item, right: Item) -> None:
        left.index, right.index = right.index, left.index
        self.array[left.index], self.array[right.index] = left, right

    def check(self) -> None:
        """Raise AssertionError if array, index and order disagree."""
        assert len(self.array) == len(self.items)
        for index, item in enumerate(self.array):
            assert item.index == index
            assert self.items[item.info.pod.key] is item
            assert index == 0 or self._compare(self.array[(index - 1) // 2], item) < 0
