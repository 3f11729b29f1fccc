"""API objects as a decision saw them: the API server may have newer ones when facts are requested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import ObjectReader

AS_NOW = "as now"
"""The note of all objects of some kinds, in place of those that were read."""


class ObjectGetter(Protocol):
    def get(self, kind: str, key: str) -> KubeObject | None: ...


class NotingObjects:
    """Read the API objects, and note the first version of each in ``state``, unless all are noted."""

    __slots__ = ("notes", "objects")

    def __init__(self, objects: ObjectGetter, state: CycleState, topic: str) -> None:
        self.objects = objects
        self.notes = state.notes(topic)

    def get(self, kind: str, key: str) -> KubeObject | None:
        item = self.objects.get(kind, key)
        if AS_NOW not in self.notes:
            self.notes.setdefault((kind, key), item)
        return item


def note_as_now(objects: ObjectReader, state: CycleState, topic: str, kinds: Sequence[str]) -> None:
    """Note all objects of these kinds, which are all that the plugin reads: it is about to judge many nodes."""
    notes = state.notes(topic)
    if AS_NOW not in notes:
        notes[AS_NOW] = objects.as_now(kinds)


class NotedObjects:
    """Read the objects as noted, or the current version if no decision has read it."""

    __slots__ = ("notes", "objects")

    def __init__(self, objects: ObjectGetter, state: CycleState, topic: str) -> None:
        self.objects = objects
        self.notes = state.noted.get(topic, {})

    def get(self, kind: str, key: str) -> KubeObject | None:
        if (kind, key) in self.notes:
            noted: KubeObject | None = self.notes[kind, key]
            return noted
        held = self.notes.get(AS_NOW, {}).get(kind)
        item: KubeObject | None = self.objects.get(kind, key) if held is None else held.get(key)
        return item
