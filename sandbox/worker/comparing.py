"""Compare a sandbox with another run: one of its branches, other settings, another seed, another node for a pod."""

from __future__ import annotations

import copy
import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World
from sandbox.storage.commands import to_text
from sandbox.words.amounts import signed
from sandbox.words.say import say
from sandbox.worker import simulations
from sandbox.worker.earlier import simulation_at
from sandbox.worker.live import Live
from scheduler_engine.answers import phrases
from scheduler_engine.answers.comparing import Comparison, Placement, compare
from scheduler_engine.answers.parting import Contest, Parting
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.errors import NothingToDo, OverBudget, Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace import events as ev

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
    of ``CONFIGURATIONS``. ``seed``: None = that of the sandbox. ``cycle``: the number of an attempt, 0 = none; its pod
    is bound to ``node`` instead.
    """

    texts: tuple[str, ...] | None = None
    configuration: str = ""
    seed: int | None = None
    cycle: int = 0
    node: str = ""


@dataclass(frozen=True, slots=True)
class Replayed:
    """The second run at its end. ``refused``: its commands that the cluster refused, which the first run accepted."""

    simulation: Simulation
    refused: tuple[str, ...]


def difference(live: Live, other: Other) -> dict[str, Any]:
    """Return what differs between the sandbox at present and another run, in words.

    If a command of the other run takes too much work, or the attempt cannot be changed, that is the ``problem``, and
    there is nothing else.
    """
    try:
        replayed = replay(live, other)
    except Rejected as problem:
        return {"problem": str(problem), "configured": False}
    comparison = compare(live.simulation, replayed.simulation)
    pending = [_row(pod, *map(phrases.reason, waiting)) for pod, *waiting in comparison.waiting]
    return {
        "problem": "",
        "configured": any(map(_configures, live.texts(0, live.n))),
        "differs": comparison.differs,
        "refused": replayed.refused,
        "parting": _parting(live, comparison.parting),
        "decisive": _parting(live, comparison.later_decision),
        "figures": [*_figures(comparison)],
        "placements": _some([_placement(item, live.simulation, replayed.simulation) for item in comparison.placements]),
        "evictions": _some([*_evictions(comparison)]),
        "pending": _some([row for row in pending if len({*row["sides"]}) > 1]),
        "alike": sum(len({*row["sides"]}) == 1 for row in pending),
    }


def replay(live: Live, other: Other) -> Replayed:
    """Play the second run from its start. Raises ``OverBudget``, or ``Rejected`` if there is no such run."""
    if other.cycle:
        return _instead(live, other)
    texts = [*live.texts(0, live.n)] if other.texts is None else [*other.texts]
    if other.configuration == BEFORE and not any(map(_configures, texts)):
        raise Rejected(say("differences.not-configured"))
    plan = live.plan
    if other.configuration == DEFAULT:
        plan = replace(plan, configuration="null")
    if other.seed is not None:
        plan = replace(plan, seed=other.seed)
    simulation = simulations.new_simulation(plan)
    return Replayed(simulation, _played(simulation, _configured(texts, other.configuration)))


def _played(simulation: Simulation, texts: Iterable[str]) -> tuple[str, ...]:
    """Execute commands, and return why some were refused. Raises ``OverBudget``."""
    refused: list[str] = []
    for text in texts:
        try:
            simulations.execute(simulation, text)
        except OverBudget:
            raise
        except NothingToDo:
            continue
        except Rejected as problem:
            refused.append(str(problem))
    return tuple(refused)


def _instead(live: Live, other: Other) -> Replayed:
    """Play the sandbox's commands, and bind the pod of an attempt to another node just before the attempt.

    Raises ``Rejected`` if there is no such attempt or node, or if the pod cannot be bound.
    """
    world = live.world
    started = next((entry for entry in world.entries if _starts(entry, other.cycle)), None)
    if started is None or not isinstance(started.event, ev.CycleStarted):
        raise Rejected(say("differences.no-cycle", cycle=other.cycle))
    moment = _before(world, started.n)
    simulation = copy.deepcopy(simulation_at(live, moment))
    whole, ended = live.log_until(moment)
    if simulation.api.get("Node", other.node) is None:
        raise Rejected(say("differences.no-node", node=other.node))
    try:
        pod = simulation.api.existing("Pod", started.event.pod)
        simulation.api.bind(pod.key, pod.uid, other.node)
    except ApiError as problem:
        raise Rejected(str(problem)) from problem
    simulation.deliver()
    ends = next((entry.n for entry in world.entries if _ends(entry, other.cycle)), len(world.entries))
    last = world.moment_of(ends).command
    rest = [
        text
        for number, text in enumerate(live.texts(whole, live.n), whole + 1)
        if number > last or not _steps_once(text)
    ]
    if ended is not None and not _steps_once(live.text_of(whole + 1)):
        begun_us = world.entries[world.starts[whole + 1]].at_us
        rest[:1] = _remainder(rest[0], simulation.now_us - begun_us)
    return Replayed(simulation, _played(simulation, rest))


def _starts(entry: ev.Entry, cycle: int) -> bool:
    return isinstance(entry.event, ev.CycleStarted) and entry.event.cycle == cycle


def _ends(entry: ev.Entry, cycle: int) -> bool:
    return isinstance(entry.event, ev.CycleFinished) and entry.event.cycle == cycle


def _before(world: World, n: int) -> Moment:
    """Return the last moment before entry ``n`` at which the engine was between two steps."""
    return world.moment_of(world.rests[bisect_left(world.rests, n, key=lambda rest: rest[0]) - 1][0])


def _steps_once(text: str) -> bool:
    """Return True for a step of one pod, which belongs to the attempt that the other run does not make."""
    return json.loads(text)["kind"] in ("stage", "pod")


def _remainder(text: str, passed_us: int) -> list[str]:
    """Return what is left of a command of which ``passed_us`` have passed; nothing if no time is left."""
    command = json.loads(text)
    if "seconds" not in command:
        return [text]
    left = command["seconds"] - passed_us / SECOND_US
    return [to_text({**command, "seconds": left})] if left > 0 else []


def _configured(texts: Sequence[str], configuration: str) -> list[str]:
    """Return the commands without the changes of the configuration that the second run does not make."""
    changes = [index for index, text in enumerate(texts) if _configures(text)]
    left_out = {BEFORE: changes[-1:], DEFAULT: changes}.get(configuration, [])
    return [text for index, text in enumerate(texts) if index not in left_out]


def _configures(text: str) -> bool:
    return bool(json.loads(text)["kind"] == "configure")


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
