"""Copies of a World that store only what can change; what never changes, above all the trace, is shared."""

from __future__ import annotations

import io
import pickle
from typing import Any

from sandbox.panels.model.cache import CachedPod, Lists
from sandbox.panels.model.state import Command, StageMark
from sandbox.panels.model.world import World
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.trace import events as ev

SHARED = (ev.Entry, ev.Event, KubeObject, StageMark, Command, CachedPod, Lists)
"""Types whose instances never change, except for values that they cache."""


class Checkpoint:
    """A World as it was after ``entries`` entries."""

    def __init__(self, world: World) -> None:
        self.entries = len(world.entries)
        self.shared: list[Any] = []
        self.objects = {kind: dict(objects) for kind, objects in world.objects.items()}
        numbers: dict[int, int] = {}

        def number_of(item: object) -> int | None:
            if not isinstance(item, SHARED):
                return None
            number = numbers.setdefault(id(item), len(self.shared))
            if number == len(self.shared):
                self.shared.append(item)
            return number

        stream = io.BytesIO()
        pickler = pickle.Pickler(stream, pickle.HIGHEST_PROTOCOL)
        pickler.persistent_id = number_of  # type: ignore[method-assign]
        pickler.dump(world.changing())
        self.written = stream.getvalue()

    def world(self, entries: list[ev.Entry]) -> World:
        """Return a new World in this state, to fold more into. ``entries``: those of the copied World's trace."""
        unpickler = pickle.Unpickler(io.BytesIO(self.written))
        unpickler.persistent_load = self.shared.__getitem__  # type: ignore[method-assign]
        objects = {kind: dict(by_key) for kind, by_key in self.objects.items()}
        return World.restore(unpickler.load(), entries[: self.entries], objects)
