"""Compare two runs: where they differ first and why, where pods end, and how evenly the clusters are used.

The result is data. ``cli/comparison.py`` has words for it. Source: capabilities X2 and X9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from scheduler_engine.answers.balance import PODS, Balance, balance_of, frequent_shape
from scheduler_engine.answers.exercised import RuleUse, rule_uses
from scheduler_engine.answers.looking import is_pending
from scheduler_engine.answers.parting import Parting, partings
from scheduler_engine.api.objects import Pod
from scheduler_engine.simulation import Simulation
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace import events as ev

SHARE, SECONDS, COUNT = ("share", "seconds", "count")
Number = int | float | None


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a pod is in both runs: its node, "" = without a node, None = there is no such pod."""

    pod: str
    first: str | None
    second: str | None


@dataclass(frozen=True, slots=True)
class Evicted:
    """A pod that was evicted. ``how``: ``preemption`` by the pod ``by``, ``drain`` of the node ``by``, ``eviction``
    (somebody asked the Eviction API), ``kubelet`` on the node ``by``, or ``taint``, which ``by`` is.
    """

    victim: str
    how: str
    by: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A pod without a node at the end. ``reason`` and ``message`` of its condition PodScheduled; "" = not yet tried."""

    pod: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Side:
    """One run at its end. ``places``: pod → node, "" = without, in order of creation."""

    places: dict[str, str]
    evictions: tuple[Evicted, ...]
    pending: tuple[Waiting, ...]
    balance: Balance


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. ``name`` with ``about`` (a resource, a zone, a constraint) identifies it. ``value``: a share of 1,
    simulated seconds or a count, by ``unit``; None = there is none.
    """

    name: str
    about: tuple[str, ...]
    unit: str
    value: Number

    @property
    def identity(self) -> tuple[str, ...]:
        return self.name, *self.about


@dataclass(frozen=True, slots=True)
class FigurePair:
    """A figure in both runs; None = the run has none."""

    name: str
    about: tuple[str, ...]
    unit: str
    first: Number
    second: Number


@dataclass(frozen=True, slots=True)
class Comparison:
    """``parting``: the first attempt that differs; ``decisive``: the first one with another outcome. ``rules``: those
    that differ between the versions of the runs, and which of them the runs came across.
    """

    parting: Parting | None
    decisive: Parting | None
    placements: tuple[Placement, ...]
    figures: tuple[FigurePair, ...]
    first: Side
    second: Side
    rules: tuple[RuleUse, ...] = ()

    @property
    def later_decision(self) -> Parting | None:
        """Return the first attempt with another outcome, if it comes after the first that differs; without the
        settings that the first one has shown already.
        """
        first, decisive = self.parting, self.decisive
        if decisive is None or decisive == first:
            return None
        is_known = first is not None and (decisive.changes, decisive.settings) == (first.changes, first.settings)
        return replace(decisive, changes=(), settings=()) if is_known else decisive

    @property
    def used_figures(self) -> tuple[FigurePair, ...]:
        """Return the figures without those of resources that no pod requests."""
        shares = (pair for pair in self.figures if pair.name == "utilisation")
        unused = {pair.about[0]: None for pair in shares if not pair.first and not pair.second}
        return tuple(pair for pair in self.figures if not pair.about or pair.about[0] not in unused)

    @property
    def counted_pod(self) -> str:
        """Return the key of the pod whose copies the figure ``room`` counts, "" = there is none."""
        room = self.first.balance.copies_left or self.second.balance.copies_left
        return room.pod if room is not None else ""

    @property
    def only_evictions(self) -> tuple[tuple[Evicted, ...], tuple[Evicted, ...]]:
        """Return the evictions that only the first run has, and those that only the second has."""
        mine, theirs = Counter(self.first.evictions), Counter(self.second.evictions)
        return tuple((mine - theirs).elements()), tuple((theirs - mine).elements())

    @property
    def waiting(self) -> tuple[tuple[str, Waiting | None, Waiting | None], ...]:
        """Return (pod, why it waits in the first run, and in the second; None: it does not)."""
        mine, theirs = ({item.pod: item for item in side.pending} for side in (self.first, self.second))
        return tuple((pod, mine.get(pod), theirs.get(pod)) for pod in {**mine, **theirs})

    @property
    def decides_alike(self) -> bool:
        """Return True if every attempt of one run has the same outcome in the other, and no pod ends elsewhere."""
        return self.decisive is None and not self.placements and not any(self.only_evictions)

    @property
    def differs(self) -> bool:
        """Return True if an attempt, a place, a figure, an eviction or a reason to wait differs.

        The order of nodes and pods in the API server does not count.
        """
        first, second = self.first, self.second
        return (
            self.parting is not None
            or bool(self.placements)
            or any(figure.first != figure.second for figure in self.figures)
            or any(self.only_evictions)
            or Counter(first.pending) != Counter(second.pending)
        )


def compare(first: Simulation, second: Simulation) -> Comparison:
    """Compare two simulations with full traces at their present moments: of two scenarios, configurations or seeds, or
    two positions of one run. Pods are matched by key, their attempts by number. Changes nothing.
    """
    shape = frequent_shape(first, second)
    sides = side_of(first, shape), side_of(second, shape)
    parting = decisive = None
    for item in partings(first, second):
        parting = parting or item
        if item.decides:
            decisive = item
            break
    return Comparison(parting, decisive, placements_of(*sides), paired(*sides), *sides, rule_uses(first, second))


