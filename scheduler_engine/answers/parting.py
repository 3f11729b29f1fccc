"""Where two runs differ first, and why: the attempts of both, side by side.

Source: capability X2. Both traces must be full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from math import inf
from typing import Any

from scheduler_engine.answers.profiles import PluginChange, SettingChange, changes_between, settings_between
from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev

Identity = tuple[str, int, int]
"""(pod, number of its attempt, how many earlier attempts had both)"""
Scores = dict[str, dict[str, int]]
"""plugin → node → weighted score"""
MISSING, ORDER = "missing", "order"
"""Kinds of differences between runs, not between attempts: only one has the attempt; it comes at another turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """An attempt of a run. ``entry``: the trace entry that starts it; ``configured``: the configuration then."""

    position: int
    identity: Identity
    attempt: Attempt
    entry: ev.Entry
    configured: ev.Configured

    @property
    def profile(self) -> str:
        started = self.entry.event
        assert isinstance(started, ev.CycleStarted)
        return started.profile


@dataclass(frozen=True, slots=True)
class Decision:
    """What an attempt decided. ``position``: its place among the run's attempts, from 1; ``entry``: the number of the
    trace entry that starts it; ``at_us``: simulated microseconds.

    ``node``: the chosen one, "" = none. ``how`` and ``ties`` as in ``HostSelected``, ``outcome`` and ``message`` as in
    ``CycleFinished``, "" while it runs. ``abandoned``: why it never ends, "" = it ends. ``victims`` of preemption, on
    the node ``nominated``.
    """

    position: int
    cycle: int
    entry: int
    at_us: int
    outcome: str
    message: str
    abandoned: str
    node: str
    how: str
    ties: tuple[str, ...]
    feasible: int
    nominated: str
    victims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What Filter said about a node in both runs: (plugin, code, reasons), plugin "" = it passes, None = not asked."""

    node: str
    first: ev.Verdict | None
    second: ev.Verdict | None


@dataclass(frozen=True, slots=True)
class PluginScores:
    """The weighted scores of a plugin on both nodes of a contest, in both runs; None: the plugin did not score.

    ``moved``: by how much the plugin moves the lead of the first node over the second, from the first run to the
    second: negative in favour of the second node.
    """

    plugin: str
    first: tuple[int, int] | None
    second: tuple[int, int] | None
    moved: int


@dataclass(frozen=True, slots=True)
class Contest:
    """Two nodes that the runs chose. ``nodes``: the first run's and the second's.

    ``first`` and ``second``: the totals of both nodes in that run, None if one of them has none. ``plugins`` are those
    that moved the lead, the strongest first: their ``moved`` add up to the change of the lead. ``only_drawn``: both
    nodes had the same total in both runs, so only the draw differs.
    """

    nodes: tuple[str, str]
    first: tuple[int, int] | None
    second: tuple[int, int] | None
    plugins: tuple[PluginScores, ...]
    only_drawn: bool

    @property
    def moved(self) -> int | None:
        """Return by how much the lead of the first node changes; None: only the draw differs, or a total is missing."""
        if self.only_drawn or self.first is None or self.second is None:
            return None
        return _lead(self.second) - _lead(self.first)


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A plugin whose weighted scores differ on ``nodes`` nodes that both runs scored, the most on ``node``.

    ``first`` and ``second``: its scores there, 0 if it does not score.
    """

    plugin: str
    nodes: int
    node: str
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Parting:
    """An attempt that differs. ``kinds``: what differs, in the order of ``KINDS``, or MISSING or ORDER alone.

    ``first`` and ``second``: the decision of each run, None if it has no such attempt. ``contest``: if both chose a
    node, but not the same. ``verdicts``: of the nodes whose verdicts differ. ``scores``: the plugins whose scores
    differ. ``changes`` and ``settings``: how the plugins of the profile and other settings differ at this moment.
    ``instead``: for ORDER, the pod whose attempt the second run has at this turn.
    """

    pod: str
    number: int
    kinds: tuple[str, ...]
    first: Decision | None
    second: Decision | None
    contest: Contest | None
    verdicts: tuple[Verdicts, ...]
    scores: tuple[ScoreChange, ...]
    changes: tuple[PluginChange, ...]
    settings: tuple[SettingChange, ...]
    instead: str = ""

    @property
    def decides(self) -> bool:
        """Return True if the outcome differs, not only what led to it."""
        return any(kind in DECISIONS for kind in self.kinds)


