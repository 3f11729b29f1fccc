"""Watches: who gets which change of the API server's objects, and whose turn it is to read.

A watcher says once which changes it wants. Others never reach it, so nobody has to look at them and drop them.
Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.records import record
from scheduler_engine.sharing import Line


@record(frozen=True, slots=True)
class WatchEvent:
    """``old`` is None for a new object, ``new`` None for a deleted one."""

    kind: str
    old: KubeObject | None
    new: KubeObject | None

    @property
    def key(self) -> str:
        """Return the key of the new or deleted object."""
        item = self.new or self.old
        return "" if item is None else item.key


Wanted = Callable[[WatchEvent], bool]
"""Returns True if a watcher wants the change. It compares the two objects only, and is a function of a module."""
Wants = Mapping[str, Wanted]
"""Kind → which of its changes."""


def every_change(event: WatchEvent) -> bool:
    return True


def is_deletion(event: WatchEvent) -> bool:
    return event.new is None


def is_creation(event: WatchEvent) -> bool:
    """Return True for a new object, even if it replaces one of the same name."""
    return event.new is not None and (event.old is None or event.old.uid != event.new.uid)


def all_of(*kinds: str) -> Wants:
    """Return a wish for every change of these kinds."""
    return dict.fromkeys(kinds, every_change)


@dataclass(slots=True, eq=False)
class Watch:
    """One watcher. ``unread``: the changes that it has not read, oldest first; ``turn``: its place among those who
    read, lowest first.
    """

    wants: Wants
    turn: int = 0
    unread: Line[WatchEvent] = field(default_factory=Line)


@dataclass(slots=True)
class Watches:
    """All watchers. ``wanted``: kind → which changes → who wants them; ``due``: turns of those with something to read.

    ``published``: the number of changes so far.
    """

    listed: list[Watch] = field(default_factory=list)
    wanted: dict[str, dict[Wanted, list[Watch]]] = field(default_factory=dict)
    due: dict[int, None] = field(default_factory=dict)
    published: int = 0

    def add(self, wants: Wants) -> Watch:
        """Return a new watcher; it gets the changes from now on."""
        watch = Watch(wants)
        self.listed.append(watch)
        for kind, test in wants.items():
            self.wanted.setdefault(kind, {}).setdefault(test, []).append(watch)
        return watch

    def remove(self, watch: Watch) -> None:
        self.listed.remove(watch)
        for kind, test in watch.wants.items():
            self.wanted[kind][test].remove(watch)

    def publish(self, event: WatchEvent) -> None:
        """Hand a change to everybody who wants it."""
        self.published += 1
        due = self.due
        for test, watches in self.wanted.get(event.kind, {}).items():
            if watches and test(event):
                for watch in watches:
                    watch.unread.append(event)
                    due[watch.turn] = None

    def checkpoint(self) -> tuple[int, Sequence[int]]:
        """Return what ``restore`` needs to take back later changes."""
        return self.published, [len(watch.unread) for watch in self.listed]

    def restore(self, checkpoint: tuple[int, Sequence[int]]) -> None:
        """Take back the changes since ``checkpoint``; only valid while nobody has read or come or gone."""
        self.published, lengths = checkpoint
        for watch, length in zip(self.listed, lengths, strict=True):
            while len(watch.unread) > length:
                watch.unread.pop()
