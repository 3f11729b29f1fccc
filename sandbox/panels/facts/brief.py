"""A refusal in two or three words, for cards: the words of the fact that decided, or of the recorded reason."""

from __future__ import annotations

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.phrases import short_reason
from scheduler_engine import wording

Row = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]
"""(node, plugin that refused, code, reasons, nominated pods that counted), as in FilterRan."""


class Briefs:
    """The short words for the refusals of one attempt."""

    def __init__(self, world: World, cycle: Cycle) -> None:
        self.world, self.cycle = world, cycle
        self.asks = world.witness.at_hand(cycle)

    def of(self, row: Row) -> str:
        """Return the short words for one row of the filter table."""
        node, plugin, code, reasons, _ = row
        facts = self.world.witness.filter(self.cycle, node, plugin) if self.asks else None
        status = facts.status if facts is not None else None
        text = ""
        if facts is not None and status is not None and (status.code.value, status.reasons) == (code, reasons):
            text = wording.brief(facts)
        return text or short_reason(reasons)
