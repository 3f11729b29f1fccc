"""The scores of an attempt, by plugin and node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.panels.model.state import Cycle
from scheduler_engine.framework.extender import extender_scores

Table = dict[str, dict[str, int]]
"""Plugin → node → score."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """All scores. ``weights``: plugin → its weight. ``totals``: node → its total, {} until scores are normalized.

    Extenders that have scored are among the plugins. Their normalized scores have the scale of plugins.

    ``nodes``: those that were scored, the best first. ``winner``: the selected node, "" before SelectHost.
    """

    weights: dict[str, int]
    raw: Table
    normalized: Table
    weighted: Table
    totals: dict[str, int]
    nodes: list[str]
    winner: str


def scoring_of(cycle: Cycle) -> Scoring | None:
    """Return the scores of an attempt, None before Score has run."""
    if cycle.score is None:
        return None
    ran, winner = cycle.normalized, cycle.selected.node if cycle.selected else ""
    totals = dict(ran.totals) if ran else {}
    nodes = totals or (cycle.filter.feasible if cycle.filter else ())
    asked = [one for one in cycle.asked if one.call == "prioritize" and not one.error]
    raw, normalized = extender_scores(asked)
    return Scoring(
        dict(cycle.score.weights) | {one.extender: one.weight for one in asked},
        _by_plugin((*cycle.score.raw, *raw)),
        _by_plugin((*(ran.normalized if ran else ()), *normalized)),
        _by_plugin(ran.weighted if ran else ()),
        totals,
        sorted(nodes, key=lambda node: (-totals.get(node, 0), node != winner)),
        winner,
    )


def _by_plugin(rows: Iterable[tuple[str, Iterable[tuple[str, int]]]]) -> Table:
    return {plugin: dict(scores) for plugin, scores in rows}
