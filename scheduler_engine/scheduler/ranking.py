"""The ranking of the feasible nodes: a heap by total, in which nodes with equal totals keep no order of their own.

Source: upstream ``schedule_one.go`` (``nodeScoreHeap``) and Go's ``container/heap``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass


def place_in_heap(place: int) -> str:
    """Return the key of a place in the heap's array: of several equal highest items, the one with the lowest key is on
    top once the heap is ordered.

    An item rises only past lower ones, and the left child before an equal right one. So the top is the first of the
    equals on the way through the tree that visits a node before its children, and the left child before the right one.
    The key is the path from the root, 0 for left and 1 for right.
    """
    return bin(place + 1)[3:]


@dataclass(slots=True)
class Ranking:
    """``items``: (total, node), ordered as a heap."""

    items: list[tuple[int, str]]

    def __post_init__(self) -> None:
        for place in reversed(range(len(self.items) // 2)):
            self._sink(place, len(self.items))

    def __len__(self) -> int:
        return len(self.items)

    def pop(self) -> str:
        """Take the node on top."""
        last = len(self.items) - 1
        self.items[0], self.items[last] = self.items[last], self.items[0]
        self._sink(0, last)
        return self.items.pop()[1]

    def _sink(self, place: int, size: int) -> None:
        """Let the item at ``place`` sink below higher ones, among the first ``size`` items."""
        while (child := 2 * place + 1) < size:
            if child + 1 < size and self.items[child + 1][0] > self.items[child][0]:
                child += 1
            if self.items[child][0] <= self.items[place][0]:
                return
            self.items[place], self.items[child] = self.items[child], self.items[place]
            place = child


@dataclass(slots=True)
class Batch:
    """What a profile remembers between two cycles. ``popped`` counts the pods popped up to its latest success, which
    chose ``node``. ``ranking`` has the other nodes of cycle ``cycle``, whose pod had ``sign``.
    """

    popped: int = 0
    node: str = ""
    ranking: Ranking | None = None
    sign: Hashable = None
    cycle: int = 0
    pod: str = ""
    created_us: int = 0
