"""How many nodes one search looked at, where it started and where the next one starts, in words and numbers.

Source: seed 002 §7; upstream ``schedule_one.go`` (``numFeasibleNodesToFind``, ``findNodesThatPassFilters``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandbox.panels.drawing import markup
from sandbox.panels.drawing.markup import Markup, esc
from sandbox.panels.explain.model import Line, signed
from sandbox.panels.model.state import Cycle
from sandbox.panels.words.phrases import plural
from scheduler_engine.trace.events import FilterRan

AT_LEAST = 100
LEAST_PERCENTAGE = 5
NOT_NEEDED = "it fits, but enough were found: it ended the search"
LABEL_ROOM = 12
"""Percent of the line that a label needs at either end."""


@dataclass(frozen=True, slots=True)
class Search:
    """``visited`` nodes in visiting order, of which ``fit`` are kept and ``failed`` failed; ``extra``: one more fits,
    which ended the search. ``unvisited``: the rest, in the order in which they would have come. ``won``: the nominated
    node was tried first and fits.
    """

    table: FilterRan
    order: tuple[str, ...]
    narrowed: bool
    won: bool
    visited: tuple[str, ...]
    unvisited: tuple[str, ...]
    failed: int
    extra: bool

    @property
    def fit(self) -> int:
        return len(self.table.feasible)

    @property
    def start(self) -> int:
        return self.table.start_index

    @property
    def following(self) -> int:
        return self.table.next_start_index

    def at(self, index: int) -> str:
        """``place 145 (node-144)``; places count from 1."""
        name = f" ({self.order[index]})" if index < len(self.order) else ""
        return f"place {index + 1}{name}"


def search_of(cycle: Cycle) -> Search | None:
    """None before Filter has run."""
    table = cycle.filter
    if table is None:
        return None
    visited = tuple(row[0] for row in table.rows)
    passing = [row[0] for row in table.rows if not row[1]]
    won = bool(table.nominated_first) and visited == tuple(passing) == (table.nominated_first,)
    failed = {row[0] for row in table.rows if row[1]}
    if table.nominated_first and not won:
        failed.add(table.nominated_first)
    start = table.start_index % len(cycle.order) if cycle.order else 0
    seen = set(visited)
    rest = tuple(name for name in (*cycle.order[start:], *cycle.order[:start]) if name not in seen)
    narrowed = cycle.pre_filter is not None and cycle.pre_filter.node_names is not None
    extra = len(passing) > len(table.feasible)
    return Search(table, cycle.order, narrowed, won, visited, rest, len(failed), extra)


def summary(search: Search) -> str:
    """One or two sentences on how far the search went and where the next one starts."""
    table, total = search.table, search.table.all_nodes
    if search.won:
        text = f"Only the nominated node {table.nominated_first} was looked at: it fits, so it wins at once."
        return f"{text} The next search starts at {search.at(search.following)}, as before."
    if search.narrowed:
        text = f"{len(search.visited)} of {plural(total, 'node')} looked at: PreFilter narrowed the search."
    elif not search.unvisited:
        text = f"All {plural(total, 'node')} looked at, from {search.at(search.start)} on."
    else:
        last = search.order.index(search.visited[-1]) if search.visited else search.start
        text = f"{len(search.visited)} of {plural(total, 'node')} looked at, {search.at(search.start)} to "
        text += f"{search.at(last)}: {_enough_words(table.nodes_to_find)}."
    if table.nominated_first:
        text = f"The nominated node {table.nominated_first} was tried first and does not fit. {text}"
    return f"{text} The next search starts at {search.at(search.following)}."


def why_unvisited(search: Search) -> str:
    if search.narrowed:
        return "not visited: PreFilter narrowed the search"
    if search.won:
        return f"not visited: the nominated node {search.table.nominated_first} fits, so it wins at once"
    return f"not visited: {_enough_words(search.table.nodes_to_find)}"


def _enough_words(number: int) -> str:
    return "one node that fits is enough" if number == 1 else f"{number} nodes that fit are enough"


def arithmetic(cycle: Cycle, search: Search) -> list[Line]:
    """The percentage, what is enough, start, visited and next start."""
    if search.won:
        return [Line("Nominated first", search.table.nominated_first, "the round robin does not move for it")]
    return [
        *_enough(cycle, search),
        Line("Start index", str(search.start), f"{search.at(search.start)}: where the search before left off"),
        _visited(search),
        Line(
            "Next start index",
            f"({search.start} + {search.fit} + {search.failed}) mod {search.table.all_nodes} = {search.following}",
            search.at(search.following),
        ),
    ]


def _enough(cycle: Cycle, search: Search) -> list[Line]:
    count, needed = search.table.searched, search.table.nodes_to_find
    if not _scores(cycle):
        return [Line("Enough", str(needed), "no score plugin is enabled: the first node that fits will do")]
    if count < AT_LEAST:
        return [Line("Enough", f"{count} < {AT_LEAST}", f"below {AT_LEAST} nodes the search never stops early")]
    percentage, line = _percentage(cycle, count)
    share = count * percentage // 100
    formula = f"{count} × {percentage} / 100 = {share}"
    if share < AT_LEAST:
        formula += f", so {AT_LEAST}"
    note = f"nodes that fit; never fewer than {AT_LEAST} (Kubernetes' documentation says 50, v1.34 says {AT_LEAST})"
    return [line, Line("Enough", formula, note)]


def _percentage(cycle: Cycle, count: int) -> tuple[int, Line]:
    configuration = cycle.configured.configuration if cycle.configured else {}
    profiles = configuration.get("profiles") or ()
    profile: dict[str, Any] = next((item for item in profiles if item.get("schedulerName") == cycle.profile), {})
    own, general = profile.get("percentageOfNodesToScore"), configuration.get("percentageOfNodesToScore") or 0
    label = "percentageOfNodesToScore"
    if own:
        return own, Line(label, f"{own} %", f"profile {cycle.profile} says so; its own value wins over the general one")
    if own is None and general:
        return general, Line(label, f"{general} %", "as configured for all profiles")
    raw = 50 - count // 125
    formula = f"50 − {count} / 125 = {signed(raw)} %"
    if raw < LEAST_PERCENTAGE:
        formula += f", so {LEAST_PERCENTAGE} %"
    note = f"it is 0: the share shrinks as the cluster grows, down to {LEAST_PERCENTAGE} %"
    return max(raw, LEAST_PERCENTAGE), Line(label, formula, note)


def _scores(cycle: Cycle) -> bool:
    """Whether the profile has score plugins; without its configuration: yes."""
    points = dict(cycle.configured.profiles).get(cycle.profile, ()) if cycle.configured else ()
    return bool(dict(points).get("score", ())) if points else True


def _visited(search: Search) -> Line:
    formula = f"{search.fit} fit + {search.failed} fail"
    if not search.extra:
        return Line("Visited", f"{formula} = {len(search.visited)}")
    note = "the search ends at the first node that fits and is no longer needed; it does not count"
    return Line("Visited", f"{formula} + 1 = {len(search.visited)}", note)


def order_line(search: Search) -> Markup:
    """The node order as a band: the visited stretch, where it started, where the next search starts."""
    total = len(search.order)
    if not total or search.narrowed or search.won:
        return Markup("")
    step, first = 100 / total, search.start % total
    length = len(search.visited)
    pieces = [(first, min(length, total - first)), (0, max(0, first + length - total))]
    bands = "".join(markup.rect("seen", at * step, size * step, 14, 10) for at, size in pieces if size)
    start, following = search.start, search.following
    marks = _mark("is-start", "start", search, start, 10) + _mark("is-next", "next", search, following, 36)
    ground = '<rect class="bg" x="0" y="14" width="100%" height="10"/>'
    return Markup(f'<svg class="ordl" aria-hidden="true">{ground}{bands}{marks}</svg>')


def _mark(classes: str, word: str, search: Search, index: int, y: int) -> str:
    x = 100 * index / len(search.order)
    anchor = "start" if x < LABEL_ROOM else "end" if x > 100 - LABEL_ROOM else "middle"
    name = esc(search.order[index]) if index < len(search.order) else ""
    return (
        f'<rect class="{classes}" x="{x:.2f}%" y="12" width="2" height="14"/>'
        f'<text class="{classes}" x="{x:.2f}%" y="{y}" text-anchor="{anchor}">{word} {index + 1} '
        f"<tspan>{name}</tspan></text>"
    )
