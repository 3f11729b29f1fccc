"""Copies of a World that cost what can change in it: what never changes is shared, the trace above all."""

from __future__ import annotations

import io
import pickle
from typing import Any

from sandbox.panels.model.cache import Held, Lists
from sandbox.panels.model.state import Command, StageMark
from sandbox.panels.model.world import World
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.trace import events as ev

SHARED = (ev.Entry, ev.Event, KubeObject, StageMark, Command, Held, Lists)
"""Once made, none of these changes but for what it keeps for itself."""


class Checkpoint:
    """A World as it was after so many ``entries``."""

    def __init__(self, world: World) -> None:
        self.entries = len(world.entries)
        self.shared: list[Any] = []
        self.objects = {kind: dict(held) for kind, held in world.objects.items()}
        numbers: dict[int, int] = {}

        def number_of(found: object) -> int | None:
            if not isinstance(found, SHARED):
                return None
            number = numbers.setdefault(id(found), len(self.shared))
            if number == len(self.shared):
                self.shared.append(found)
            return number

        written = io.BytesIO()
        pickler = pickle.Pickler(written, pickle.HIGHEST_PROTOCOL)
        pickler.persistent_id = number_of  # type: ignore[method-assign]
        pickler.dump(world.changing())
        self.written = written.getvalue()

    def world(self, entries: list[ev.Entry]) -> World:
        """The World anew, to be folded on; ``entries``: of the trace that it was made from."""
        unpickler = pickle.Unpickler(io.BytesIO(self.written))
        unpickler.persistent_load = self.shared.__getitem__  # type: ignore[method-assign]
        objects = {kind: dict(held) for kind, held in self.objects.items()}
        return World.again(unpickler.load(), entries[: self.entries], objects)
