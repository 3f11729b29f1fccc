"""Attributes that an object computes at the first read, and keeps.

Like ``functools.cached_property`` without its lock: until Python 3.12 that costs more than most values here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

ValueT = TypeVar("ValueT")


class computed(Generic[ValueT]):
    """Decorate a method that computes the value from what never changes in its object."""

    def __init__(self, compute: Callable[[Any], ValueT]) -> None:
        self.compute, self.name = compute, compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, item: None, owner: type) -> Self: ...
    @overload
    def __get__(self, item: object, owner: type) -> ValueT: ...
    def __get__(self, item: object | None, owner: type) -> Self | ValueT:
        if item is None:
            return self
        # Found there, it hides this descriptor: the next read does not come here.
        value = item.__dict__[self.name] = self.compute(item)
        return value
