"""Turn facts of a run into expectations, singly or all at once.

``FACTS`` is what a page can offer as "expect this". The results hold for the run that they were made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.errors import Rejected
from scheduler_engine.queue.lanes import BACKOFF_Q, ERROR_BACKOFF_Q
from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.scenario.expectations.attempts import COLUMNS
from scheduler_engine.scenario.expectations.queues import backoff, lane_of, nominated
from scheduler_engine.shapes import Data, did_you_mean
from scheduler_engine.simulation import Simulation
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.words import say

PLACEMENTS, QUEUES, VERDICTS = STRICTNESS = ("placements", "queues", "verdicts")
"""How much of a run is expected: where pods are; also where they wait, messages, nominations and victims; also the
results of the last attempt for each pod on each node.
"""


@dataclass(frozen=True, slots=True)
class About:
    """The subject of a fact; which fields count depends on the fact. Without ``attempt`` and ``cycle``, the pod's last
    attempt; with both, the number of the attempt is enough if no other attempt has it.
    """

    pod: str = ""
    node: str = ""
    plugin: str = ""
    attempt: int | None = None
    cycle: int | None = None

    @property
    def is_last(self) -> bool:
        """Return True if no attempt was requested."""
        return self.attempt is None and self.cycle is None

    def attempt_in(self, run: RunView) -> Attempt | None:
        return run.attempt(self.pod, self.attempt, self.cycle)

    def named(self, run: RunView, expectation: Data) -> Data:
        """Return the expectation, with the attempt if one was requested."""
        if self.attempt is not None and len(run.meant(self.pod, self.attempt)) == 1:
            return {**expectation, "attempt": self.attempt}
        return expectation if self.cycle is None else {**expectation, "cycle": self.cycle}


def placement(run: RunView, about: About) -> Data | None:
    pod = run.simulation.api.pod(about.pod)
    if pod is None:
        return {"gone": about.pod}
    if not pod.node_name:
        return {"pod": about.pod, "pending": True}
    equal = _drawn_from(run, pod)
    return {"pod": about.pod, "nodes": equal} if equal else {"pod": about.pod, "node": pod.node_name}


def _drawn_from(run: RunView, pod: Pod) -> list[str]:
    """Return the equal nodes from which the pod's node was drawn; [] if it was not, or the trace is lean.

    The node itself is an accident of the seed.
    """
    attempt = run.attempt(pod.key)
    selected = attempt.selected if attempt is not None and attempt.uid == pod.uid else None
    if selected is None or selected.how != "draw" or selected.node != pod.node_name:
        return []
    return [*selected.ties]


def phase(run: RunView, about: About) -> Data | None:
    pod = run.simulation.api.pod(about.pod)
    return None if pod is None else {"pod": about.pod, "phase": pod.phase, "terminating": pod.terminating}


def lane(run: RunView, about: About) -> Data | None:
    fact: Data = {"waits": about.pod, "in": lane_of(run, about.pod)}
    waits = backoff(run, about.pod) if fact["in"] in (BACKOFF_Q, ERROR_BACKOFF_Q) else None
    return fact if waits is None else {**fact, "seconds": _number(waits[0])}


def nomination(run: RunView, about: About) -> Data | None:
    return {"nomination": about.pod, "node": nominated(run, about.pod)}


def failure(run: RunView, about: About) -> Data | None:
    attempt = about.attempt_in(run)
    if attempt is None or attempt.finished is None or not attempt.failed:
        return None
    return about.named(run, {"failed": about.pod, "outcome": attempt.outcome, "message": attempt.finished.message})


def victims(run: RunView, about: About) -> Data | None:
    attempt = run.preempting(about.pod) if about.is_last else about.attempt_in(run)
    if attempt is None or attempt.post_filter is None:
        return None
    fact = {
        "victims": about.pod,
        "are": [*attempt.post_filter.victims],
        "node": attempt.post_filter.nominated_node,
        "rung": attempt.rung,
    }
    return about.named(run, fact)


def verdict(run: RunView, about: About) -> Data | None:
    attempt = about.attempt_in(run)
    if attempt is None:
        return None
    result = attempt.verdict(about.node)
    head: Data = {"verdict": about.pod, "node": about.node}
    if result is None:
        return about.named(run, {**head, "visited": False})
    plugin, _, reasons = result
    outcome = {"plugin": plugin, "reasons": [*reasons]} if plugin else {"passes": True}
    return about.named(run, {**head, **outcome})


def score(run: RunView, about: About) -> Data | None:
    attempt = about.attempt_in(run)
    columns = attempt.scores(about.node).get(about.plugin) if attempt else None
    if columns is None:
        return None
    scores = {column: columns[column] for column in COLUMNS if column in columns}
    return about.named(run, {"score": about.pod, "node": about.node, "plugin": about.plugin, **scores})


def total(run: RunView, about: About) -> Data | None:
    attempt = about.attempt_in(run)
    if attempt is None or about.node not in attempt.totals:
        return None
    return about.named(run, {"score": about.pod, "node": about.node, "total": attempt.totals[about.node]})


def winner(run: RunView, about: About) -> Data | None:
    attempt = about.attempt_in(run)
    if attempt is None or attempt.selected is None:
        return None
    selected = attempt.selected
    # Which of equal nodes was drawn is an accident of the seed. A lean trace does not name them.
    drawn = selected.how == "draw" and selected.ties
    where: Data = {"how": "draw", "among": [*selected.ties]} if drawn else {"node": selected.node, "how": selected.how}
    fact: Data = {"winner": about.pod, **where}
    fact |= {"margin": attempt.margin} if attempt.margin is not None else {}
    return about.named(run, fact)


def evictions(run: RunView, about: About) -> Data | None:
    answers = [event.code for event in run.evictions.get(about.pod, ())]
    return {"evictions": about.pod, "answers": answers} if answers else None


def leader(run: RunView, about: About) -> Data | None:
    names = [replica.name for replica in run.simulation.replicas.leaders()]
    return {"leader": names[0] if len(names) == 1 else names}


def clock(run: RunView, about: About) -> Data | None:
    return {"clock": _number(run.simulation.now_us / SECOND_US)}


def _number(value: float) -> float:
    return int(value) if value == int(value) else value


FACTS: dict[str, Callable[[RunView, About], Data | None]] = {
    "placement": placement,
    "phase": phase,
    "lane": lane,
    "nomination": nomination,
    "failure": failure,
    "victims": victims,
    "verdict": verdict,
    "score": score,
    "total": total,
    "winner": winner,
    "evictions": evictions,
    "leader": leader,
    "clock": clock,
}
"""Fact → the expectation that it stays as it is now; None: there is no such fact."""


def expectation_of(simulation: Simulation | RunView, fact: str, **about: Any) -> Data | None:
    """Return one fact as an expectation; ``about``: the fields of ``About`` that it needs. None without such a fact, as
    the score of a refused node. Raises Rejected for an unknown fact.
    """
    if fact not in FACTS:
        raise Rejected(say("scenario-errors.unknown-fact", fact=repr(fact)) + did_you_mean(fact, FACTS))
    return FACTS[fact](simulation if isinstance(simulation, RunView) else RunView(simulation), About(**about))


def expect_everything(simulation: Simulation, strictness: str = QUEUES) -> list[Data]:
    """Return expectations that hold now, pod by pod in order of creation: a run of the same commands must reproduce
    them all. ``strictness``: one of ``STRICTNESS``. Raises Rejected.
    """
    if strictness not in STRICTNESS:
        raise Rejected(
            say("scenario-errors.unknown-strictness", strictness=repr(strictness), known=", ".join(STRICTNESS))
        )
    run = RunView(simulation)
    facts: list[Data | None] = []
    for pod in simulation.api.pods():
        about = About(pod.key)
        facts.append(placement(run, about))
        if strictness != PLACEMENTS:
            facts += _queued(run, about, bool(pod.node_name))
        if strictness == VERDICTS:
            facts += _decided(run, about)
    if strictness != PLACEMENTS and [replica.name for replica in simulation.replicas.leaders()] != [""]:
        facts.append(leader(run, About()))
    return [item for item in facts if item is not None]


def _queued(run: RunView, about: About, placed: bool) -> Iterator[Data | None]:
    """Yield where a pod waits, and why, and its victims, if any."""
    preempted = victims(run, about)
    if preempted is not None and preempted["are"]:
        yield preempted
    yield evictions(run, about)
    if placed:
        return
    yield lane(run, about)
    yield failure(run, about)
    kept = nomination(run, about)
    if kept is not None and kept["node"]:
        yield kept


def _decided(run: RunView, about: About) -> Iterator[Data | None]:
    """Yield the results of the last attempt for a pod."""
    attempt = run.attempt(about.pod)
    if attempt is None:
        return
    for node in _nodes(attempt):
        at = About(about.pod, node)
        yield verdict(run, at)
        for plugin in attempt.scores(node):
            yield score(run, About(about.pod, node, plugin))
        yield total(run, at)
    yield winner(run, about)


def _nodes(attempt: Attempt) -> list[str]:
    """Return the visited nodes, in the order of the search."""
    return [row[0] for row in attempt.filter.looked_at] if attempt.filter else []
