"""How many nodes a search visited, where it starts and where the next one starts, in words and numbers.

Source: seed 002 §7; upstream ``schedule_one.go`` (``numFeasibleNodesToFind``, ``findNodesThatPassFilters``).
"""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.panels.drawing import shapes
from sandbox.panels.drawing.shapes import Drawing, Rect, Shapes, Text
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.phrases import plural
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.trace.events import FilterRan
from scheduler_engine.wording import Line

NOT_NEEDED = "sampling.not-needed"
LABEL_ROOM, LONG_ROOM = 12, 50
"""Percent of the line that a label needs at either end: one with a short name, one with a long name."""
SHORT_NAME, LONGEST_NAME = 16, 24
"""Letters of a node's name: up to here it counts as short; more are not shown."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search.

    ``whole``: all nodes in order; ``order``: those that were searched; ``left_out``: nodes that PreFilter excluded.
    ``won``: the nominated node was tried first and fits. ``visited``: nodes in visiting order, of which ``failed``
    failed; ``extra``: one more fits than is needed, which ended the search. ``unvisited``: the rest of the order.
    ``tried_first``: the nominated node, if it was tried first, does not fit, and was not visited again. ``counted``:
    number of failed nodes that count for the next start index.
    """

    table: FilterRan
    whole: tuple[str, ...]
    order: tuple[str, ...]
    left_out: tuple[str, ...]
    won: bool
    visited: tuple[str, ...]
    unvisited: tuple[str, ...]
    failed: int
    extra: bool
    tried_first: str
    counted: int

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Return all nodes that were visited, each once."""
        return (self.tried_first, *self.visited) if self.tried_first else self.visited

    @property
    def fit(self) -> int:
        return len(self.table.feasible)

    @property
    def start(self) -> int:
        """Return the place in ``order`` of the start; the index wraps if fewer nodes are searched than exist."""
        return self.table.start_index % len(self.order) if self.order else 0

    def at(self, index: int) -> str:
        """Return ``place 145 (node-144)`` of the searched nodes; places count from 1."""
        return _place(self.order, index, len(self.order) if self.narrowed else 0)

    @property
    def narrowed(self) -> bool:
        return len(self.order) < len(self.whole)

    @property
    def following(self) -> str:
        """Return where the next search starts, if it covers all nodes."""
        return _place(self.whole, self.table.next_start_index)


def _place(order: tuple[str, ...], index: int, among: int = 0) -> str:
    """Return a place in words. ``among``: number of nodes left if PreFilter narrowed the search, else 0."""
    if index < len(order) and among:
        return say("sampling.place-among", place=index + 1, count=among, node=order[index])
    if index < len(order):
        return say("sampling.place", place=index + 1, node=order[index])
    return say("sampling.place-without-a-node", place=index + 1)


def start_of(world: World) -> str:
    """Return the node where the search of the running attempt starts, else the next search; "" without nodes.

    A search goes through the snapshot's list, which keeps its order when a node changes its zone.
    """
    cycle = world.cycle
    order, index = world.cache.next_order(), world.next_start
    if cycle is not None and cycle.order and not cycle.outcome:
        order = cycle.order
        index = cycle.filter.start_index if cycle.filter is not None else index
    return order[index % len(order)] if order else ""


def search_of(cycle: Cycle) -> Search | None:
    """Return the search of an attempt, None before Filter has run."""
    table = cycle.filter
    if table is None:
        return None
    visited = tuple(row[0] for row in table.rows)
    passing = [row[0] for row in table.rows if not row[1]]
    won = bool(table.nominated_first) and visited == tuple(passing) == (table.nominated_first,)
    failed = dict.fromkeys(row[0] for row in table.rows if row[1])
    counted = dict(failed)
    if table.nominated_first and not won and not _erred(table):
        counted[table.nominated_first] = None
    order = _order(cycle, won)
    start = table.start_index % len(order) if order else 0
    looked_at = {table.tried_first, *visited}
    rest = tuple(name for name in (*order[start:], *order[:start]) if name not in looked_at)
    concerned = {*order, *looked_at}
    left_out = tuple(name for name in cycle.order if name not in concerned)
    extra = len(passing) > len(table.feasible)
    numbers = len(failed), extra, table.tried_first, len(counted)
    return Search(table, cycle.order, order, left_out, won, visited, rest, *numbers)


def _erred(table: FilterRan) -> bool:
    """Return True if a filter ended with an error on the nominated node, which is not a refusal."""
    return table.nominated is not None and table.nominated[2] == "Error"


def _order(cycle: Cycle, won: bool) -> tuple[str, ...]:
    """Return the nodes that were searched: PreFilter may narrow them, but not if the nominated node wins."""
    named = cycle.pre_filter.node_names if cycle.pre_filter else None
    if named is None or won:
        return cycle.order
    in_snapshot = set(cycle.order)
    return tuple(name for name in named if name in in_snapshot)


def summary(search: Search) -> str:
    """Return one to three sentences on how far the search went and where the next one starts."""
    nominated = search.table.nominated_first
    if search.won:
        return say("sampling.nominated-won", node=nominated, following=search.following)
    first = [_nominated_first(search)] if nominated else []
    if search.narrowed and not search.order:
        first.append(say("sampling.narrowed-to-none"))
        return " ".join((*first, say("sampling.following", following=search.following)))
    if search.narrowed:
        count, nodes = len(search.order), plural(search.table.all_nodes, "node")
        first.append(say("sampling.narrowed", count=count, nodes=nodes))
    return " ".join((*first, _how_far(search), say("sampling.following", following=search.following)))


def _nominated_first(search: Search) -> str:
    table = search.table
    if table.nominated is None or not _erred(table):
        return say("sampling.nominated-first", node=table.nominated_first)
    node, plugin, _, reasons, _ = table.nominated
    return say("sampling.nominated-failed", node=node, plugin=plugin, reasons="; ".join(reasons))


def _how_far(search: Search) -> str:
    looked, start = len(search.visited), search.at(search.start)
    nodes = plural(len(search.order), "node")
    if not search.unvisited:
        return say("sampling.all-looked-at", count=looked, nodes=nodes, start=start)
    last = search.at(search.order.index(search.visited[-1])) if search.visited else start
    count = search.table.nodes_to_find
    return say("sampling.enough-found", count=count, looked=looked, nodes=nodes, start=start, last=last)


def why_unvisited(search: Search) -> str:
    """Return why the search ended before the remaining nodes."""
    if search.won:
        return say("sampling.nominated-wins", node=search.table.nominated_first)
    return say("sampling.enough-fit", count=search.table.nodes_to_find)


def not_visited(search: Search) -> list[tuple[str, tuple[str, ...]]]:
    """Return (why, nodes) for each reason why nodes were not visited."""
    reasons = [(why_unvisited(search), search.unvisited), (say("sampling.narrowed-by-pre-filter"), search.left_out)]
    return [(why, nodes) for why, nodes in reasons if nodes]


def arithmetic(world: World, cycle: Cycle, search: Search) -> list[Line]:
    """Return the lines on the percentage, the number of nodes that is enough, start, visited and next start."""
    if search.won:
        return [Line(say("sampling.nominated"), search.table.nominated_first, say("sampling.nominated-note"))]
    table, start, note = search.table, str(search.table.start_index), ""
    if search.order and table.start_index != search.start:
        start = f"{start} mod {len(search.order)} = {search.start}"
    if search.order:
        note = search.at(search.start)
        note = note if search.narrowed else say("sampling.start-index-note", place=note)
    return [
        *wording.lines_of(world.witness.search(cycle)),
        Line(say("sampling.start-index"), start, note),
        _visited(search),
        Line(
            say("sampling.next-start-index"),
            f"({table.start_index} + {search.fit} + {search.counted}) mod {table.all_nodes} = {table.next_start_index}",
            search.following,
        ),
    ]


def _visited(search: Search) -> Line:
    terms = [say("sampling.fit", count=search.fit)]
    if search.failed or not search.tried_first:
        terms.append(say("sampling.fail", count=search.failed))
    if search.tried_first:
        terms.append(say("sampling.nominated-error" if _erred(search.table) else "sampling.nominated-fails"))
    terms += ["1"] if search.extra else []
    note = say("sampling.and-one") if search.extra else ""
    return Line(say("sampling.visited"), f"{' + '.join(terms)} = {len(search.looked_at)}", note)


def order_line(search: Search) -> Drawing | None:
    """Draw the node order as a band: the visited stretch, its start, and the start of the next search."""
    total = len(search.order)
    if not total or search.narrowed or search.won:
        return None
    step, first = 100 / total, search.start % total
    length = len(search.visited)
    pieces = [(first, min(length, total - first)), (0, max(0, first + length - total))]
    bands = [shapes.rect("visited", at * step, size * step, 14, 10) for at, size in pieces if size]
    marks = [
        *_mark("is-start", "sampling.start-here", search, search.start, 10),
        *_mark("is-next", "sampling.next-here", search, search.table.next_start_index, 36),
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
