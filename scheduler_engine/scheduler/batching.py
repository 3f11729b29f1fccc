"""Opportunistic batching: a pod like the one before it takes the next node of that pod's ranking.

This is only right if the node just used can hold no other such pod: otherwise that node would have to be scored again.
Source: upstream ``framework/runtime/batch.go``.
"""

from __future__ import annotations

from collections.abc import Hashable

from scheduler_engine.api.objects import Pod
from scheduler_engine.plugins.pod_signature import signature
from scheduler_engine.scheduler.counted import BATCH_ATTEMPTS, BATCH_FLUSHED
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.parts import SchedulerParts
from scheduler_engine.scheduler.ranking import Batch, Ranking
from scheduler_engine.trace.events import RankingAsked

MAX_AGE_US = 500_000


def ask_for_hint(scheduler: SchedulerParts, cycle: Cycle) -> None:
    """Set the signature of the pod, and its hint: the node to try first."""
    if not cycle.rules.reuses_rankings:
        return
    signed = cycle.info.signed or cycle.pod
    cycle.sign = _signature(cycle, signed)
    profile = cycle.framework.profile_name
    batch = scheduler.batches.get(profile)
    if batch is None or not batch.ranking:
        scheduler.count(BATCH_ATTEMPTS, profile, "no_hint")
        return
    why_not = _unusable(scheduler, cycle, batch)
    if why_not:
        scheduler.count(BATCH_FLUSHED, profile, why_not)
        scheduler.count(BATCH_ATTEMPTS, profile, "no_hint")
    else:
        cycle.hint = batch.ranking.pop()
    asked = cycle.number, cycle.pod.key, batch.cycle, batch.pod, cycle.hint, why_not, len(batch.ranking)
    outdated = signed is not cycle.pod and cycle.sign != _signature(cycle, cycle.pod)
    scheduler.recorder.add(RankingAsked(*asked, outdated=outdated))


def _signature(cycle: Cycle, pod: Pod) -> Hashable | None:
    """Return the signature of a pod; extenders read of it what they like, so with these there is none."""
    return None if cycle.framework.handle.extenders else signature(cycle.framework.points, pod)


def _unusable(scheduler: SchedulerParts, cycle: Cycle, batch: Batch) -> str:
    """Return why the ranking cannot be used, "" if it can."""
    if scheduler.queue.scheduling_cycle != batch.popped + 1:
        return "pod_skipped"
    if cycle.sign is None or cycle.sign != batch.sign:
        return "pod_incompatible"
    if scheduler.timeline.now_us > batch.created_us + MAX_AGE_US:
        return "expired"
    last = scheduler.snapshot.get(batch.node)
    if last is None:
        return "node_missing"
    status = cycle.framework.run_filter_plugins(cycle.state, cycle.pod, last)
    return "" if status is not None and status.is_rejected else "node_not_full"


def remember(scheduler: SchedulerParts, cycle: Cycle) -> None:
    """Remember the chosen node, and the other nodes if they may serve the next pod.

    What a cycle finds out by an earlier configuration goes with that: later pods are ranked by the present one.
    """
    profile = cycle.framework.profile_name
    if not cycle.rules.reuses_rankings or scheduler.profiles.get(profile) is not cycle.framework:
        return
    batch = scheduler.batches.setdefault(profile, Batch())
    batch.popped, batch.node = scheduler.queue.scheduling_cycle, cycle.host
    if cycle.hint:
        scheduler.count(BATCH_ATTEMPTS, profile, "hint_used" if cycle.hint == cycle.host else "hint_not_used")
    if cycle.hint == cycle.host:
        return
    batch.ranking, batch.sign = None, None
    others = _others(cycle) if cycle.sign is not None else None
    if others:
        batch.ranking, batch.sign = others, cycle.sign
        batch.cycle, batch.pod, batch.created_us = cycle.number, cycle.pod.key, scheduler.timeline.now_us
    else:
        assert cycle.search is not None
        alone = len(cycle.search.feasible) < 2
        scheduler.count(BATCH_FLUSHED, profile, "empty_list" if alone else "pod_not_batchable")


def _others(cycle: Cycle) -> Ranking | None:
    """Return the ranking without the chosen node; None if no other node is feasible."""
    assert cycle.search is not None
    feasible = cycle.search.feasible
    if len(feasible) < 2:
        return None
    totals = [0] * len(feasible) if cycle.totals is None else cycle.totals.numbers.tolist()
    ranking = Ranking(list(zip(totals, (info.name for info in feasible), strict=True)))
    chosen = ranking.pop()
    assert chosen == cycle.host, f"the ranking begins with {chosen}, not with {cycle.host}"
    return ranking
