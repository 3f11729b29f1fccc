"""Compare a sandbox with another run, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sandbox.panels.model.moment import Moment
from sandbox.words.amounts import signed
from sandbox.words.say import say
from sandbox.worker.earlier import simulation_at
from sandbox.worker.errors import no_answer
from sandbox.worker.live import Live
from sandbox.worker.other_run import Other, configures, replay
from scheduler_engine.answers import phrases
from scheduler_engine.answers.comparing import Comparison, Placement, compare
from scheduler_engine.answers.parting import Contest, Parting
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation

MOST = 200
"""Rows of each list of pods."""
MOST_NODES = 12
"""Nodes whose verdicts are listed."""


def difference(live: Live, other: Other, at: Moment | None) -> dict[str, Any]:
    """Return what differs between the sandbox at a moment, None = the present, and another run, in words.

    If a command of the other run takes too much work, or the attempt cannot be changed, that is the ``problem``, and
    there is nothing else. ``unknown``: the field that names something that does not exist, or "".
    """
    first = simulation_at(live, at)
    try:
        replayed = replay(live, other, at)
    except Rejected as problem:
        return {**no_answer(problem), "configured": False}
    comparison = compare(first, replayed.simulation)
    if other.later:
        # One run: its later attempts are no other decisions.
        comparison = replace(comparison, parting=None, decisive=None, rules=())
    pending = [_row(pod, *map(phrases.reason, waiting)) for pod, *waiting in comparison.waiting]
    return {
        "problem": "",
        "unknown": "",
        "configured": any(map(configures, live.texts(0, live.n))),
        "differs": comparison.differs,
        "upgrade": "" if replayed.refused else phrases.upgrade(comparison),
        "rules": [*phrases.rules(comparison)],
        "refused": replayed.refused,
        "parting": _parting(live, comparison.parting),
        "decisive": _parting(live, comparison.later_decision),
        "figures": [*_figures(comparison)],
        "placements": _some([_placement(item, first, replayed.simulation) for item in comparison.placements]),
        "evictions": _some([*_evictions(comparison)]),
        "pending": _some([row for row in pending if len({*row["sides"]}) > 1]),
        "alike": sum(len({*row["sides"]}) == 1 for row in pending),
    }


# --- in words ---------------------------------------------------------------------------------------------------------


def _parting(live: Live, parting: Parting | None) -> dict[str, Any] | None:
    if parting is None:
        return None
    first = parting.first
    return {
        "pod": parting.pod,
        "number": parting.number,
        "kinds": phrases.kinds_of(parting),
        "at": None if first is None else str(live.world.moment_of(first.entry)),
        "sides": [phrases.decision(side) for side in (first, parting.second)],
        "drawn": phrases.draw(parting),
        "contest": _contest(parting.contest),
        "scores": [] if parting.contest is not None else [phrases.score_change(item) for item in parting.scores],
        "verdicts": [
            (item.node, phrases.verdict(item.first), phrases.verdict(item.second))
            for item in parting.verdicts[:MOST_NODES]
        ],
        "more_verdicts": max(0, len(parting.verdicts) - MOST_NODES),
        "changes": phrases.settings_of(parting),
    }


def _contest(contest: Contest | None) -> dict[str, Any] | None:
    """Return the table of scores that decided, if both nodes have totals in both runs and it was no draw."""
    if contest is None or contest.moved is None:
        return None
    rows = [(item.plugin, item.first, item.second, signed(item.moved)) for item in contest.plugins]
    return {"nodes": contest.nodes, "rows": rows, "total": (contest.first, contest.second, signed(contest.moved))}


def _figures(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for pair in comparison.used_figures:
        label, *more = phrases.labels(pair.name, pair.about, comparison.counted_pod)
        yield {
            "label": label,
            "more": " ".join(more),
            "below": pair.name in phrases.INDENTED,
            "sides": [phrases.formatted(pair.unit, value) for value in (pair.first, pair.second)],
            "changed": pair.first != pair.second,
        }


def _placement(item: Placement, first: Simulation, second: Simulation) -> dict[str, Any]:
    return _row(item.pod, _place(item.pod, item.first, first), _place(item.pod, item.second, second))


def _place(key: str, node: str | None, simulation: Simulation) -> str:
    """Return where a pod is, and if it has failed there, why: its kubelet may have refused it."""
    pod, text = simulation.api.pod(key), phrases.place(node)
    reason = pod.status.get("reason") if pod is not None and pod.phase == "Failed" else ""
    return say("differences.failed", place=text, reason=reason) if reason else text


def _evictions(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the evictions that only one of the runs has."""
    mine, theirs = comparison.only_evictions
    yield from (_row(item.victim, phrases.eviction(item), "") for item in mine)
    yield from (_row(item.victim, "", phrases.eviction(item)) for item in theirs)


def _row(pod: str, *sides: str) -> dict[str, Any]:
    """Return a row about a pod in both runs."""
    return {"pod": pod, "sides": sides}


def _some(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"rows": rows[:MOST], "count": len(rows), "more": max(0, len(rows) - MOST)}
