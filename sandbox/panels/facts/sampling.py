"""How many nodes one search looked at, where it started and where the next one starts, in words and numbers.

Source: seed 002 §7; upstream ``schedule_one.go`` (``numFeasibleNodesToFind``, ``findNodesThatPassFilters``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandbox.panels.drawing import shapes
from sandbox.panels.drawing.shapes import Drawing, Rect, Shapes, Text
from sandbox.panels.explain.model import Line, signed
from sandbox.panels.model.state import Cycle
from sandbox.panels.words.phrases import plural
from sandbox.panels.words.say import say
from scheduler_engine.trace.events import FilterRan

AT_LEAST = 100
LEAST_PERCENTAGE = 5
NOT_NEEDED = "sampling.not-needed"
LABEL_ROOM, LONG_ROOM = 12, 50
"""Percent of the line that a label needs at either end, and one with a long name."""
SHORT_NAME, LONGEST_NAME = 16, 24
"""Letters of a node's name that leave room beside it, and that are shown at most."""


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
        if index < len(self.order):
            return say("sampling.place", place=index + 1, node=self.order[index])
        return say("sampling.place-without-a-node", place=index + 1)


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
    following = search.at(search.following)
    nominated = search.table.nominated_first
    if search.won:
        return say("sampling.nominated-won", node=nominated, following=following)
    first = [say("sampling.nominated-first", node=nominated)] if nominated else []
    return " ".join((*first, _how_far(search), say("sampling.following", following=following)))


def _how_far(search: Search) -> str:
    nodes, looked = plural(search.table.all_nodes, "node"), len(search.visited)
    if search.narrowed:
        return say("sampling.narrowed", looked=looked, nodes=nodes)
    if not search.unvisited:
        return say("sampling.all-looked-at", count=looked, nodes=nodes, start=search.at(search.start))
    last = search.order.index(search.visited[-1]) if search.visited else search.start
    return say(
        "sampling.enough-found",
        count=search.table.nodes_to_find,
        looked=looked,
        nodes=nodes,
        start=search.at(search.start),
        last=search.at(last),
    )


def why_unvisited(search: Search) -> str:
    """Why the search ended before it came to the rest."""
    if search.narrowed:
        return say("sampling.narrowed-by-pre-filter")
    if search.won:
        return say("sampling.nominated-wins", node=search.table.nominated_first)
    return say("sampling.enough-fit", count=search.table.nodes_to_find)


def arithmetic(cycle: Cycle, search: Search) -> list[Line]:
    """The percentage, what is enough, start, visited and next start."""
    if search.won:
        return [Line(say("sampling.nominated"), search.table.nominated_first, say("sampling.nominated-note"))]
    return [
        *_enough(cycle, search),
        Line(
            say("sampling.start-index"),
            str(search.start),
            say("sampling.start-index-note", place=search.at(search.start)),
        ),
        _visited(search),
        Line(
            say("sampling.next-start-index"),
            f"({search.start} + {search.fit} + {search.failed}) mod {search.table.all_nodes} = {search.following}",
            search.at(search.following),
        ),
    ]


def _enough(cycle: Cycle, search: Search) -> list[Line]:
    count, needed = search.table.searched, search.table.nodes_to_find
    if not _scores(cycle):
        return [Line(say("sampling.enough"), str(needed), say("sampling.no-score-plugin"))]
    if count < AT_LEAST:
        return [Line(say("sampling.enough"), f"{count} < {AT_LEAST}", say("sampling.few-nodes", least=AT_LEAST))]
    percentage, line = _percentage(cycle, count)
    share = count * percentage // 100
    formula = f"{count} × {percentage} / 100 = {share}"
    if share < AT_LEAST:
        formula = say("sampling.at-least", formula=formula, least=AT_LEAST)
    return [line, Line(say("sampling.enough"), formula, say("sampling.at-least-note", least=AT_LEAST))]


def _percentage(cycle: Cycle, count: int) -> tuple[int, Line]:
    configuration = cycle.configured.configuration if cycle.configured else {}
    profiles = configuration.get("profiles") or ()
    profile: dict[str, Any] = next((item for item in profiles if item.get("schedulerName") == cycle.profile), {})
    own, general = profile.get("percentageOfNodesToScore"), configuration.get("percentageOfNodesToScore") or 0
    label = "percentageOfNodesToScore"
    if own:
        return own, Line(label, f"{own} %", say("sampling.profile-says", profile=cycle.profile))
    if own is None and general:
        return general, Line(label, f"{general} %", say("sampling.for-all-profiles"))
    raw = 50 - count // 125
    formula = f"50 − {count} / 125 = {signed(raw)} %"
    if raw < LEAST_PERCENTAGE:
        formula = say("sampling.at-least", formula=formula, least=f"{LEAST_PERCENTAGE} %")
    note = say("sampling.share-shrinks", least=LEAST_PERCENTAGE)
    return max(raw, LEAST_PERCENTAGE), Line(label, formula, note)


def _scores(cycle: Cycle) -> bool:
    """Whether the profile has score plugins; without its configuration: yes."""
    points = dict(cycle.configured.profiles).get(cycle.profile, ()) if cycle.configured else ()
    return bool(dict(points).get("score", ())) if points else True


def _visited(search: Search) -> Line:
    counted = {"fit": search.fit, "failed": search.failed, "looked": len(search.visited)}
    if not search.extra:
        return Line(say("sampling.visited"), say("sampling.visited-sum", **counted))
    return Line(say("sampling.visited"), say("sampling.visited-sum-and-one", **counted), say("sampling.and-one"))


def order_line(search: Search) -> Drawing | None:
    """The node order as a band: the visited stretch, where it started, where the next search starts."""
    total = len(search.order)
    if not total or search.narrowed or search.won:
        return None
    step, first = 100 / total, search.start % total
    length = len(search.visited)
    pieces = [(first, min(length, total - first)), (0, max(0, first + length - total))]
    bands = [shapes.rect("seen", at * step, size * step, 14, 10) for at, size in pieces if size]
    marks = [
        *_mark("is-start", "sampling.start-here", search, search.start, 10),
        *_mark("is-next", "sampling.next-here", search, search.following, 36),
    ]
    return Drawing("ordl", (Rect("bg", "0", "100%", "14", "10"), *bands, *marks))


def _mark(classes: str, key: str, search: Search, index: int, y: int) -> Shapes:
    x = 100 * index / len(search.order)
    name = search.order[index] if index < len(search.order) else ""
    shown = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    room = LABEL_ROOM if len(name) <= SHORT_NAME else LONG_ROOM
    anchor = "start" if x < room else "end" if x > 100 - room else "middle"
    words = say(key, place=index + 1)
    label = Text(classes, shapes.percent(x), str(y), words, shown, anchor, title=name)
    return shapes.tick(classes, x, 2, 12, 14), label
