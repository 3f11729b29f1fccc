"""The decision table of an attempt as plain text: each node's result, for a terminal or the log of a CI run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler_engine.scenario.attempts import Attempt
from scheduler_engine.words import say

MOST_NODES = 20
"""The number of nodes listed singly."""
WIDTH = 110
GAP = "  "


def decision(attempt: Attempt, nodes: Sequence[str] = ()) -> list[str]:
    """Return lines of text. ``nodes``: always listed, however many nodes there are."""
    head = say("decision.attempt", number=attempt.number, pod=attempt.pod, ended=_ended(attempt))
    return [head, *_table(attempt, nodes)]


def _ended(attempt: Attempt) -> str:
    if attempt.abandoned:
        return say("decision.abandoned", why=attempt.abandoned)
    if attempt.finished is None:
        return say("decision.still-running")
    message = attempt.finished.message
    return attempt.outcome + (f": {message}" if message and attempt.failed else "")


def _table(attempt: Attempt, nodes: Sequence[str]) -> Iterator[str]:
    if attempt.filter is None:
        refused = [verdict for verdict in attempt.pre_filter.verdicts if verdict[2]] if attempt.pre_filter else []
        yield from (
            f"  {say('decision.refused', plugin=plugin, reasons='; '.join(reasons))}" for plugin, _, reasons in refused
        )
        return
    if attempt.is_lean:
        yield f"  {say('decision.lean')}"
        return
    order = attempt.ranked
    listed = [*order[:MOST_NODES], *(node for node in dict.fromkeys(nodes) if node in order[MOST_NODES:])]
    alike, plugins = _plugins(attempt)
    heads = [say("decision.node"), *((say("decision.total"), *plugins) if attempt.totals else ())]
    rows = [_row(attempt, node, plugins) for node in listed]
    yield from _aligned(heads, rows)
    if len(listed) < len(order):
        yield f"  {say('decision.more', count=len(order) - len(listed))}"
    if alike:
        scores = ", ".join(f"{plugin} {value}" for plugin, value in alike)
        yield f"  {say('decision.alike', scores=scores)}"
    rest = attempt.filter.all_nodes - len(attempt.filter.looked_at)
    if rest > 0:
        yield f"  {say('decision.not-checked', number=rest, nodes=attempt.filter.all_nodes)}"


def _plugins(attempt: Attempt) -> tuple[list[tuple[str, int]], list[str]]:
    """Return score plugins that gave all nodes the same, with it; and the names of the others."""
    alike: list[tuple[str, int]] = []
    differing = []
    for plugin, pairs in attempt.normalize.weighted if attempt.normalize else ():
        values = [value for _, value in pairs]
        if values and min(values) == max(values):
            alike.append((plugin, values[0]))
        else:
            differing.append(plugin)
    return alike, differing


def _row(attempt: Attempt, node: str, plugins: Sequence[str]) -> tuple[list[str], str]:
    """Return the cells of a node, and the text after them."""
    is_chosen = attempt.selected is not None and attempt.selected.node == node
    mark = f"  {say('decision.chosen')}" if is_chosen else ""
    if node in attempt.totals:
        scores = attempt.scores(node)
        return [node, str(attempt.totals[node]), *(str(scores[plugin]["weighted"]) for plugin in plugins)], mark
    verdict = attempt.verdict(node)
    if verdict is None or not verdict[0]:
        return [node], f"  {say('decision.passes')}{mark}"
    first = say("decision.tried-first") if attempt.filter is not None and node == attempt.filter.tried_first else ""
    return [node], f"  {first}{verdict[0]}: {'; '.join(verdict[2])}"


def _aligned(heads: Sequence[str], rows: Sequence[tuple[list[str], str]]) -> Iterator[str]:
    """Yield a table as wide as ``WIDTH``; columns that do not fit go into another one below."""
    names = max(len(heads[0]), *(len(cells[0]) for cells, _ in rows)) if rows else len(heads[0])
    columns = [[cells[at] for cells, _ in rows if at < len(cells)] for at in range(len(heads))]
    widths = [max(map(len, [head, *column])) for head, column in zip(heads, columns, strict=True)]
    start = 1
    while True:
        end, used = start, 2 + names
        while end < len(heads) and (end == start or used + len(GAP) + widths[end] <= WIDTH):
            used += len(GAP) + widths[end]
            end += 1
        shown = range(start, end)
        yield _line(heads[0].ljust(names), [heads[at].rjust(widths[at]) for at in shown])
        for cells, behind in rows:
            if start > 1 and len(cells) == 1:
                continue
            scores = [cells[at].rjust(widths[at]) for at in shown if at < len(cells)]
            yield _line(cells[0].ljust(names), scores) + (behind if start == 1 else "")
        if end >= len(heads):
            return
        start = end


def _line(name: str, cells: Sequence[str]) -> str:
    return f"  {GAP.join([name, *cells])}".rstrip()
