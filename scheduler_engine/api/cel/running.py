"""The state of an evaluation: variables, and what may still be spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler_engine.api.cel.values import Optional, TooExpensive

MOST_COMPARED = 1_000_000
HOLDERS = (list, dict, Optional)


class Run:
    """One evaluation. ``left``: the cost that it may still cause. ``uncompared``: how many values inside lists and maps
    it may still compare or show. Kubernetes has no such limit: a short expression that puts a list into itself many
    times keeps it busy.
    """

    __slots__ = ("left", "uncompared", "variables", "weights")

    def __init__(self, variables: Mapping[str, Any], limit: int) -> None:
        self.variables = dict(variables)
        self.left = limit
        self.uncompared = MOST_COMPARED
        self.weights: dict[int, tuple[Any, int]] = {}

    def compare(self, one: Any, other: Any, count: Callable[[int, int], int]) -> None:
        """Count the values that a call compares or shows, by what both values hold. Raises TooExpensive."""
        if isinstance(one, HOLDERS) or isinstance(other, HOLDERS):
            self.uncompared -= count(self.weight(one), self.weight(other))
            if self.uncompared < 0:
                raise TooExpensive

    def weight(self, value: Any) -> int:
        """Return how many values a value holds, however deep, with itself."""
        if not isinstance(value, HOLDERS):
            return 1
        known = self.weights.get(id(value))
        if known is None:
            inner: Iterable[Any] = value.held if isinstance(value, Optional) else value
            if isinstance(value, dict):
                inner = value.values()
            # The value is kept, so that no other one gets its id.
            known = self.weights[id(value)] = value, 1 + sum(self.weight(item) for item in inner)
        return known[1]

    def spend(self, cost: int) -> None:
        self.left -= cost
        if self.left < 0:
            raise TooExpensive


Step = Callable[[Run], Any]