def partings(first: Simulation, second: Simulation) -> Iterator[Parting]:
    """Yield the attempts that differ, the earliest in either run first.

    If none does, but the runs make them in another order, yield the first turn of another pod.
    """
    mine, theirs = turns_of(first), turns_of(second)
    both = {**mine, **theirs}
    earliest = sorted(both, key=lambda identity: min(_position(mine, identity), _position(theirs, identity)))
    any_differs = False
    for identity in earliest:
        one, other = mine.get(identity), theirs.get(identity)
        if one is None or other is None:
            kinds: tuple[str, ...] = (MISSING,)
        else:
            kinds = tuple(kind for kind, differ in KINDS.items() if differ(one.attempt, other.attempt))
        if kinds:
            any_differs = True
            yield _parting(one, other, kinds)
    if not any_differs:
        for one, other in zip(mine.values(), theirs.values(), strict=True):
            if one.identity != other.identity:
                yield _parting(one, theirs[one.identity], (ORDER,), other.attempt.pod)
                return


def first_apart(first: Simulation, second: Simulation) -> tuple[int | None, int | None] | None:
    """Return the numbers of the entries that start the first two attempts that differ, when both runs are stepped
    together, attempt by attempt. None in the pair: that run makes no more attempts. None alone: nothing differs.
    """
    for one, other in zip_longest(turns_of(first).values(), turns_of(second).values()):
        if one is None or other is None or one.identity != other.identity or _differ(one, other):
            return _entry(one), _entry(other)
    return None


def _entry(turn: Turn | None) -> int | None:
    return None if turn is None else turn.entry.n


def _differ(one: Turn, other: Turn) -> bool:
    return any(differ(one.attempt, other.attempt) for differ in KINDS.values())


def turns_of(simulation: Simulation) -> dict[Identity, Turn]:
    """Return the attempts of a run in their order."""
    attempts = {item.cycle: item for listed in RunView(simulation).attempts.values() for item in listed}
    turns: dict[Identity, Turn] = {}
    counts: dict[tuple[str, int], int] = {}
    configured: dict[str, ev.Configured] = {}
    for entry in simulation.recorder.entries:
        event = entry.event
        if isinstance(event, ev.Configured):
            configured[entry.replica] = event
        elif isinstance(event, ev.CycleStarted):
            named = event.pod, event.attempt
            identity = *named, counts.get(named, 0)
            counts[named] = identity[2] + 1
            turns[identity] = Turn(len(turns) + 1, identity, attempts[event.cycle], entry, configured[entry.replica])
    return turns


def _position(turns: Mapping[Identity, Turn], identity: Identity) -> float:
    return turns[identity].position if identity in turns else inf


# --- what can differ --------------------------------------------------------------------------------------------------


def _feasible(attempt: Attempt) -> tuple[str, ...] | None:
    return tuple(sorted(attempt.filter.feasible)) if attempt.filter is not None else None


def _refused(attempt: Attempt) -> Any:
    """Return why PreFilter refused the pod, or node → why Filter refused the node."""
    if attempt.filter is None:
        return attempt.verdict("")
    return {node: (plugin, code, reasons) for node, plugin, code, reasons, _ in attempt.filter.looked_at if plugin}


def _scores(attempt: Attempt) -> Scores:
    """Return the scores of the plugins that scored at all: a plugin with 0 for every node is as good as none."""
    tables = attempt.normalize.weighted if attempt.normalize is not None else ()
    return {plugin: dict(values) for plugin, values in tables if any(values.numbers)}


def _same_tables(one: Attempt, other: Attempt) -> bool:
    mine, theirs = one.normalize, other.normalize
    if mine is None or theirs is None:
        return mine is theirs
    return mine.weighted == theirs.weighted


KINDS: dict[str, Callable[[Attempt, Attempt], bool]] = {
    "node": lambda one, other: _node(one) != _node(other),
    "outcome": lambda one, other: (one.outcome, one.abandoned) != (other.outcome, other.abandoned),
    "victims": lambda one, other: _preempted(one) != _preempted(other),
    "message": lambda one, other: _message(one) != _message(other),
    "feasible": lambda one, other: _feasible(one) != _feasible(other),
    "verdict": lambda one, other: _refused(one) != _refused(other),
    "score": lambda one, other: not _same_tables(one, other) and _scores(one) != _scores(other),
}
"""What can differ between two attempts → how to compare it."""
DECISIONS = ("node", "outcome", "victims", MISSING)
"""Kinds of differences that change what happens."""


def _node(attempt: Attempt) -> str:
    return attempt.selected.node if attempt.selected is not None else ""


