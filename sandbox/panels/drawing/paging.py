"""Long lists, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def pager(count: int, size: int, wanted: int) -> dict[str, int]:
    """What ``fragments/pager.html`` shows: ``page`` (the last one when there is no such page as ``wanted``), ``pages``,
    and the numbers of the pages before and after it, 0 = none.
    """
    pages = max(1, -(-count // size))
    page = min(wanted, pages)
    return {
        "page": page,
        "pages": pages,
        "previous": page - 1 if page > 1 else 0,
        "following": page + 1 if page < pages else 0,
    }


def on_page(items: Sequence[Item], size: int, page: int) -> Sequence[Item]:
    return items[(page - 1) * size : page * size]
