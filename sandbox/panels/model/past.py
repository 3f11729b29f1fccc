"""Looking back: the World of any moment, folded from a prefix of the trace. No engine is asked."""

from __future__ import annotations

from sandbox.panels.model.checkpoint import Checkpoint
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World

EVERY = 10_000
"""Entries between two checkpoints at first, at least: about 70 ms of folding."""
DEARER = 2
"""A checkpoint costs about as much as folding so many entries for each object that it shares."""
MOST = 16
"""Checkpoints of one World: when there are more, every other one goes, and they are made half as often."""


class Past:
    """What lies behind ``world``, which goes on being folded; ``note`` is to be called after every entry."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.every = self.next = EVERY
        self.checkpoints: list[Checkpoint] = []
        self.looked: World | None = None

    def note(self) -> None:
        if len(self.world.entries) < self.next:
            return
        self.checkpoints.append(Checkpoint(self.world))
        if len(self.checkpoints) > MOST:
            self.every *= 2
            self.checkpoints = self.checkpoints[1::2]
        self.next = len(self.world.entries) + max(self.every, DEARER * len(self.checkpoints[-1].shared))

    def at(self, moment: Moment) -> World:
        """The World of a moment, or of the next one at which the engine stood still; at most the present one."""
        present = self.world
        wanted = present.rest_at(present.entry_of(moment))
        if wanted >= len(present.entries):
            return present
        world = self._nearest(wanted)
        for entry in present.entries[len(world.entries) : wanted]:
            world.apply(entry)
        self.looked = world
        world.stand_in(present)
        return world

    def _nearest(self, wanted: int) -> World:
        """The World that the fewest entries lead on from: the one looked at last, or that of a checkpoint."""
        before = [checkpoint for checkpoint in self.checkpoints if checkpoint.entries <= wanted]
        looked = self.looked
        if looked is not None and (before[-1].entries if before else 0) <= len(looked.entries) <= wanted:
            return looked
        return before[-1].world(self.world.entries) if before else World()
