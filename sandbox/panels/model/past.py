"""The World of any past moment, folded from a prefix of the trace without the engine."""

from __future__ import annotations

from sandbox.panels.model.checkpoint import Checkpoint
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World

EVERY = 10_000
"""Least number of entries between two checkpoints at first: about 70 ms of folding."""
DEARER = 2
"""A checkpoint costs about as much as folding this many entries for each object that it shares."""
MOST = 16
"""Most checkpoints of one World. Beyond that, every other one is dropped, and new ones are half as frequent."""


class Past:
    """The past of ``world``, which is still being folded. Call ``note`` after every entry."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.every = self.next = EVERY
        self.checkpoints: list[Checkpoint] = []
        self.last_world: World | None = None

    def note(self) -> None:
        """Make a checkpoint if one is due."""
        if len(self.world.entries) < self.next:
            return
        self.checkpoints.append(Checkpoint(self.world))
        if len(self.checkpoints) > MOST:
            self.every *= 2
            self.checkpoints = self.checkpoints[1::2]
        self.next = len(self.world.entries) + max(self.every, DEARER * len(self.checkpoints[-1].shared))

    def at(self, moment: Moment) -> World:
        """Return the World of a moment, or of the next one at which the engine stopped; at most the present one."""
        present = self.world
        target = present.rest_at(present.entry_of(moment))
        if target >= len(present.entries):
            return present
        world = self._nearest(target)
        for entry in present.entries[len(world.entries) : target]:
            world.apply(entry)
        self.last_world = world
        world.set_present(present)
        return world

    def _nearest(self, target: int) -> World:
        """Return the World from which the fewest entries must be folded: the last one used, or that of a checkpoint."""
        before = [checkpoint for checkpoint in self.checkpoints if checkpoint.entries <= target]
        last_world = self.last_world
        if last_world is not None and (before[-1].entries if before else 0) <= len(last_world.entries) <= target:
            return last_world
        return before[-1].world(self.world.entries) if before else World()
