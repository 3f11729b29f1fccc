"""Rows in another order than the scheduler's own, and the buttons that choose it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sandbox.panels.view import View

Item = TypeVar("Item")
Keys = Mapping[str, Callable[[Item], Any]]
"""Column → what its rows are compared by."""
DOWN = "-"
"""In front of a column: from high to low, or from Z to A."""
NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Head:
    """The button of a column, "" = of the scheduler's own order.

    ``sort`` is what aria-sort says of it; ``next`` is the order after a click, and ``says`` the key of what that does.
    """

    name: str
    column: str
    label: tuple[str, ...]
    sort: str
    next: str
    says: str


def head(view: View, name: str, column: str, label: Sequence[str], down: bool = False) -> Head:
    """``down``: the first click shows the highest on top. The second one turns it round, the third goes back."""
    now, first, second = view.order_of(name), column, f"{DOWN}{column}"
    if down:
        first, second = second, first
    following = {first: second, second: ""}.get(now, first)
    sort = {column: "ascending", f"{DOWN}{column}": "descending"}.get(now, "none")
    says = {"": "orders.back", column: "orders.upwards"}.get(following, "orders.downwards")
    return Head(name, column, tuple(label), sort, following, says)


def own(view: View, name: str, label: str) -> Head:
    """The button that leads back to the scheduler's own order."""
    return Head(name, "", (label,), "none" if view.order_of(name) else "other", "", "orders.own")


def ordered(items: Iterable[Item], view: View, name: str, keys: Keys[Item]) -> list[Item]:
    """As they come, unless the view asks for another order that there is; what is equal there stays as it comes."""
    wanted = view.order_of(name)
    key = keys.get(wanted.removeprefix(DOWN))
    return list(items) if key is None else sorted(items, key=key, reverse=wanted.startswith(DOWN))


def by_name(name: str) -> tuple[tuple[bool, int, str], ...]:
    """So that node-10 comes after node-9."""
    return tuple((part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in NUMBER.split(name))
