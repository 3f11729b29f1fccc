"""A refusal in two or three words, for cards: the words of the fact that decided, or of the recorded reason."""

from __future__ import annotations

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.phrases import short_reason
from scheduler_engine import wording

Row = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]
"""(node, plugin that refused, code, reasons, nominated pods that counted), as in FilterRan."""


def brief_refusal(world: World, cycle: Cycle, row: Row) -> str:
    """Return the short words for one row of the filter table of an attempt."""
    node, plugin, code, reasons, _ = row
    facts = world.witness.filter(cycle, node, plugin) if world.witness.at_hand(cycle) else None
    status = facts.status if facts is not None else None
    if facts is None or status is None or (status.code.value, status.reasons) != (code, reasons):
        return short_reason(reasons)
    return wording.brief(facts) or short_reason(reasons)
