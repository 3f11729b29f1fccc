"""The arithmetic behind a verdict or a score, as HTML: a plain sentence, then the sums."""

from __future__ import annotations

from .explain import Explanation, explain_filter
from .markup import esc
from .state import Cycle
from .world import World


def explain(
    world: World, cycle: Cycle, node: str, plugin: str, reasons: tuple[str, ...], with_nominated: tuple[str, ...] = ()
) -> str:
    """First the plain reason, then the scheduler's own words, then the sums, nominated pods included."""
    told = explain_filter(world, cycle, node, plugin)
    own_words = f" {esc('; '.join(reasons))}." if reasons else ""
    return f"<b>{esc(plugin)}</b>: {esc(told.sentence)}{own_words}{sums(told)}"


def sums(told: Explanation) -> str:
    """Label, formula and remark of every line."""
    cells = (
        f"<span>{esc(line.label)}</span><code>{esc(line.formula)}</code><span>{esc(line.note)}</span>"
        for line in told.lines
    )
    return f'<div class="arith">{"".join(cells)}</div>' if told.lines else ""
