"""Rows in another order than the scheduler's own, and the buttons that choose it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sandbox.panels.view import View

Item = TypeVar("Item")
Keys = Mapping[str, Callable[[Item], Any]]
"""Column → sort key of a row."""
DOWN = "-"
"""In front of a column: from high to low, or from Z to A."""
NUMBER = re.compile(r"(\d+)")
END = "\0"
"""Ends each part of a sort key; no name has it."""


@dataclass(frozen=True, slots=True)
class Head:
    """The button of a column; column "" is the scheduler's own order.

    ``sort``: value of aria-sort; ``next``: the order after a click; ``says``: key of what a click does.
    """

    name: str
    column: str
    label: tuple[str, ...]
    sort: str
    next: str
    says: str


def head(view: View, name: str, column: str, label: Sequence[str], down: bool = False) -> Head:
    """Return a column's button. The first click sorts, downwards if ``down``; the second reverses; the third resets."""
    now, first, second = view.order_of(name), column, f"{DOWN}{column}"
    if down:
        first, second = second, first
    following = {first: second, second: ""}.get(now, first)
    sort = {column: "ascending", f"{DOWN}{column}": "descending"}.get(now, "none")
    says = {"": "orders.back", column: "orders.upwards"}.get(following, "orders.downwards")
    return Head(name, column, tuple(label), sort, following, says)


def own(view: View, name: str, label: str) -> Head:
    """Return the button that goes back to the scheduler's own order."""
    return Head(name, "", (label,), "none" if view.order_of(name) else "other", "", "orders.own")


def ordered(items: Iterable[Item], view: View, name: str, keys: Keys[Item]) -> list[Item]:
    """Sort the items as the view wants; keep their order if it wants none. Equal items keep their order."""
    order = view.order_of(name)
    key = keys.get(order.removeprefix(DOWN))
    return list(items) if key is None else sorted(items, key=key, reverse=order.startswith(DOWN))


def by_name(name: str) -> str:
    """Return a sort key by which node-10 comes after node-9.

    It is one text: thousands of tuples would make the garbage collector walk over all simulations of the process.
    """
    return END.join(NUMBER.sub(_with_length, part) for part in NUMBER.split(name))


def _with_length(number: re.Match[str]) -> str:
    """Return a number after its length, so that the shorter one comes first, and before its digits with zeros."""
    digits = str(int(number[0]))
    return f"{len(digits):03}{digits}{END}{number[0]}"
