"""The filter matrix: rows in visiting order, columns in plugin order; many nodes are grouped by reason."""

from __future__ import annotations

from functools import partial
from typing import Any

from sandbox.panels.drawing.ordering import DOWN, Keys, by_name, head, ordered, own
from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.facts import expectable
from sandbox.panels.facts.arithmetic import verdict
from sandbox.panels.facts.brief import Row, brief_refusal
from sandbox.panels.facts.extenders import said
from sandbox.panels.facts.sampling import NOT_NEEDED, Search, arithmetic, not_visited, order_line, search_of, summary
from sandbox.panels.facts.search_end import SearchEnd, search_end
from sandbox.panels.facts.verdicts import MAY_HELP, helps
from sandbox.panels.facts.whose import attempt_shown
from sandbox.panels.filter.groups import groups
from sandbox.panels.filter.search import film
from sandbox.panels.model.state import Cycle, NodeState
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import clock, short_name
from sandbox.words.phrases import camel, phrases, without_log
from sandbox.words.say import say

PAGE = 100
GROUPED_ABOVE = 40
FEW = 12
"""Up to this many nodes there is nothing to group, and the cards show the node order."""
VERDICTS = {"Unschedulable": 1, "UnschedulableAndUnresolvable": 2}
"""Code of a refusal → its place among the verdicts, after the nodes that fit."""

NO_SEARCH: dict[SearchEnd, str] = {
    "": "filter.not-yet",
    "stopped": "filter.never",
    "refused": "filter.none-left",
    "failed": "filter.search-failed",
}
"""How the search ended → key of why there is no table."""
SHORTER = {
    "NodeUnschedulable": "NodeUnsched.",
    "VolumeRestrictions": "VolumeRestrict.",
    "NodeVolumeLimits": "VolumeLimits",
    "DynamicResources": "DynamicRes.",
}
ANSWERS = {"Success": "filter.will-check", "Skip": "filter.skips"}
SAYS = {"z": "filter.not-run", "s": "filter.nothing-to-check"}
"""Class of a cell without a verdict → key of its title."""


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_of_choice(view.cycle, view.pod)
    base: dict[str, Any] = {
        "pod": short_name(cycle.pod) if cycle else "",
        "has": False,
        "whose": attempt_shown(world, cycle),
    }
    if cycle is None:
        return base | {
            "empty": say("filter.no-pod-here" if world.attempts else "filter.no-pod"),
            "how": say("filter.how-to-filter"),
        }
    pre = _pre_filter(cycle)
    base["extenders"] = said(cycle, "filter")
    search = search_of(cycle)
    if search is None:
        refused = [row for row in pre if row["code"] not in ("Success", "Skip")]
        if refused:
            return base | {"empty": "", "pre": pre, "refused": refused, "message": _message(cycle)}
        empty = say(NO_SEARCH[search_end(cycle)], pod=base["pod"])
        return base | {"empty": empty, "pre": pre, "narrowed": _narrowed(cycle), "message": _message(cycle)}
    table = search.table
    looked_at = table.looked_at
    grouped = view.group == "reason" or (not view.group and len(looked_at) > GROUPED_ABOVE)
    speaking = {row[1] for row in looked_at}
    speaking |= {plugin for _, verdicts in table.also for plugin, _, _ in verdicts if view.reasons}
    columns = [
        {
            "name": name,
            "skipped": name in table.skipped,
            "passes": name not in speaking,
            "head": head(view, "filter", name, camel(SHORTER.get(name, name))),
        }
        for name in table.plugins
    ]
    shown = {"groups": groups(world, cycle, search, view)} if grouped else _rows(world, cycle, search, view)
    return (
        base
        | shown
        | {
            "has": True,
            "pre": pre,
            "grouped": grouped,
            "can_group": len(looked_at) > FEW,
            "columns": columns,
            "span": len(columns),
            "message": _message(cycle),
            "expectable": [one for one in expectable.of_attempt(cycle) if one["fact"] == "failure"],
            "how_many": summary(search),
            "sums": arithmetic(world, cycle, search),
            "order_line": order_line(search) if len(search.order) > FEW else None,
            "nodes": len(search.order),
            "also": sum(len(verdicts) for _, verdicts in table.also),
            "all_reasons": bool(view.reasons),
        }
    )


