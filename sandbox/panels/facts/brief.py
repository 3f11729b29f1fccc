"""A refusal in two words, for cards: those of the fact that decided, or of the reason that the trace recorded."""

from __future__ import annotations

from sandbox.panels.explain import explain_filter
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.words.phrases import short_reason

Row = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]


class Briefs:
    """The short words of one attempt."""

    def __init__(self, world: World, cycle: Cycle) -> None:
        self.world, self.cycle = world, cycle
        self.asks = world.witness.at_hand(cycle)

    def of(self, row: Row) -> str:
        node, plugin, _, reasons, _ = row
        told = explain_filter(self.world, self.cycle, node, plugin).brief if self.asks else ""
        return told or short_reason(reasons)
