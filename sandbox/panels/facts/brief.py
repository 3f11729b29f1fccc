"""A refusal in two words, for cards: those of the fact that decided, or of the reason that the trace recorded."""

from __future__ import annotations

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.phrases import short_reason
from scheduler_engine import wording

Row = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]


class Briefs:
    """The short words of one attempt."""

    def __init__(self, world: World, cycle: Cycle) -> None:
        self.world, self.cycle = world, cycle
        self.asks = world.witness.at_hand(cycle)

    def of(self, row: Row) -> str:
        node, plugin, code, reasons, _ = row
        facts = self.world.witness.filter(self.cycle, node, plugin) if self.asks else None
        status = facts.status if facts is not None else None
        told = ""
        if facts is not None and status is not None and (status.code.value, status.reasons) == (code, reasons):
            told = wording.brief(facts)
        return told or short_reason(reasons)
