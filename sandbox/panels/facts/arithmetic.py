"""The arithmetic behind a verdict or a score, as HTML: a plain sentence, the scheduler's own words, then the sums."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.panels.drawing.markup import Markup, esc
from sandbox.panels.explain import explain_filter, explain_score
from sandbox.panels.explain.model import Line
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World


def verdict(world: World, cycle: Cycle, node: str, plugin: str) -> str:
    """Why a filter says what it says about a node; of one that was not asked, what it would have said."""
    told = explain_filter(world, cycle, node, plugin)
    own_words = f' <span class="own">{esc("; ".join(told.reasons))}</span>' if told.reasons else ""
    before = _before(cycle, node, plugin)
    return f"<b>{esc(plugin)}</b>: {esc(before)}{esc(told.sentence)}{own_words}{sums(told.lines)}"


def _before(cycle: Cycle, node: str, plugin: str) -> str:
    """A remark when Kubernetes never asked this filter about this node."""
    table = cycle.filter
    failed = next((row[1] for row in table.rows if row[0] == node), "") if table else ""
    order = table.plugins if table else ()
    if plugin not in order or failed not in order or order.index(plugin) <= order.index(failed):
        return ""
    if table is not None and plugin in table.skipped:
        return ""
    return f"not asked, because {failed} had said no. Asked alone: "


def score(world: World, cycle: Cycle, node: str, plugin: str) -> str:
    """How a plugin came to its score for a node."""
    told = explain_score(world, cycle, node, plugin)
    return f"<b>{esc(plugin)}</b>: {esc(told.sentence)}{sums(told.lines)}"


def sums(lines: Iterable[Line]) -> Markup:
    """Label, formula and remark of every line."""
    cells = "".join(
        f"<span>{esc(line.label)}</span><code>{esc(line.formula)}</code><span>{esc(line.note)}</span>" for line in lines
    )
    return Markup(f'<div class="arith">{cells}</div>' if cells else "")