def _message(attempt: Attempt) -> str:
    return attempt.finished.message if attempt.finished is not None else ""


def _preempted(attempt: Attempt) -> tuple[str, tuple[str, ...]]:
    ran = attempt.post_filter
    return (ran.nominated_node, ran.victims) if ran is not None else ("", ())


# --- why --------------------------------------------------------------------------------------------------------------


def _parting(one: Turn | None, other: Turn | None, kinds: tuple[str, ...], instead: str = "") -> Parting:
    known = one if one is not None else other
    assert known is not None
    pod, number, _ = known.identity
    if one is None or other is None:
        return Parting(pod, number, kinds, _decision(one), _decision(other), None, (), (), (), ())
    return Parting(
        pod,
        number,
        kinds,
        _decision(one),
        _decision(other),
        _contest(one.attempt, other.attempt),
        (*_verdicts(one.attempt, other.attempt),),
        (*_score_changes(one.attempt, other.attempt),),
        changes_between(one.configured, other.configured, one.profile),
        settings_between(one.configured, other.configured, one.profile),
        instead,
    )


def _decision(turn: Turn | None) -> Decision | None:
    if turn is None:
        return None
    attempt, selected = turn.attempt, turn.attempt.selected
    nominated, victims = _preempted(attempt)
    return Decision(
        turn.position,
        attempt.cycle,
        turn.entry.n,
        turn.entry.at_us,
        attempt.outcome,
        _message(attempt),
        attempt.abandoned,
        _node(attempt),
        selected.how if selected is not None else "",
        selected.ties if selected is not None else (),
        attempt.filter.feasible_count if attempt.filter is not None else 0,
        nominated,
        victims,
    )


def _contest(one: Attempt, other: Attempt) -> Contest | None:
    nodes = _node(one), _node(other)
    if not all(nodes) or nodes[0] == nodes[1]:
        return None
    pairs = [_pair(attempt.totals, nodes) for attempt in (one, other)]
    mine, theirs = _by_plugin(one, nodes), _by_plugin(other, nodes)
    plugins = [_scored(name, mine.get(name), theirs.get(name)) for name in {**mine, **theirs}]
    moving = sorted((item for item in plugins if item.moved), key=lambda item: -abs(item.moved))
    comparable = None not in pairs
    only_drawn = comparable and _lead(pairs[0]) == _lead(pairs[1]) == 0
    return Contest(nodes, pairs[0], pairs[1], tuple(moving) if comparable else (), only_drawn)


def _scored(plugin: str, first: tuple[int, int] | None, second: tuple[int, int] | None) -> PluginScores:
    return PluginScores(plugin, first, second, _lead(second) - _lead(first))


def _by_plugin(attempt: Attempt, nodes: tuple[str, str]) -> dict[str, tuple[int, int]]:
    tables = attempt.normalize.weighted if attempt.normalize is not None else ()
    pairs = ((plugin, _pair(dict(values), nodes)) for plugin, values in tables)
    return {plugin: pair for plugin, pair in pairs if pair is not None}


def _pair(scores: Mapping[str, int], nodes: tuple[str, str]) -> tuple[int, int] | None:
    return (scores[nodes[0]], scores[nodes[1]]) if nodes[0] in scores and nodes[1] in scores else None


def _lead(pair: tuple[int, int] | None) -> int:
    return 0 if pair is None else pair[0] - pair[1]


def _verdicts(one: Attempt, other: Attempt) -> Iterator[Verdicts]:
    """Yield the verdicts that differ: first those on the chosen nodes, then in the order of the search."""
    if one.filter is None and other.filter is None:
        return
    searched = (row[0] for attempt in (one, other) if attempt.filter is not None for row in attempt.filter.looked_at)
    for node in dict.fromkeys((_node(one), _node(other), *searched)):
        verdicts = one.verdict(node), other.verdict(node)
        if node and verdicts[0] != verdicts[1]:
            yield Verdicts(node, *verdicts)


def _score_changes(one: Attempt, other: Attempt) -> Iterator[ScoreChange]:
    mine, theirs = _scores(one), _scores(other)
    scored = [node for node in one.totals if node in other.totals]
    for plugin in {**mine, **theirs}:
        pairs = [(node, mine.get(plugin, {}).get(node, 0), theirs.get(plugin, {}).get(node, 0)) for node in scored]
        changed = [pair for pair in pairs if pair[1] != pair[2]]
        if changed:
            yield ScoreChange(plugin, len(changed), *max(changed, key=lambda pair: abs(pair[2] - pair[1])))
