"""Containers whose deep copies are cheap, because they share what does not change.

An ordinary ``copy.deepcopy`` visits every value. These containers hold values that nobody changes, so a copy holds the
same ones, and Python copies only the container. Source: design of the sandbox.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TypeVar

KeyT = TypeVar("KeyT")
InnerT = TypeVar("InnerT")
ValueT = TypeVar("ValueT")


class Table(dict[KeyT, ValueT]):
    """A dict of values that never change. To change one, store another one in its place."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, object]) -> Table[KeyT, ValueT]:
        return self.copy()

    def copy(self) -> Table[KeyT, ValueT]:
        return Table(self)


class Rows(list[ValueT]):
    """A list of values that never change."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, object]) -> Rows[ValueT]:
        return Rows(self)


class Line(deque[ValueT]):
    """A queue of values that never change."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, object]) -> Line[ValueT]:
        return Line(self)


class Groups(dict[KeyT, Mapping[InnerT, ValueT]]):
    """A dict of dicts of values that never change. Copies share each inner dict until one of them changes it.

    Change inner dicts only through ``change``. ``own``: the keys of those that nobody shares.
    """

    __slots__ = ("own",)

    def __init__(self) -> None:
        super().__init__()
        self.own: dict[KeyT, dict[InnerT, ValueT]] = {}

    def change(self, key: KeyT) -> dict[InnerT, ValueT]:
        """Return the inner dict, to change it. It is empty if there was none."""
        inner = self.own.get(key)
        if inner is None:
            inner = self[key] = self.own[key] = dict(self.get(key, ()))
        return inner

    def share(self, key: KeyT) -> Mapping[InnerT, ValueT]:
        """Return the inner dict as it is now: a later change copies it first."""
        self.own.pop(key, None)
        return self.get(key, {})

    def take(self, key: KeyT, inner: InnerT) -> None:
        """Delete one value, and with the last one of its group the group."""
        held = self.change(key)
        del held[inner]
        if not held:
            del self[key]

    def __delitem__(self, key: KeyT) -> None:
        super().__delitem__(key)
        self.own.pop(key, None)

    def copy(self) -> Groups[KeyT, InnerT, ValueT]:
        self.own = {}
        copied: Groups[KeyT, InnerT, ValueT] = Groups()
        copied.update(self)
        return copied

    def __deepcopy__(self, memo: dict[int, object]) -> Groups[KeyT, InnerT, ValueT]:
        return self.copy()
