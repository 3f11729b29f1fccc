"""The arithmetic behind a verdict or a score: a plain sentence, the scheduler's own words, then the sums.

Drawn by ``fragments/arithmetic.html``.
"""

from __future__ import annotations

from typing import Any

from sandbox.panels.explain import explain_filter, explain_score
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.say import say


def verdict(world: World, cycle: Cycle, node: str, plugin: str) -> dict[str, Any]:
    """Why a filter says what it says about a node; of one that was not asked, what it would have said."""
    told = explain_filter(world, cycle, node, plugin)
    return {
        "plugin": plugin,
        "before": _before(cycle, node, plugin),
        "sentence": told.sentence,
        "own": "; ".join(told.reasons),
        "lines": told.lines,
    }


def _before(cycle: Cycle, node: str, plugin: str) -> str:
    """A remark when Kubernetes never asked this filter about this node."""
    table = cycle.filter
    failed = next((row[1] for row in table.looked_at if row[0] == node), "") if table else ""
    order = table.plugins if table else ()
    if plugin not in order or failed not in order or order.index(plugin) <= order.index(failed):
        return ""
    if table is not None and plugin in table.skipped:
        return ""
    return f"{say('verdicts.not-asked', plugin=failed)} "


def score(world: World, cycle: Cycle, node: str, plugin: str) -> dict[str, Any]:
    """How a plugin came to its score for a node."""
    told = explain_score(world, cycle, node, plugin)
    return {"plugin": plugin, "sentence": told.sentence, "lines": told.lines}
