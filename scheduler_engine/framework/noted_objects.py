"""API objects as a decision saw them: the API server may have newer ones when facts are requested."""

from __future__ import annotations

from typing import Protocol

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.cycle_state import CycleState


class ObjectGetter(Protocol):
    def get(self, kind: str, key: str) -> KubeObject | None: ...


class NotingObjects:
    """Read the API objects, and note the first version of each in ``state``."""

    __slots__ = ("notes", "objects")

    def __init__(self, objects: ObjectGetter, state: CycleState, topic: str) -> None:
        self.objects = objects
        self.notes = state.notes(topic)

    def get(self, kind: str, key: str) -> KubeObject | None:
        item = self.objects.get(kind, key)
        self.notes.setdefault((kind, key), item)
        return item


class NotedObjects:
    """Read the objects as noted, or the current version if no decision has read it."""

    __slots__ = ("notes", "objects")

    def __init__(self, objects: ObjectGetter, state: CycleState, topic: str) -> None:
        self.objects = objects
        self.notes = state.noted.get(topic, {})

    def get(self, kind: str, key: str) -> KubeObject | None:
        item: KubeObject | None = self.notes[kind, key] if (kind, key) in self.notes else self.objects.get(kind, key)
        return item
