"""The scheduler's counters, computed from the trace: what Kubernetes counts, when it counts it.

They are not part of the engine's state, so going back in time undoes them, too. Source: feature Q8; upstream
``metrics/metrics.go`` and the places that count (``schedule_one.go``, ``backend/queue``, ``framework/preemption``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.trace import events as ev

QUEUES = ("active", "backoff", "unschedulable", "gated")
"""Values of the label ``queue``. Gated pods enter as unschedulable and are only separated while they wait."""

QUEUE_OF_LANE = {
    "activeQ": "active",
    "backoffQ": "backoff",
    "errorBackoffQ": "backoff",
    "unschedulablePods": "unschedulable",
    "gated": "gated",
}
RESULTS = {"unschedulable": "unschedulable", "nominated": "unschedulable", "error": "error"}
"""Outcome of a failed cycle → label ``result``. The other label, ``scheduled``, is counted when Bind succeeds."""

ATTEMPTS_BUCKETS = tuple(1 << power for power in range(5))
VICTIMS_BUCKETS = tuple(1 << power for power in range(7))
SLI_BUCKETS_US = tuple(10_000 << power for power in range(20))
WAIT_BUCKETS_US = tuple(1_000 << power for power in range(15))

PREEMPTION = "DefaultPreemption"
CHANGED_POD, FROM_BACKOFF, DISCARDED = "UnschedulablePodUpdate", "PopFromBackoffQ", "Discarded"


@dataclass(slots=True)
class Histogram:
    """``counts`` per bucket of values up to and including its bound, and one more for all larger values."""

    bounds: tuple[int, ...]
    counts: list[int] = field(default_factory=list)
    total: int = 0

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)

    @property
    def count(self) -> int:
        return sum(self.counts)

    def observe(self, value: int) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


@dataclass(slots=True)
class Attempt:
    """A running cycle. Times in simulated microseconds; ``first_us``: the pod's first arrival in activeQ."""

    pod: str
    profile: str
    number: int
    first_us: int | None
    waits_since_us: int | None = None


class Counters:
    """Counters, updated by ``apply`` for each entry.

    ``incoming``: (queue, event) → pods that entered; ``pending``: queue → pods in it now; ``attempts``: (result,
    profile) → attempts; ``sli_us``: attempts label → microseconds from the first arrival in activeQ to the binding;
    ``permit_wait_us``: result → microseconds on Permit; ``first_us``: uid of a pod not yet bound → its first arrival in
    activeQ. Memory grows with the number of pods, not with the trace.
    """

    def __init__(self) -> None:
        self.incoming: dict[tuple[str, str], int] = {}
        self.pending = dict.fromkeys(QUEUES, 0)
        self.attempts: dict[tuple[str, str], int] = {}
        self.attempts_per_pod = Histogram(ATTEMPTS_BUCKETS)
        self.sli_us: dict[str, Histogram] = {}
        self.permit_wait_us: dict[str, Histogram] = {}
        self.preemption_attempts = 0
        self.victims = Histogram(VICTIMS_BUCKETS)
        self.first_us: dict[str, int] = {}
        self._queue_of: dict[str, str] = {}
        self._popped = ""
        self._cycles: dict[int, Attempt] = {}
        self._appliers: dict[type[ev.Event], Callable[[ev.Entry, Any], None]] = {
            ev.PodMoved: self._moved,
            ev.CycleStarted: self._started,
            ev.StageFinished: self._stage,
            ev.CycleFinished: self._finished,
            ev.PostFilterRan: self._post_filter,
        }

    @classmethod
    def fold(cls, entries: Iterable[ev.Entry]) -> Counters:
        counters = cls()
        for entry in entries:
            counters.apply(entry)
        return counters

    def apply(self, entry: ev.Entry) -> None:
        applier = self._appliers.get(type(entry.event))
        if applier is not None:
            applier(entry, entry.event)

    # --- queues ------------------------------------------------------------------------------------------------------

    def _moved(self, entry: ev.Entry, event: ev.PodMoved) -> None:
        pod = event.uid or event.pod
        before, after = self._queue_of.pop(pod, ""), QUEUE_OF_LANE.get(event.target, "")
        if before:
            self.pending[before] -= 1
        if after:
            self.pending[after] += 1
            self._queue_of[pod] = after
        if after == "active":
            self.first_us.setdefault(pod, entry.at_us)
        elif event.target == "inFlight":
            self._popped = pod
        elif not event.target and event.source != "inFlight":
            self.first_us.pop(pod, None)
        came_into = _came_into(event, after)
        if came_into:
            self.incoming[came_into] = self.incoming.get(came_into, 0) + 1

    # --- cycles ------------------------------------------------------------------------------------------------------

    def _started(self, entry: ev.Entry, event: ev.CycleStarted) -> None:
        pod = self._popped
        self._cycles[event.cycle] = Attempt(pod, event.profile, event.attempt, self.first_us.get(pod))

    def _stage(self, entry: ev.Entry, event: ev.StageFinished) -> None:
        attempt = self._cycles.get(event.cycle)
        if attempt is None:
            return
        if event.next_stage == "WaitOnPermit":
            attempt.waits_since_us = entry.at_us
        elif event.stage == "WaitOnPermit" and attempt.waits_since_us is not None:
            result = "Success" if event.next_stage else "Unschedulable"
            waits = self.permit_wait_us.setdefault(result, Histogram(WAIT_BUCKETS_US))
            waits.observe(entry.at_us - attempt.waits_since_us)
        elif event.stage == "Bind" and event.next_stage == "PostBind":
            self._scheduled(entry.at_us, attempt)
        if not event.next_stage:
            del self._cycles[event.cycle]
            if attempt.pod not in self._queue_of:
                self.first_us.pop(attempt.pod, None)

    def _scheduled(self, at_us: int, attempt: Attempt) -> None:
        self._count_attempt("scheduled", attempt.profile)
        self.attempts_per_pod.observe(attempt.number)
        if attempt.first_us is not None:
            label = str(attempt.number) if attempt.number < 15 else "15+"
            self.sli_us.setdefault(label, Histogram(SLI_BUCKETS_US)).observe(at_us - attempt.first_us)

    def _finished(self, entry: ev.Entry, event: ev.CycleFinished) -> None:
        attempt = self._cycles.get(event.cycle)
        if attempt is not None and event.outcome in RESULTS:
            self._count_attempt(RESULTS[event.outcome], attempt.profile)

    def _count_attempt(self, result: str, profile: str) -> None:
        self.attempts[result, profile] = self.attempts.get((result, profile), 0) + 1

    def _post_filter(self, entry: ev.Entry, event: ev.PostFilterRan) -> None:
        codes = {plugin: code for plugin, code, _ in event.verdicts}
        if PREEMPTION in codes:
            self.preemption_attempts += 1
        if codes.get(PREEMPTION) == "Success":
            self.victims.observe(len(event.victims))


def _came_into(event: ev.PodMoved, after: str) -> tuple[str, str] | None:
    """Return the (queue, event) that Kubernetes counts for this move; None if the pod enters no queue."""
    if event.source == "backoffQ" and event.cause in (FROM_BACKOFF, DISCARDED):
        return "active", FROM_BACKOFF
    updated_in_place = event.source == event.target and event.cause == CHANGED_POD
    if after in ("active", "backoff"):
        return None if updated_in_place else (after, event.cause)
    return ("unschedulable", event.cause) if after else None
