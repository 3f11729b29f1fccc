"""Turn facts of a run into expectations, singly or all at once.

``FACTS`` is what a page can offer as "expect this". The results hold for the run that they were made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from scheduler_engine.errors import Rejected
from scheduler_engine.queue.lanes import BACKOFF_Q, ERROR_BACKOFF_Q
from scheduler_engine.scenario.attempts import Attempt, Seen
from scheduler_engine.scenario.expectations.attempts import COLUMNS
from scheduler_engine.scenario.expectations.queues import backoff, lane_of, nominated
from scheduler_engine.shapes import Data, did_you_mean
from scheduler_engine.simulation import Simulation
from scheduler_engine.timeline import SECOND_US

PLACEMENTS, QUEUES, VERDICTS = STRICTNESS = ("placements", "queues", "verdicts")
"""How much of a run is expected: where pods are; also where they wait, messages, nominations and victims; also the
results of the last attempt at each pod on each node.
"""


@dataclass(frozen=True, slots=True)
class About:
    """The subject of a fact; which fields count depends on the fact. ``attempt``: None = the last one."""

    pod: str = ""
    node: str = ""
    plugin: str = ""
    attempt: int | None = None

    def named(self, expectation: Data) -> Data:
        """Return the expectation, with the attempt if one was requested."""
        return expectation if self.attempt is None else {**expectation, "attempt": self.attempt}


def placement(seen: Seen, about: About) -> Data | None:
    pod = seen.simulation.api.pod(about.pod)
    if pod is None:
        return {"gone": about.pod}
    return {"pod": about.pod, "node": pod.node_name} if pod.node_name else {"pod": about.pod, "pending": True}


def phase(seen: Seen, about: About) -> Data | None:
    pod = seen.simulation.api.pod(about.pod)
    return None if pod is None else {"pod": about.pod, "phase": pod.phase, "terminating": pod.terminating}


def lane(seen: Seen, about: About) -> Data | None:
    found: Data = {"waits": about.pod, "in": lane_of(seen, about.pod)}
    waits = backoff(seen, about.pod) if found["in"] in (BACKOFF_Q, ERROR_BACKOFF_Q) else None
    return found if waits is None else {**found, "seconds": _number(waits[0])}


def nomination(seen: Seen, about: About) -> Data | None:
    return {"nomination": about.pod, "node": nominated(seen, about.pod)}


def failure(seen: Seen, about: About) -> Data | None:
    attempt = seen.attempt(about.pod, about.attempt)
    if attempt is None or attempt.finished is None or not attempt.failed:
        return None
    return about.named({"failed": about.pod, "outcome": attempt.outcome, "message": attempt.finished.message})


def victims(seen: Seen, about: About) -> Data | None:
    made = [item for item in seen.attempts.get(about.pod, ()) if about.attempt in (None, item.number)]
    tried = [item for item in made if item.post_filter is not None]
    if not tried or (about.attempt is not None and tried[-1] is not made[-1]):
        return None
    found = tried[-1].post_filter
    assert found is not None
    told = {"victims": about.pod, "are": [*found.victims], "node": found.nominated_node, "rung": tried[-1].rung}
    return about.named(told)


def verdict(seen: Seen, about: About) -> Data | None:
    attempt = seen.attempt(about.pod, about.attempt)
    if attempt is None:
        return None
    found = attempt.verdict(about.node)
    head: Data = {"verdict": about.pod, "node": about.node}
    if found is None:
        return about.named({**head, "visited": False})
    plugin, _, reasons = found
    told = {"plugin": plugin, "reasons": [*reasons]} if plugin else {"passes": True}
    return about.named({**head, **told})


def score(seen: Seen, about: About) -> Data | None:
    attempt = seen.attempt(about.pod, about.attempt)
    found = attempt.scores(about.node).get(about.plugin) if attempt else None
    if found is None:
        return None
    told = {column: found[column] for column in COLUMNS if column in found}
    return about.named({"score": about.pod, "node": about.node, "plugin": about.plugin, **told})


def total(seen: Seen, about: About) -> Data | None:
    attempt = seen.attempt(about.pod, about.attempt)
    if attempt is None or about.node not in attempt.totals:
        return None
    return about.named({"score": about.pod, "node": about.node, "total": attempt.totals[about.node]})


def winner(seen: Seen, about: About) -> Data | None:
    attempt = seen.attempt(about.pod, about.attempt)
    if attempt is None or attempt.selected is None:
        return None
    found = attempt.selected
    told: Data = {"winner": about.pod, "node": found.node, "how": found.how}
    told |= {"among": [*found.ties]} if found.how == "draw" else {}
    told |= {"margin": attempt.margin} if attempt.margin is not None else {}
    return about.named(told)


def evictions(seen: Seen, about: About) -> Data | None:
    found = [event.code for event in seen.evictions.get(about.pod, ())]
    return {"evictions": about.pod, "answers": found} if found else None


def leader(seen: Seen, about: About) -> Data | None:
    names = [replica.name for replica in seen.simulation.replicas.leaders()]
    return {"leader": names[0] if len(names) == 1 else names}


def clock(seen: Seen, about: About) -> Data | None:
    return {"clock": _number(seen.simulation.now_us / SECOND_US)}


def _number(value: float) -> float:
    return int(value) if value == int(value) else value


FACTS: dict[str, Callable[[Seen, About], Data | None]] = {
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


def expectation_of(simulation: Simulation | Seen, fact: str, **about: Any) -> Data | None:
    """Return one fact as an expectation; ``about``: the fields of ``About`` that it needs. None without such a fact, as
    the score of a refused node. Raises Rejected for an unknown fact.
    """
    if fact not in FACTS:
        raise Rejected(f"unknown fact {fact!r}{did_you_mean(fact, FACTS)}")
    return FACTS[fact](simulation if isinstance(simulation, Seen) else Seen(simulation), About(**about))


def expect_everything(simulation: Simulation, strictness: str = QUEUES) -> list[Data]:
    """Return expectations that hold now, pod by pod in order of creation: a run of the same commands must reproduce
    them all. ``strictness``: one of ``STRICTNESS``. Raises Rejected.
    """
    if strictness not in STRICTNESS:
        raise Rejected(f"unknown strictness {strictness!r}; use one of {', '.join(STRICTNESS)}")
    seen = Seen(simulation)
    found: list[Data | None] = []
    for pod in simulation.api.pods():
        about = About(pod.key)
        found.append(placement(seen, about))
        if strictness != PLACEMENTS:
            found += _queued(seen, about, bool(pod.node_name))
        if strictness == VERDICTS:
            found += _decided(seen, about)
    if strictness != PLACEMENTS and [replica.name for replica in simulation.replicas.leaders()] != [""]:
        found.append(leader(seen, About()))
    return [item for item in found if item is not None]


def _queued(seen: Seen, about: About, placed: bool) -> Iterator[Data | None]:
    """Yield where a pod waits, and why, and its victims, if any."""
    preempted = victims(seen, about)
    if preempted is not None and preempted["are"]:
        yield preempted
    yield evictions(seen, about)
    if placed:
        return
    yield lane(seen, about)
    yield failure(seen, about)
    kept = nomination(seen, about)
    if kept is not None and kept["node"]:
        yield kept


def _decided(seen: Seen, about: About) -> Iterator[Data | None]:
    """Yield the results of the last attempt at a pod."""
    attempt = seen.attempt(about.pod)
    if attempt is None:
        return
    for node in _nodes(attempt):
        at = About(about.pod, node)
        yield verdict(seen, at)
        for plugin in attempt.scores(node):
            yield score(seen, About(about.pod, node, plugin))
        yield total(seen, at)
    yield winner(seen, about)


def _nodes(attempt: Attempt) -> list[str]:
    """Return the visited nodes, in the order of the search."""
    return [row[0] for row in attempt.filter.looked_at] if attempt.filter else []
