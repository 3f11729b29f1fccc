"""A number for each of many nodes, stored compactly: a long trace consists of little else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload


class Pairs(Sequence[tuple[str, int]]):
    """Reads as ``((node, number), …)``. Several may share the names; pairs are created on demand."""

    __slots__ = ("names", "numbers")

    def __init__(self, names: tuple[str, ...], numbers: tuple[int, ...]) -> None:
        self.names = names
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return zip(self.names, self.numbers, strict=True)

    @overload
    def __getitem__(self, place: int) -> tuple[str, int]: ...

    @overload
    def __getitem__(self, place: slice) -> Pairs: ...

    def __getitem__(self, place: int | slice) -> tuple[str, int] | Pairs:
        if isinstance(place, slice):
            return Pairs(self.names[place], self.numbers[place])
        return self.names[place], self.numbers[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pairs) and self.numbers == other.numbers and self.names == other.names

    def __hash__(self) -> int:
        return hash((self.names, self.numbers))

    def __repr__(self) -> str:
        return repr(tuple(self))


NONE = Pairs((), ())
Tables = tuple[tuple[str, Pairs], ...]
"""Plugin → its number for each node, in running order."""