def side_of(simulation: Simulation, shape: Pod | None) -> Side:
    """Return one side. ``shape``: the pod to count copies of. The trace may be lean."""
    pods = simulation.api.pods()
    return Side(
        {pod.key: pod.node_name for pod in pods},
        tuple(evictions_in(simulation.recorder.entries)),
        tuple(_waiting(pod) for pod in pods if is_pending(pod)),
        balance_of(simulation, shape),
    )


def placements_of(first: Side, second: Side) -> tuple[Placement, ...]:
    """Return the pods that are placed differently, in order of creation."""
    mine, theirs = first.places, second.places
    return tuple(
        Placement(pod, mine.get(pod), theirs.get(pod)) for pod in {**mine, **theirs} if mine.get(pod) != theirs.get(pod)
    )


def _waiting(pod: Pod) -> Waiting:
    condition = pod.condition("PodScheduled") or {}
    return Waiting(pod.key, condition.get("reason", ""), condition.get("message", ""))


# --- evictions --------------------------------------------------------------------------------------------------------


def evictions_in(entries: Iterable[ev.Entry]) -> Iterator[Evicted]:
    """Yield the evictions of a trace in order. A pod that two things evict at once is in two of them."""
    pods: dict[int, str] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, ev.CycleStarted):
            pods[event.cycle] = event.pod
        elif isinstance(event, ev.PostFilterRan):
            spared = dict(event.not_deleted)
            yield from (Evicted(pod, "preemption", pods[event.cycle]) for pod in event.victims if pod not in spared)
        elif type(event) in EVICTIONS:
            yield from EVICTIONS[type(event)](event)


def _answered(event: ev.EvictionAnswered) -> Iterator[Evicted]:
    if event.code == 200 and not event.late:
        yield Evicted(event.pod, "drain" if event.asked_by else "eviction", event.asked_by)


def _by_kubelet(event: ev.PodEvicted) -> Iterator[Evicted]:
    yield Evicted(event.pod, "kubelet", event.node)


def _by_taint(event: ev.EventRecorded) -> Iterator[Evicted]:
    if event.reason == "TaintManagerEviction" and event.message == f"Marking for deletion Pod {event.regarding}":
        yield Evicted(event.regarding, "taint", event.cause)


EVICTIONS: dict[type[ev.Event], Callable[[Any], Iterator[Evicted]]] = {
    ev.EvictionAnswered: _answered,
    ev.PodEvicted: _by_kubelet,
    ev.EventRecorded: _by_taint,
}
"""Trace event → the evictions that it reports. Those of preemption also need the pod of the cycle."""


# --- figures ----------------------------------------------------------------------------------------------------------


def figures_of(side: Side) -> Iterator[Figure]:
    """Yield all figures of a side, in the order of the table."""
    balance = side.balance
    yield Figure("with-node", (), COUNT, sum(bool(node) for node in side.places.values()))
    yield Figure("pending", (), COUNT, len(side.pending))
    yield Figure("evictions", (), COUNT, len(side.evictions))
    waits = balance.waits
    times_us = (waits.median_us, waits.p95_us, waits.longest_us) if waits is not None else (None, None, None)
    for name, time_us in zip(("wait-median", "wait-p95", "wait-longest"), times_us, strict=True):
        yield Figure(name, (), SECONDS, None if time_us is None else time_us / SECOND_US)
    for use in balance.resources:
        about = (use.resource,)
        yield Figure("utilisation", about, SHARE, use.whole.share)
        yield Figure("fullest", about, SHARE, use.fullest.share)
        yield Figure("emptiest", about, SHARE, use.emptiest.share)
        yield Figure("deviation", about, SHARE, use.deviation)
        for zone in use.zones if len(use.zones) > 1 else ():
            yield Figure("zone", (use.resource, zone.name), SHARE, zone.share)
        if use.resource != PODS:
            yield Figure("largest-piece", about, SHARE, use.largest_piece)
    if balance.copies_left is not None:
        yield Figure("room", (), COUNT, balance.copies_left.copies)
    for skew in balance.skews:
        yield Figure("skew", skew.identity, COUNT, skew.skew)


def paired(first: Side, second: Side) -> tuple[FigurePair, ...]:
    """Return the figures of both sides in the order of the first; those of the second alone come where it has them."""
    mine = {figure.identity: figure for figure in figures_of(first)}
    theirs = {figure.identity: figure for figure in figures_of(second)}
    following: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    last: tuple[str, ...] = ()
    for identity in theirs:
        if identity in mine:
            last = identity
        else:
            following.setdefault(last, []).append(identity)
    order = [known for identity in ((), *mine) for known in (identity, *following.get(identity, ())) if known]
    figures = {**theirs, **mine}
    return tuple(
        FigurePair(
            figures[key].name, figures[key].about, figures[key].unit, _value(mine.get(key)), _value(theirs.get(key))
        )
        for key in order
    )


def _value(figure: Figure | None) -> Number:
    return None if figure is None else figure.value
