"""Scores: raw → normalized → × weight → total, best first, with winner, runner-up, margin, ties and seed."""

from __future__ import annotations

from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from sandbox.panels.drawing.ordering import Keys, by_name, head, own
from sandbox.panels.drawing.ordering import ordered as in_order
from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.facts import expectable
from sandbox.panels.facts.arithmetic import score
from sandbox.panels.facts.whose import attempt_shown
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import short_name, signed
from sandbox.words.phrases import camel, listed
from sandbox.words.say import say

PAGE = 50
GREYS = 9
TOP, BOTTOM, FLOOR = 2, 21, 27
"""y of a step of the waterfall: the highest total, the lowest total, the ground (y grows downwards)."""


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_of_choice(view.cycle, view.pod)
    base: dict[str, Any] = {"has": False, "pod": "", "whose": attempt_shown(world, cycle)}
    if cycle is None:
        return base | {"empty": say("scores.no-pod")}
    base["pod"] = short_name(cycle.pod)
    if cycle.score is None:
        return base | {"empty": _why_none(cycle)}
    weights = dict(cycle.score.weights)
    normalized = {plugin: dict(rows) for plugin, rows in (cycle.normalized.normalized if cycle.normalized else ())}
    weighted = {plugin: dict(rows) for plugin, rows in (cycle.normalized.weighted if cycle.normalized else ())}
    raw = {plugin: dict(rows) for plugin, rows in cycle.score.raw}
    totals = dict(cycle.normalized.totals) if cycle.normalized else {}
    nodes = list(totals) or (list(cycle.filter.feasible) if cycle.filter else [])
    winner = cycle.selected.node if cycle.selected else ""
    ordered = sorted(nodes, key=lambda node: (-totals.get(node, 0), node != winner))
    pages = pager(len(ordered), view, "scores", PAGE)
    tops = {plugin: max(rows.values(), default=0) for plugin, rows in weighted.items()}
    in_order_of_view = in_order(ordered, view, "scores", _orders(world, weights, weighted or raw, totals))
    places = {node: place for place, node in enumerate(ordered, 1)}
    in_view = list(on_page(in_order_of_view, pages))
    if winner in places and winner not in in_view:
        in_view.insert(0, winner)
    rows = [
        _row(world, places[node], node, cycle, weights, raw, normalized, weighted, totals, tops, view)
        for node in in_view
    ]
    return base | {
        "has": True,
        "columns": [
            {
                "name": name,
                "head": head(
                    view, "scores", name, camel(_short(name) if name.endswith("Allocation") else name), down=True
                ),
                "weight": weight,
                "grey": index % GREYS + 1,
            }
            for index, (name, weight) in enumerate(weights.items())
        ],
        "heads": {
            "own": own(view, "scores", say("orders.best")),
            "name": head(view, "scores", "name", [say("orders.name")]),
            "zone": head(view, "scores", "zone", [say("orders.zone")]),
            "total": head(view, "scores", "total", [say("orders.total")], down=True),
        },
        "rows": rows,
        "span": len(weights) + (3 if totals else 1),
        "count": len(nodes),
        "most": _most(weights),
        "totals": bool(totals),
        "verdict": _verdict(cycle, ordered, totals),
        "expectable": [one for one in expectable.of_attempt(cycle) if one["fact"] == "winner"],
        "seed": world.seed,
        "pages": pages,
        "skipped": _skipped(cycle),
        "why_not": _difference(ordered, weights, weighted, totals, winner, view.node),
    }


def _orders(
    world: World, weights: dict[str, int], table: dict[str, dict[str, int]], totals: dict[str, int]
) -> Keys[str]:
    return {
        **{plugin: partial(_of, table, plugin) for plugin in weights},
        "name": by_name,
        "zone": lambda node: by_name(world.nodes[node].zone) if node in world.nodes else (),
        "total": lambda node: totals.get(node, 0),
    }


def _why_none(cycle: Cycle) -> str:
    name = short_name(cycle.pod)
    if cycle.filter is None:
        return say("scores.never" if cycle.outcome else "scores.not-yet", pod=name)
    fit = len(cycle.filter.feasible)
    if fit == 0:
        return say("scores.no-node-fits", pod=name)
    if fit == 1:
        return say("scores.one-node-fits", node=cycle.filter.feasible[0], pod=name)
    if cycle.outcome:
        return say("scores.never", pod=name)
    return say("scores.not-yet-of-several", pod=name, count=fit)


def _skipped(cycle: Cycle) -> list[str]:
    verdicts = cycle.pre_score.verdicts if cycle.pre_score else ()
    return [plugin for plugin, code, _ in verdicts if code == "Skip"]


