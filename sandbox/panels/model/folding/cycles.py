"""Fold entries about scheduling cycles and snapshots into the models."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.base import Appliers, Models
from sandbox.panels.model.state import BINDING, Cycle, StageMark
from scheduler_engine.trace import events as ev


def started(world: Models, entry: ev.Entry, event: ev.CycleStarted) -> None:
    scheduler = world.of(entry)
    pod = world.pods.get(event.pod)
    about = event.cycle, event.pod, event.attempt, event.nominated_node, event.profile
    cycle = Cycle(*about, entry.at_us, entry.command, pod.pod.priority if pod else 0, entry.n, entry.n)
    cycle.replica, cycle.before, cycle.configured = scheduler.replica, scheduler.started, world.configured
    popped = scheduler.queue.get(event.pod)
    cycle.uid = popped.move.uid if popped is not None else ""
    cycle.popped = pod.pod if pod is not None and cycle.is_of(pod.pod.uid) else None
    scheduler.started = event.cycle
    world.cycles.append(cycle)
    world.by_number[event.cycle] = scheduler.cycle = cycle
    world.attempts.setdefault(event.pod, []).append(cycle)
    world.moved_last, world.acting = cycle, scheduler.replica


def stage_finished(world: Models, entry: ev.Entry, event: ev.StageFinished) -> None:
    cycle = world.by_number.get(event.cycle)
    if cycle is None:
        return
    scheduler = world.of(entry)
    cycle.stages.append(StageMark(event.stage, event.note, event.next_stage, entry.at_us, entry.command, entry.n))
    cycle.last_entry = entry.n
    scheduler.cycle = cycle
    world.moved_last, world.acting = cycle, scheduler.replica
    if event.stage == "WaitOnPermit":
        cycle.waits = ()
    if event.next_stage in BINDING:
        scheduler.binding[cycle.number] = cycle
    else:
        scheduler.binding.pop(cycle.number, None)


def finished(world: Models, entry: ev.Entry, event: ev.CycleFinished) -> None:
    cycle = world.by_number.get(event.cycle)
    if cycle is not None:
        cycle.outcome, cycle.node, cycle.message = event.outcome, event.node, event.message
        cycle.ended_us, cycle.last_entry = entry.at_us, entry.n
        pod = world.pods.get(cycle.pod)
        cycle.taken = bool(cycle.uid) and pod is not None and pod.pod.uid != cycle.uid
        scheduler = world.of(entry)
        requeued, scheduler.requeued = scheduler.requeued, None
        cycle.requeued = requeued if requeued is not None and cycle.is_of(requeued.uid) else None


def snapshot_taken(world: Models, entry: ev.Entry, event: ev.SnapshotTaken) -> None:
    cache = world.of(entry).cache
    cache.snapshot_taken(event)
    cycle = world.by_number.get(event.cycle)
    if cycle is not None:
        cycle.snapshot, cycle.lists = event, cache.lists


def tree(world: Models, entry: ev.Entry, event: ev.NodeTreeChanged) -> None:
    world.of(entry).cache.tree_changed(event)


def assumed_pods_expire(world: Models, entry: ev.Entry, event: ev.AssumedPodsExpire) -> None:
    world.assumed_ttl_us = event.ttl_us


def admission_switched(world: Models, entry: ev.Entry, event: ev.AdmissionSwitched) -> None:
    others = tuple(name for name in world.admission_plugins if name != event.plugin)
    world.admission_plugins = (*others, event.plugin) if event.enabled else others


def filtered(world: Models, entry: ev.Entry, event: ev.FilterRan) -> None:
    world.of(entry).next_start = event.next_start_index
    ran(world, entry, event)


def plugins(world: Models, entry: ev.Entry, event: ev.PluginsRan) -> None:
    cycle = world.by_number.get(event.cycle)
    if cycle is not None:
        cycle.plugins[event.extension_point] = event


def ran(world: Models, entry: ev.Entry, event: Any) -> None:
    """Store an event in its field of the cycle, or append it to the list there."""
    cycle, name = world.by_number.get(event.cycle), FIELDS[type(event)]
    if cycle is None:
        return
    if isinstance(before := getattr(cycle, name), list):
        before.append(event)
    else:
        setattr(cycle, name, event)


FIELDS: dict[type[ev.Event], str] = {
    ev.CycleStateWritten: "state",
    ev.ExtenderAsked: "asked",
    ev.PreFilterRan: "pre_filter",
    ev.FilterRan: "filter",
    ev.PodUnschedulable: "fit_error",
    ev.PreemptionNodeTried: "tried",
    ev.PreemptionLimited: "limited",
    ev.PreemptionCriterionApplied: "ladder",
    ev.PostFilterRan: "post_filter",
    ev.PreScoreRan: "pre_score",
    ev.ScoreRan: "score",
    ev.NormalizeRan: "normalized",
    ev.HostSelected: "selected",
}
"""Event → the field of the cycle that holds it, or all of its kind."""
APPLIERS: Appliers = {
    **dict.fromkeys(FIELDS, ran),
    ev.AdmissionSwitched: admission_switched,
    ev.AssumedPodsExpire: assumed_pods_expire,
    ev.NodeTreeChanged: tree,
    ev.SnapshotTaken: snapshot_taken,
    ev.CycleStarted: started,
    ev.StageFinished: stage_finished,
    ev.FilterRan: filtered,
    ev.PluginsRan: plugins,
    ev.CycleFinished: finished,
}
