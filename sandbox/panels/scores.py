"""Scores: raw → normalized → × weight → total, best first, with winner, runner-up, margin, ties and seed."""

from __future__ import annotations

from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from sandbox.panels.drawing.ordering import Keys, by_name, head, ordered, own
from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.facts import expectable
from sandbox.panels.facts.arithmetic import score
from sandbox.panels.facts.extenders import failures
from sandbox.panels.facts.scoring import Scoring, Table, scoring_of
from sandbox.panels.facts.search_end import SearchEnd, search_end
from sandbox.panels.facts.version import rules_in
from sandbox.panels.facts.whose import attempt_shown
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import short_name, signed
from sandbox.words.phrases import camel, listed
from sandbox.words.say import say

PAGE = 50
SCHEME = "://"
GREYS = 9
TOP, BOTTOM, FLOOR = 2, 21, 27
"""y of a step of the waterfall: the highest total, the lowest total, the ground (y grows downwards)."""


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_of_choice(view.cycle, view.pod)
    base: dict[str, Any] = {"has": False, "pod": "", "whose": attempt_shown(world, cycle)}
    if cycle is None:
        return base | {"empty": say("scores.no-pod")}
    base["pod"] = short_name(cycle.pod)
    scoring = scoring_of(cycle)
    if scoring is None:
        return base | {"empty": _why_none(cycle)}
    pages = pager(len(scoring.nodes), view, "scores", PAGE)
    places = {node: place for place, node in enumerate(scoring.nodes, 1)}
    in_view = list(on_page(ordered(scoring.nodes, view, "scores", _orders(world, scoring)), pages))
    if scoring.winner in places and scoring.winner not in in_view:
        in_view.insert(0, scoring.winner)
    tops = {plugin: max(rows.values(), default=0) for plugin, rows in scoring.weighted.items()}
    skipped = cycle.pre_score.verdicts if cycle.pre_score else ()
    return base | {
        "has": True,
        "columns": [
            {
                "name": name,
                "head": head(view, "scores", name, camel(_title(name)), down=True),
                "weight": weight,
                "grey": index % GREYS + 1,
            }
            for index, (name, weight) in enumerate(scoring.weights.items())
        ],
        "heads": {
            "own": own(view, "scores", say("orders.best")),
            "name": head(view, "scores", "name", [say("orders.name")]),
            "zone": head(view, "scores", "zone", [say("orders.zone")]),
            "total": head(view, "scores", "total", [say("orders.total")], down=True),
        },
        "rows": [_row(world, places[node], node, cycle, scoring, tops, view) for node in in_view],
        "span": len(scoring.weights) + (3 if scoring.totals else 1),
        "count": len(scoring.nodes),
        "most": _most(scoring.weights),
        "totals": bool(scoring.totals),
        "verdict": _verdict(cycle, scoring),
        "expectable": [one for one in expectable.of_attempt(cycle) if one["fact"] == "winner"],
        "seed": world.seed,
        "draws": rules_in(cycle.configured).draws_among_equals,
        "at": str(view.at or ""),
        "pages": pages,
        "failed": failures(cycle, "prioritize"),
        "skipped": [plugin for plugin, code, _ in skipped if code == "Skip"],
        "why_not": _difference(scoring, view.node),
    }


def _orders(world: World, scoring: Scoring) -> Keys[str]:
    return {
        **{plugin: partial(_of, scoring.weighted or scoring.raw, plugin) for plugin in scoring.weights},
        "name": by_name,
        "zone": lambda node: by_name(world.nodes[node].zone) if node in world.nodes else "",
        "total": lambda node: scoring.totals.get(node, 0),
    }


ONE_FITS: dict[SearchEnd, str] = {
    "nominated": "scores.nominated-fits",
    "enough": "scores.one-is-enough",
    "all": "scores.one-node-fits",
}
"""How the search ended → key of why its only node that fits is not scored."""


def _why_none(cycle: Cycle) -> str:
    name, end = short_name(cycle.pod), search_end(cycle)
    if cycle.filter is None:
        key = "scores.none-left" if end == "refused" else "scores.never" if end else "scores.not-yet"
        return say(key, pod=name)
    fit = len(cycle.filter.feasible)
    if fit == 0:
        return say("scores.no-node-fits", pod=name)
    if fit == 1:
        return say(ONE_FITS[end], node=cycle.filter.feasible[0], pod=name)
    if cycle.outcome:
        return say("scores.never", pod=name)
    return say("scores.not-yet-of-several", pod=name, count=fit)


def _title(plugin: str) -> str:
    """Return the name in the head of a column."""
    return _short(plugin) if plugin.endswith("Allocation") or SCHEME in plugin else plugin


def _short(plugin: str) -> str:
    """Return a short name. An extender's is its address without the scheme."""
    plugin = plugin.partition(SCHEME)[2] or plugin
    return plugin.removeprefix("NodeResources" if plugin.endswith("Allocation") else "Node")


HOW = {
    (True, True): "scores.drawn",
    (True, False): "scores.will-be-drawn",
    (False, True): "scores.first",
    (False, False): "scores.first-will-win",
}
"""(the scheduler draws among equals, it has chosen) → key of how it chooses among them."""


