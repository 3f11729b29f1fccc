"""Logs of changed objects: who keeps what follows from objects learns from them what to compute again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.sharing import Table

MOST = 4
"""The log of a kind holds at most this number of changes per object; a reader that is further behind starts anew."""


class ChangeLog:
    """Per kind, the keys of changed objects, oldest first. ``forgotten``: how many older ones are no longer listed.

    Positions only grow, even if changes are undone. A copy forgets all, because its readers start anew.
    """

    __slots__ = ("forgotten", "keys")

    def __init__(self) -> None:
        self.keys: dict[str, list[str]] = {}
        self.forgotten: Table[str, int] = Table()

    def note(self, kind: str, key: str, objects: int) -> None:
        keys = self.keys.setdefault(kind, [])
        keys.append(key)
        if len(keys) > MOST * objects + 64:
            half = len(keys) // 2
            self.forgotten[kind] = self.forgotten.get(kind, 0) + half
            del keys[:half]

    def position(self, kind: str) -> int:
        """Return the number of changes so far."""
        return self.forgotten.get(kind, 0) + len(self.keys.get(kind, ()))

    def positions(self) -> dict[str, int]:
        return {kind: self.position(kind) for kind in {**self.forgotten, **self.keys}}

    def since(self, kind: str, position: int, until: int) -> Sequence[str] | None:
        """Return the keys changed between two positions; None if the log does not reach back so far."""
        before = self.forgotten.get(kind, 0)
        if position == until:
            return ()
        return None if position < before else self.keys[kind][position - before : until - before]

    def __deepcopy__(self, memo: dict[int, object]) -> ChangeLog:
        return _forgetful(self.positions())

    def __reduce__(self) -> tuple[object, ...]:
        return _forgetful, (self.positions(),)


def _forgetful(positions: dict[str, int]) -> ChangeLog:
    log = ChangeLog()
    log.forgotten = Table(positions)
    return log


class Unlogged:
    """Objects without a log: whoever keeps results must compute them again each time."""

    __slots__ = ()

    def list(self, kind: str, namespace: str | None = None) -> Iterator[KubeObject]:
        raise NotImplementedError

    def changed_since(self, kind: str, position: int) -> tuple[int, Sequence[str] | None]:
        return 0, None

    def as_now(self, kinds: Sequence[str]) -> Mapping[str, Mapping[str, KubeObject]]:
        return {kind: {item.key: item for item in self.list(kind)} for kind in kinds}
