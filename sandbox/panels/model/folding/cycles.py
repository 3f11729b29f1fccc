"""Fold entries about scheduling cycles and snapshots into the models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.panels.model.base import Models
from sandbox.panels.model.schedulers import SchedulerState
from sandbox.panels.model.state import BINDING, Cycle, StageMark
from scheduler_engine.trace import events as ev


def started(world: Models, entry: ev.Entry, event: ev.CycleStarted) -> None:
    scheduler = world.of(entry)
    pod = world.pods.get(event.pod)
    cycle = Cycle(
        event.cycle,
        event.pod,
        event.attempt,
        event.nominated_node,
        event.profile,
        entry.at_us,
        entry.command,
        pod.pod.priority if pod else 0,
        entry.n,
        entry.n,
        replica=scheduler.replica,
        before=scheduler.started,
        configured=world.configured,
    )
    popped = scheduler.queue.get(event.pod)
    cycle.uid = popped.move.uid if popped is not None else ""
    cycle.popped = pod.pod if pod is not None and cycle.is_of(pod.pod.uid) else None
    scheduler.started = event.cycle
    world.cycles.append(cycle)
    world.by_number[event.cycle] = scheduler.cycle = cycle
    world.attempts.setdefault(event.pod, []).append(cycle)
    _acted(world, scheduler, cycle)


def _acted(world: Models, scheduler: SchedulerState, cycle: Cycle) -> None:
    world.moved_last, world.acting = cycle, scheduler.replica


def stage_finished(world: Models, entry: ev.Entry, event: ev.StageFinished) -> None:
    cycle = world.by_number.get(event.cycle)
    if cycle is None:
        return
    scheduler = world.of(entry)
    cycle.stages.append(StageMark(event.stage, event.note, event.next_stage, entry.at_us, entry.command, entry.n))
    cycle.last_entry = entry.n
    scheduler.cycle = cycle
    _acted(world, scheduler, cycle)
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
    cycle = world.by_number.get(event.cycle)
    if cycle is not None:
        cycle.filter = event


def plugins(world: Models, entry: ev.Entry, event: ev.PluginsRan) -> None:
    cycle = world.by_number.get(event.cycle)
    if cycle is not None:
        cycle.plugins[event.extension_point] = event


def _table(name: str) -> Callable[[Models, ev.Entry, Any], None]:
    """Return an applier that stores the event in the cycle's field ``name``."""

    def put(world: Models, entry: ev.Entry, event: Any) -> None:
        cycle = world.by_number.get(event.cycle)
        if cycle is not None:
            setattr(cycle, name, event)

    return put


def _append(name: str) -> Callable[[Models, ev.Entry, Any], None]:
    """Return an applier that appends the event to the cycle's list ``name``."""

    def put(world: Models, entry: ev.Entry, event: Any) -> None:
        cycle = world.by_number.get(event.cycle)
        if cycle is not None:
            getattr(cycle, name).append(event)

    return put


APPLIERS: dict[type[ev.Event], Callable[[Models, ev.Entry, Any], None]] = {
    ev.AdmissionSwitched: admission_switched,
    ev.AssumedPodsExpire: assumed_pods_expire,
    ev.NodeTreeChanged: tree,
    ev.SnapshotTaken: snapshot_taken,
    ev.CycleStarted: started,
    ev.StageFinished: stage_finished,
    ev.CycleStateWritten: _append("state"),
    ev.PreFilterRan: _table("pre_filter"),
    ev.FilterRan: filtered,
    ev.PodUnschedulable: _table("fit_error"),
    ev.PreemptionNodeTried: _append("tried"),
    ev.PreemptionLimited: _table("limited"),
    ev.PreemptionCriterionApplied: _append("ladder"),
    ev.PostFilterRan: _table("post_filter"),
    ev.PreScoreRan: _table("pre_score"),
    ev.ScoreRan: _table("score"),
    ev.NormalizeRan: _table("normalized"),
    ev.HostSelected: _table("selected"),
    ev.PluginsRan: plugins,
    ev.CycleFinished: finished,
}