def _verdict(cycle: Cycle, scoring: Scoring) -> dict[str, Any]:
    nodes, totals = scoring.nodes, scoring.totals
    if not totals:
        return {"big": say("scores.raw-scores"), "runner_up": "", "margin": "", "ties": "", "how": ""}
    best = scoring.winner or nodes[0]
    top = max(totals.values())
    ties = list(cycle.selected.ties if cycle.selected else ()) or [node for node in nodes if totals[node] == top]
    second = next((node for node in nodes if node != best), "")
    is_tie, draws = len(ties) > 1, rules_in(cycle.configured).draws_among_equals
    how = HOW[draws, cycle.selected is not None] if is_tie else "scores.no-draw"
    return {
        "big": f"{best}, {totals[best]}" if cycle.selected or not is_tie else f"{listed(ties, 2)}, {top}",
        "runner_up": f"{second}, {totals[second]}" if second else "",
        "margin": totals[best] - totals[second] if second else "",
        "ties": listed(ties, 4),
        "how": say(how),
        "cycle": cycle.number if is_tie and draws else 0,
    }


def _row(
    world: World, place: int, node: str, cycle: Cycle, scoring: Scoring, tops: dict[str, int], view: View
) -> dict[str, Any]:
    """Return the row of a node. ``tops``: plugin → its highest weighted score."""
    opened = view.plugin if node == view.node and view.plugin in scoring.weights else ""
    cells = []
    for plugin in scoring.weights:
        first, steps = _cell(plugin, node, scoring)
        top = bool(tops.get(plugin)) and scoring.weighted[plugin].get(node) == tops[plugin]
        cells.append({"plugin": plugin, "first": first, "steps": steps, "top": top, "opened": plugin == opened})
    return {
        "node": node,
        "place": place,
        "cells": cells,
        "total": scoring.totals.get(node, 0),
        "stack": _stack(node, scoring) if scoring.totals else None,
        "win": node == scoring.winner,
        "why": score(world, cycle, node, opened) if opened else None,
        "expectable": expectable.scores(cycle, node, opened) if opened else [],
    }


def _cell(plugin: str, node: str, scoring: Scoring) -> tuple[str, str]:
    """Return the number of a cell, and how it came about."""
    raw, weight = scoring.raw.get(plugin, {}).get(node), scoring.weights[plugin]
    weighted = scoring.weighted.get(plugin, {}).get(node)
    if weighted is None:
        return ("–", "") if raw is None else (str(raw), say("scores.raw"))
    normalized = scoring.normalized.get(plugin, {}).get(node)
    steps = str(raw) if raw == normalized else f"{raw} → {normalized}"
    return str(weighted), f"{steps} × {weight}" if weight != 1 else steps


def _most(weights: dict[str, int]) -> int:
    """Return the highest possible total; a negative weight only lowers totals."""
    return 100 * sum(max(weight, 0) for weight in weights.values()) or 100


def _of(table: Table, plugin: str, node: str) -> int:
    return table.get(plugin, {}).get(node, 0)


def _stack(node: str, scoring: Scoring) -> dict[str, Any]:
    """Return what each plugin adds to the total, side by side; ``best``: end of the highest total. All in percent."""
    scale = 100 / _most(scoring.weights)
    x, parts = 0.0, []
    for index, plugin in enumerate(scoring.weights):
        share = _of(scoring.weighted, plugin, node)
        if share > 0:
            grey, width = index % GREYS + 1, f"{share * scale:.2f}"
            parts.append({"plugin": plugin, "share": share, "grey": grey, "x": f"{x:.2f}", "width": width})
            x += share * scale
    return {"parts": parts, "best": f"{max(scoring.totals.values()) * scale:.2f}"}


def _difference(scoring: Scoring, chosen: str) -> dict[str, Any] | None:
    """Compare the winner with another node: its total, then what each plugin adds or takes up to the winner."""
    winner, totals, weighted = scoring.winner, scoring.totals, scoring.weighted
    if len(scoring.nodes) < 2 or winner not in totals:
        return None
    other = chosen if chosen in totals and chosen != winner else next(node for node in scoring.nodes if node != winner)
    changes = [(plugin, _of(weighted, plugin, winner) - _of(weighted, plugin, other)) for plugin in scoring.weights]
    changes = [(plugin, change) for plugin, change in changes if change]
    levels = list(accumulate([totals[other], *(change for _, change in changes)]))
    highest, span = max(levels), max(max(levels) - min(levels), 1)
    heights = [TOP + (BOTTOM - TOP) * (highest - level) / span for level in levels]
    steps = [
        {
            "plugin": plugin,
            "short": _short(plugin),
            "change": signed(change) if change < 0 else f"+{change}",
            "up": change > 0,
            "y": f"{min(before, after):.1f}",
            "height": f"{max(abs(after - before), 1.5):.1f}",
        }
        for (plugin, change), (before, after) in zip(changes, pairwise(heights), strict=True)
    ]
    return {
        "other": other,
        "other_total": totals[other],
        "winner": winner,
        "winner_total": totals[winner],
        "steps": steps,
        "from_y": f"{heights[0]:.1f}",
        "from_height": f"{FLOOR - heights[0]:.1f}",
        "to_y": f"{heights[-1]:.1f}",
        "to_height": f"{FLOOR - heights[-1]:.1f}",
        "tie": totals[other] == totals[winner],
    }