def _pre_filter(cycle: Cycle) -> list[dict[str, Any]]:
    verdicts = cycle.pre_filter.verdicts if cycle.pre_filter else ()
    narrowed = cycle.pre_filter is not None and cycle.pre_filter.node_names is not None
    answers = ANSWERS | ({"Success": "filter.will-check-these"} if narrowed else {})
    return [
        {
            "plugin": plugin,
            "code": code,
            "says": say(answers.get(code, "filter.says-no")),
            "reasons": "; ".join(reasons),
        }
        for plugin, code, reasons in verdicts
    ]


def _narrowed(cycle: Cycle) -> str:
    names = cycle.pre_filter.node_names if cycle.pre_filter else None
    if names is None:
        return ""
    return say("filter.only-these", nodes=", ".join(names)) if names else say("filter.only-none")


def _message(cycle: Cycle) -> dict[str, Any] | None:
    """Return Kubernetes' message, each phrase with the nodes that it counts."""
    text = cycle.message if cycle.outcome in ("unschedulable", "nominated", "error") else ""
    text = text or (cycle.fit_error.message if cycle.fit_error else "")
    if not text:
        return None
    message, logged = without_log(text)
    head, parts, after = phrases(message)
    by_reason: dict[str, list[str]] = {}
    for node, plugin, _, reasons, _ in cycle.filter.looked_at if cycle.filter else ():
        for reason in reasons if plugin else ():
            by_reason.setdefault(reason, []).append(node)
    return {
        "head": head,
        "phrases": [
            {"count": count, "reason": reason, "nodes": " ".join(by_reason.get(reason, ()))} for count, reason in parts
        ],
        "after": after,
        "logged": say("filter.logged", text=logged) if logged else "",
        "sums": sum(int(count or 0) for count, _ in parts) > len(cycle.filter.looked_at) if cycle.filter else False,
    }


def _rows(world: World, cycle: Cycle, search: Search, view: View) -> dict[str, Any]:
    table = search.table
    looked_at = table.looked_at
    pages = pager(len(looked_at), view, "filter", PAGE)
    places = {name: place for place, name in enumerate(cycle.order or world.cache.order, 1)}
    builder = _Rows(world, cycle, search, view)
    start = table.rows[0][0] if table.rows else ""
    in_order = ordered(looked_at, view, "filter", _orders(world, table.plugins))
    rows = [builder.row(row, places.get(row[0], 0), row[0] == start) for row in on_page(in_order, pages)]
    # What was not visited follows the last row.
    left = [(name, why) for why, names in not_visited(search) for name in names] if pages.last else []
    unvisited = pager(len(left), view, "filter.unvisited", PAGE, few=FEW)
    ghosts = [node for node in world.nodes.values() if node.ghost and pages.last]
    return {
        "rows": rows,
        "heads": _heads(view),
        "pages": pages,
        "unvisited": [
            {"name": name, "place": places.get(name, 0), "why": say("sampling.not-visited", why=why)}
            for name, why in on_page(left, unvisited)
        ],
        "unvisited_pages": unvisited if pages.last else None,
        "ghosts": [{"name": node.name, "why": _why_ghost(world, node)} for node in ghosts],
    }


def _why_ghost(world: World, node: NodeState) -> str:
    pods = len(world.pods_of(node.name))
    if node.left_us is None:
        return say("filter.ghost-never-existed", pods=pods)
    return say("filter.ghost-not-visited", when=clock(node.left_us), pods=pods)


def _heads(view: View) -> dict[str, Any]:
    return {
        "own": own(view, "filter", say("orders.visiting")),
        "name": head(view, "filter", "name", [say("orders.name")]),
        "zone": head(view, "filter", "zone", [say("orders.zone")]),
        "verdict": head(view, "filter", "verdict", [say("orders.verdict")]),
    }


