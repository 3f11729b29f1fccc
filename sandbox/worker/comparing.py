"""Compare a sandbox with another run: one of its branches, other settings, another seed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.words.amounts import signed
from sandbox.worker import simulations
from sandbox.worker.live import Live
from scheduler_engine.answers import phrases
from scheduler_engine.answers.comparing import Comparison, Side, compare
from scheduler_engine.answers.parting import Contest, Parting
from scheduler_engine.errors import NothingToDo, OverBudget, Rejected
from scheduler_engine.simulation import Simulation

MOST = 200
"""Rows of each list of pods."""
MOST_NODES = 12
"""Nodes whose verdicts are listed."""
BEFORE, DEFAULT = "before", "default"
CONFIGURATIONS = (BEFORE, DEFAULT)
"""The second run has the configuration from before its last change, or the default one."""


@dataclass(frozen=True, slots=True)
class Other:
    """The second run. ``texts``: the commands of a branch, None = those of the sandbox. ``configuration``: "" or one
    of ``CONFIGURATIONS``. ``seed``: None = that of the sandbox.
    """

    texts: tuple[str, ...] | None = None
    configuration: str = ""
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """The second run at its end. ``refused``: its commands that the cluster refused, which the first run accepted."""

    simulation: Simulation
    refused: tuple[str, ...]


def difference(live: Live, other: Other) -> dict[str, Any]:
    """Return what differs between the sandbox at present and another run, in words.

    If a command of the other run takes too much work, that is the ``problem``, and there is nothing else.
    """
    try:
        replayed = replay(live, other)
    except OverBudget as problem:
        return {"problem": str(problem)}
    comparison = compare(live.simulation, replayed.simulation)
    pending = [*_pending(comparison.first, comparison.second)]
    return {
        "problem": "",
        "configured": any(_configures(text) for text in live.texts(0, live.n)),
        "differs": comparison.differs,
        "refused": replayed.refused,
        "parting": _parting(live, comparison.parting),
        "decisive": _decisive(live, comparison),
        "figures": [*_figures(comparison)],
        "placements": _some([_placement(item) for item in comparison.placements]),
        "evictions": _some([*_evictions(comparison.first, comparison.second)]),
        "pending": _some([row for row in pending if len({*row["sides"]}) > 1]),
        "alike": sum(len({*row["sides"]}) == 1 for row in pending),
    }


def replay(live: Live, other: Other) -> Replayed:
    """Play the second run from its start. Raises ``OverBudget``."""
    texts = [*live.texts(0, live.n)] if other.texts is None else [*other.texts]
    plan = live.plan
    if other.configuration == DEFAULT:
        plan = replace(plan, configuration="null")
    if other.seed is not None:
        plan = replace(plan, seed=other.seed)
    simulation, refused = simulations.new_simulation(plan), []
    for text in _configured(texts, other.configuration):
        try:
            simulations.execute(simulation, text)
        except OverBudget:
            raise
        except NothingToDo:
            continue
        except Rejected as problem:
            refused.append(str(problem))
    return Replayed(simulation, tuple(refused))


def _configured(texts: Sequence[str], configuration: str) -> list[str]:
    """Return the commands without the changes of the configuration that the second run does not make."""
    changes = [index for index, text in enumerate(texts) if _configures(text)]
    left_out = {BEFORE: changes[-1:], DEFAULT: changes}.get(configuration, [])
    return [text for index, text in enumerate(texts) if index not in left_out]


def _configures(text: str) -> bool:
    return bool(json.loads(text)["kind"] == "configure")


# --- in words ---------------------------------------------------------------------------------------------------------


def _decisive(live: Live, comparison: Comparison) -> dict[str, Any] | None:
    """Return the first attempt with another outcome, if that is a later one than the first that differs."""
    parting, decisive = comparison.parting, comparison.decisive
    if decisive is None or decisive == parting:
        return None
    known = parting is not None and (decisive.changes, decisive.settings) == (parting.changes, parting.settings)
    return _parting(live, replace(decisive, changes=(), settings=()) if known else decisive)


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
        "drawn": phrases.draw(parting.contest),
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
    if contest is None or contest.only_drawn or contest.first is None or contest.second is None:
        return None
    moved = contest.second[0] - contest.second[1] - contest.first[0] + contest.first[1]
    rows = [(item.plugin, item.first, item.second, signed(item.moved)) for item in contest.plugins]
    return {"nodes": contest.nodes, "rows": rows, "total": (contest.first, contest.second, signed(moved))}


def _figures(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the figures, without resources that no pod requests."""
    pairs = comparison.figures
    unused = [pair.about[0] for pair in pairs if pair.name == "utilisation" and not pair.first and not pair.second]
    room = comparison.first.balance.room or comparison.second.balance.room
    for pair in pairs:
        if pair.about[:1] and pair.about[0] in unused:
            continue
        label, *more = phrases.labels(pair.name, pair.about, room.pod if room else "")
        yield {
            "label": label,
            "more": " ".join(more),
            "below": pair.name in phrases.INDENTED,
            "sides": [phrases.formatted(pair.unit, value) for value in (pair.first, pair.second)],
            "changed": pair.first != pair.second,
        }


def _placement(item: Any) -> dict[str, Any]:
    return {"pod": item.pod, "sides": [phrases.place(item.first), phrases.place(item.second)]}


def _evictions(first: Side, second: Side) -> Iterator[dict[str, Any]]:
    """Yield the evictions that only one of the runs has."""
    mine, theirs = Counter(first.evictions), Counter(second.evictions)
    for item in (mine - theirs).elements():
        yield {"pod": item.victim, "sides": [phrases.eviction(item), ""]}
    for item in (theirs - mine).elements():
        yield {"pod": item.victim, "sides": ["", phrases.eviction(item)]}


def _pending(first: Side, second: Side) -> Iterator[dict[str, Any]]:
    mine, theirs = ({item.pod: item for item in side.pending} for side in (first, second))
    for pod in {**mine, **theirs}:
        yield {"pod": pod, "sides": [phrases.reason(waiting.get(pod)) for waiting in (mine, theirs)]}


def _some(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"rows": rows[:MOST], "count": len(rows), "more": max(0, len(rows) - MOST)}
