"""Results that follow from API objects, kept until one of the objects changes.

API objects can change between any two stages. Whoever keeps a result must therefore know what it read: ``Reading``
notes that, and the API server's log names the objects that have changed since.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.interface import ObjectReader

START = -1
"""The position of a reader that has read nothing yet."""
ANY = ""
"""Stands for the key of every object of a kind."""
Read = tuple[str, str]
"""(kind, key)"""


class Reading:
    """Reads API objects, and notes in ``read`` which: ``(kind, ANY)`` for a list."""

    __slots__ = ("objects", "read")

    def __init__(self, objects: ObjectReader) -> None:
        self.objects = objects
        self.read: dict[Read, None] = {}

    def get(self, kind: str, key: str) -> KubeObject | None:
        self.read[kind, key] = None
        return self.objects.get(kind, key)

    def list(self, kind: str) -> Iterator[KubeObject]:
        self.read[kind, ANY] = None
        return self.objects.list(kind)


class Readers:
    """Who read which objects: names by object, and objects by name. ``positions``: kind → how far its log is read."""

    __slots__ = ("by_object", "positions", "reads")

    def __init__(self, kinds: Iterable[str]) -> None:
        self.positions = dict.fromkeys(kinds, START)
        self.by_object: dict[Read, dict[Hashable, None]] = {}
        self.reads: dict[Hashable, Iterable[Read]] = {}

    def stale(self, objects: ObjectReader) -> list[Hashable] | None:
        """Return the names of readers whose objects have changed since the last call, and forget them; None: all."""
        stale: dict[Hashable, None] = {}
        lost = False
        for kind, position in self.positions.items():
            self.positions[kind], changed = objects.changed_since(kind, position)
            if changed is None:
                lost = True
            elif changed:
                stale.update(self._readers(kind, changed))
        if lost:
            self.by_object, self.reads = {}, {}
            return None
        for name in stale:
            self.forget(name)
        return [*stale]

    def _readers(self, kind: str, keys: Sequence[str]) -> dict[Hashable, None]:
        found: dict[Hashable, None] = {}
        for key in (*keys, ANY):
            found.update(self.by_object.get((kind, key), {}))
        return found

    def note(self, name: Hashable, read: Iterable[Read]) -> None:
        """Note what ``name`` has read. It must be new, or forgotten."""
        self.reads[name] = read
        for item in read:
            self.by_object.setdefault(item, {})[name] = None

    def forget(self, name: Hashable) -> None:
        for item in self.reads.pop(name, ()):
            readers = self.by_object[item]
            del readers[name]
            if not readers:
                del self.by_object[item]
