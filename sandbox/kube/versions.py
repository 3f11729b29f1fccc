"""Resource versions as clients see them: numbers that grow as long as the sandbox exists, even if somebody goes back.

The engine counts the changes of the present history. After somebody goes back, it counts the next ones with numbers
that it has used before, for other changes. So clients see the number of the turn, too: ``turn × STEP + version``. Until
the first turn these are the engine's own numbers. An object that the turn has left has the version 0 of the turn.

Resource versions of events count the entries of the trace; all others, the changes of objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.kube.turns import read_turns
from sandbox.panels.model.world import World

STEP = 10**9
"""More than the changes that any log can cause."""
LONGEST = 18
"""Digits of the longest number."""


@dataclass(frozen=True, slots=True)
class Versions:
    """``now``: the present version of the engine. ``turns``: number and the version that it went back to, of each."""

    now: int
    turns: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of_objects(cls, world: World, turns: str) -> Versions:
        return cls(world.object_changes, _turns(turns, world.changes_until))

    @classmethod
    def of_trace(cls, world: World, turns: str) -> Versions:
        return cls(len(world.entries), _turns(turns, world.end_of))

    @property
    def last_turn(self) -> int:
        return self.turns[-1][0] if self.turns else 0

    @property
    def here(self) -> int:
        """Return the number of all objects together."""
        return self.last_turn * STEP + self.now

    def shown(self, version: int) -> int:
        """Return the number that clients see for the version of an object in the present history."""
        turn, left = self.turns[-1] if self.turns else (0, 0)
        return turn * STEP + (version if version > left else 0)

    def known(self, number: int) -> int | None:
        """Return the version that the number of all objects together stands for, None if it is not of this history.

        The number of an object that a turn has left is none: others that the turn has changed may be told after it.
        """
        turn, version = divmod(number, STEP)
        lefts = [left for other, left in self.turns if other > turn]
        is_there = version <= min([self.now, *lefts]) and turn <= self.last_turn and (version or not turn)
        return version if is_there else None

    def names(self, number: int, version: int) -> bool:
        """Return True if an object with this version has not changed since a client saw it with this number."""
        turn, seen = divmod(number, STEP)
        lefts = [left for other, left in self.turns if other >= turn + bool(seen)]
        return version <= min([self.now, *lefts]) and (version == seen or (not seen and turn <= self.last_turn))

    def document(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return an answer as clients see it: an object, a list or a table."""
        if not self.turns:
            return document
        lists = {
            "items": [self.object(item) for item in document.get("items", ())],
            "rows": [self._row(row) for row in document.get("rows", ())],
        }
        held = {name: items for name, items in lists.items() if name in document}
        if not held:
            return self.object(document)
        return {**document, **held}

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "object": self.object(row["object"])} if "object" in row else row

    def object(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Return a manifest with the number of its version."""
        metadata = manifest.get("metadata")
        if not self.turns or not isinstance(metadata, Mapping) or "resourceVersion" not in metadata:
            return dict(manifest)
        return with_version(manifest, self.shown(int(metadata["resourceVersion"])))


UNTURNED = Versions(0)


def with_version(manifest: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": str(number)}}


def _turns(text: str, version_at: Callable[[int], int]) -> tuple[tuple[int, int], ...]:
    return tuple((turn.revision, version_at(turn.left)) for turn in read_turns(text))


@dataclass(slots=True)
class Told:
    """A history of which clients have heard. ``until``: turn → object version and length of the trace told last."""

    world: World
    until: dict[int, tuple[int, int]]

    def note(self, turns: str) -> None:
        """Note that clients may hear of its present state."""
        last = Versions.of_objects(self.world, turns).last_turn
        self.until[last] = self.world.object_changes, len(self.world.entries)

    def knows(self, number: int, of_events: bool) -> bool:
        turn, version = divmod(number, STEP)
        return 0 < version <= self.until.get(turn, (0, 0))[of_events]
