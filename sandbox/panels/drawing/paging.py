"""Long lists: page by page, or the first few until somebody asks for the rest. Only what is shown is built.

In very long ones people find rows by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sandbox.panels.view import View

Item = TypeVar("Item")

SCREEN = 20
"""Rows that fit on a screen. A longer list has a field to find rows by their names."""


@dataclass(frozen=True, slots=True)
class Pager:
    """The pages of a list, which ``fragments/pager.html`` draws.

    ``page`` is 0 while only the first few are shown; ``few`` is 0 for a list that always has pages.
    """

    name: str
    count: int
    size: int
    few: int
    page: int

    @property
    def pages(self) -> int:
        return max(1, -(-self.count // self.size))

    @property
    def start(self) -> int:
        return max(0, self.page - 1) * self.size

    @property
    def stop(self) -> int:
        return min(self.count, self.start + (self.size if self.page else self.few))

    @property
    def more(self) -> int:
        return self.count - self.stop

    @property
    def last(self) -> bool:
        """Return True if nothing follows what is shown."""
        return not self.more


def pager(count: int, view: View, name: str, size: int, few: int = 0) -> Pager:
    """Return the page of a list that the view asks for, the last page if there is no such page."""
    pages = max(1, -(-count // size))
    page = view.page_of(name) if count > few else 0
    return Pager(name, count, size, few, min(page, pages) if few else min(max(page, 1), pages))


def on_page(items: Sequence[Item], pager: Pager) -> Sequence[Item]:
    return items[pager.start : pager.stop]


@dataclass(frozen=True, slots=True)
class Finder:
    """The field that narrows a list to the rows with some ``words``, which ``fragments/finder.html`` draws.

    ``found``: how many of the ``count`` rows have them all.
    """

    name: str
    words: str
    found: int
    count: int


def finder(
    items: Sequence[Item], view: View, name: str, name_of: Callable[[Item], str]
) -> tuple[Sequence[Item], Finder | None]:
    """Return the rows of a list that the view looks for, and the field; None for a list that fits on a screen."""
    if len(items) <= SCREEN:
        return items, None
    text = view.find_of(name)
    words = text.lower().split()
    found = [item for item in items if all(word in name_of(item).lower() for word in words)] if words else items
    return found, Finder(name, text, len(found), len(items))