def _orders(world: World, plugins: tuple[str, ...]) -> Keys[Row]:
    """Return the sort keys. A plugin's column puts nodes that it refuses first, and those it did not check last."""
    numbers = {plugin: number for number, plugin in enumerate(plugins)}
    return {
        **{plugin: partial(_asked, numbers, number) for plugin, number in numbers.items()},
        "name": lambda row: by_name(row[0]),
        "zone": lambda row: by_name(world.nodes[row[0]].zone) if row[0] in world.nodes else "",
        "verdict": lambda row: VERDICTS.get(row[2], len(VERDICTS)) if row[1] else 0,
    }


def _asked(numbers: dict[str, int], number: int, row: Row) -> int:
    """Return 0 if the plugin of this number refuses the node, 1 if it passes it, 2 if an earlier plugin refused it."""
    failed = numbers.get(row[1], len(numbers))
    return 0 if failed == number else 1 + (failed < number)


class _Rows:
    """Builds the rows of one attempt."""

    def __init__(self, world: World, cycle: Cycle, search: Search, view: View) -> None:
        self.world, self.cycle, self.search, self.view = world, cycle, search, view
        self.plugins = search.table.plugins
        self.skipped = frozenset(search.table.skipped)
        self.also = dict(search.table.also) if view.reasons else {}
        self.by_zone = view.order_of("filter").removeprefix(DOWN) == "zone"

    def row(self, row: Row, place: int, first: bool) -> dict[str, Any]:
        node = row[0]
        opened = node == self.view.node and self.view.plugin in self.plugins
        return {
            "node": node,
            "zone": self.world.nodes[node].zone if self.by_zone and node in self.world.nodes else "",
            "place": place,
            "first": first,
            "tried_first": say("filter.tried-first") if node == self.search.tried_first else "",
            "cells": self._cells(row),
            "code": self._code(row),
            "why": verdict(self.world, self.cycle, node, self.view.plugin) if opened else None,
            "film": film(self.world, self.cycle, node, self.view.plugin) if opened else None,
            "expectable": expectable.verdict(self.cycle, node) if opened else None,
            "said": {"n": "", "n also": " is-also"}.get(self._kind(row), " is-plain"),
        }

    def _kind(self, row: Row) -> str:
        """Return the class of the open cell."""
        if self.view.plugin == row[1]:
            return "n"
        return "n also" if self.view.plugin in {plugin for plugin, _, _ in self.also.get(row[0], ())} else ""

    def _cells(self, row: Row) -> list[dict[str, Any]]:
        node, failed, _, _, nominated = row
        others = {plugin: (code, reasons) for plugin, code, reasons in self.also.get(node, ())}
        opened = self.view.plugin if node == self.view.node else ""
        cells, reached = [], True
        for plugin in self.plugins:
            if plugin == failed:
                cell = self._refusal(row, "n")
                reached = False
            elif plugin in others and not reached:
                code, reasons = others[plugin]
                cell = self._refusal((node, plugin, code, reasons, nominated), "n also")
            else:
                kind = "s" if plugin in self.skipped else "y" if reached else "z"
                cell = {"kind": kind, "plugin": "", "title": say(SAYS[kind]) if kind in SAYS else ""}
            cells.append({**cell, "opened": plugin == opened})
        return cells

    def _refusal(self, row: Row, kind: str) -> dict[str, Any]:
        title = "; ".join(row[3])
        if kind != "n":
            title = say("filter.not-reported-by-kubernetes", reasons=title)
        return {"kind": kind, "plugin": row[1], "title": title, "brief": brief_refusal(self.world, self.cycle, row)}

    def _code(self, row: Row) -> dict[str, str]:
        """Return the row's last cell: fits, or whether eviction may help."""
        node, failed, code, _, _ = row
        if not failed:
            spare = self.search.extra and node == self.search.visited[-1]
            title, word = (NOT_NEEDED, "filter.not-needed") if spare else ("filter.every-filter-passed", "filter.fits")
            return {"sign": "yes", "title": say(title), "word": say(word)}
        word = helps(self.cycle, node, code)
        return {"sign": "up" if code == MAY_HELP else "lock", "title": code, "word": word}