def _short(plugin: str) -> str:
    return plugin.removeprefix("NodeResources" if plugin.endswith("Allocation") else "Node")


def _verdict(cycle: Cycle, ordered: list[str], totals: dict[str, int]) -> dict[str, Any]:
    if not totals:
        return {"big": say("scores.raw-scores"), "runner_up": "", "margin": "", "ties": "", "how": ""}
    best = cycle.selected.node if cycle.selected else ordered[0]
    top = max(totals.values())
    ties = (
        list(cycle.selected.ties)
        if cycle.selected and cycle.selected.ties
        else [n for n in ordered if totals[n] == top]
    )
    second = next((node for node in ordered if node != best), "")
    is_draw = len(ties) > 1
    how = ("scores.drawn" if cycle.selected else "scores.will-be-drawn") if is_draw else "scores.no-draw"
    return {
        "big": f"{best}, {totals[best]}" if cycle.selected or not is_draw else f"{listed(ties, 2)}, {top}",
        "runner_up": f"{second}, {totals[second]}" if second else "",
        "margin": totals[best] - totals[second] if second else "",
        "ties": listed(ties, 4),
        "how": say(how),
    }


def _row(
    world: World,
    place: int,
    node: str,
    cycle: Cycle,
    weights: dict[str, int],
    raw: dict[str, dict[str, int]],
    normalized: dict[str, dict[str, int]],
    weighted: dict[str, dict[str, int]],
    totals: dict[str, int],
    tops: dict[str, int],
    view: View,
) -> dict[str, Any]:
    opened = view.plugin if node == view.node and view.plugin in weights else ""
    cells = []
    for plugin, weight in weights.items():
        first, steps = _cell(plugin, node, weight, raw, normalized, weighted)
        top = bool(tops.get(plugin)) and weighted[plugin].get(node) == tops[plugin]
        cells.append({"plugin": plugin, "first": first, "steps": steps, "top": top, "opened": plugin == opened})
    return {
        "node": node,
        "place": place,
        "cells": cells,
        "total": totals.get(node, 0),
        "stack": _stack(node, weights, weighted, totals) if totals else None,
        "win": cycle.selected is not None and cycle.selected.node == node,
        "why": score(world, cycle, node, opened) if opened else None,
        "expectable": expectable.scores(cycle, node, opened) if opened else [],
    }


def _cell(
    plugin: str,
    node: str,
    weight: int,
    raw: dict[str, dict[str, int]],
    normalized: dict[str, dict[str, int]],
    weighted: dict[str, dict[str, int]],
) -> tuple[str, str]:
    first_raw = raw.get(plugin, {}).get(node)
    if plugin not in weighted or node not in weighted[plugin]:
        return ("–", "") if first_raw is None else (str(first_raw), say("scores.raw"))
    middle = normalized.get(plugin, {}).get(node)
    steps = str(first_raw) if first_raw == middle else f"{first_raw} → {middle}"
    return str(weighted[plugin][node]), f"{steps} × {weight}" if weight != 1 else steps


def _most(weights: dict[str, int]) -> int:
    """Return the highest possible total; a negative weight only lowers totals."""
    return 100 * sum(max(weight, 0) for weight in weights.values()) or 100


def _of(table: dict[str, dict[str, int]], plugin: str, node: str) -> int:
    return table.get(plugin, {}).get(node, 0)


def _stack(
    node: str, weights: dict[str, int], weighted: dict[str, dict[str, int]], totals: dict[str, int]
) -> dict[str, Any]:
    """Return what each plugin adds to the total, side by side; ``best``: end of the highest total. All in percent."""
    scale = 100 / _most(weights)
    x, parts = 0.0, []
    for index, plugin in enumerate(weights):
        share = weighted.get(plugin, {}).get(node, 0)
        if share > 0:
            grey, width = index % GREYS + 1, f"{share * scale:.2f}"
            parts.append({"plugin": plugin, "share": share, "grey": grey, "x": f"{x:.2f}", "width": width})
            x += share * scale
    return {"parts": parts, "best": f"{max(totals.values()) * scale:.2f}"}


def _difference(
    ordered: list[str],
    weights: dict[str, int],
    weighted: dict[str, dict[str, int]],
    totals: dict[str, int],
    winner: str,
    chosen: str,
) -> dict[str, Any] | None:
    """Compare the winner with another node: its total, then what each plugin adds or takes up to the winner."""
    if not winner or len(ordered) < 2 or winner not in totals:
        return None
    other = chosen if chosen in totals and chosen != winner else next(node for node in ordered if node != winner)
    changes = [(plugin, _of(weighted, plugin, winner) - _of(weighted, plugin, other)) for plugin in weights]
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
