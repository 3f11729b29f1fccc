"""Long lists: page by page, or the first few until somebody asks for the rest. Only what is shown is built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from sandbox.panels.view import View

Item = TypeVar("Item")


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
