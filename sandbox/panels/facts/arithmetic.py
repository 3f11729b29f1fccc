"""The arithmetic behind a verdict or a score: a plain sentence, the scheduler's own words, then the sums."""

from __future__ import annotations

from typing import Any

from sandbox.panels.explain import explain_filter, explain_score
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.say import say


def verdict(world: World, cycle: Cycle, node: str, plugin: str) -> dict[str, Any]:
    """Return why a filter says what it says about a node; if it was not asked, what it would have said."""
    explanation = explain_filter(world, cycle, node, plugin)
    return {
        "plugin": plugin,
        "before": _before(cycle, node, plugin),
        "sentence": explanation.sentence,
        "own": "; ".join(explanation.reasons),
        "lines": explanation.lines,
    }


def _before(cycle: Cycle, node: str, plugin: str) -> str:
    """Return a remark if Kubernetes never asked this filter about this node, else ""."""
    table = cycle.filter
    failed = next((row[1] for row in table.looked_at if row[0] == node), "") if table else ""
    order = table.plugins if table else ()
    if plugin not in order or failed not in order or order.index(plugin) <= order.index(failed):
        return ""
    if table is not None and plugin in table.skipped:
        return ""
    return f"{say('verdicts.not-asked', plugin=failed)} "


def score(world: World, cycle: Cycle, node: str, plugin: str) -> dict[str, Any]:
    """Return how a plugin came to its score for a node."""
    explanation = explain_score(world, cycle, node, plugin)
    return {"plugin": plugin, "sentence": explanation.sentence, "lines": explanation.lines}
