"""Fold entries about what just happened to the waiting pods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.panels.model.base import Models
from sandbox.panels.model.folding.eviction_log import record
from sandbox.panels.model.requeuing import UNSCHEDULABLE, Requeuing, Woken, woke
from scheduler_engine.trace import events as ev

BY_THE_CLOCK = ("BackoffComplete", "UnschedulableTimeout")


def commanded(world: Models, entry: ev.Entry, event: ev.CommandGiven) -> None:
    for scheduler in world.schedulers.values():
        scheduler.requeuing = Requeuing()


def stage_finished(world: Models, entry: ev.Entry, event: ev.StageFinished) -> None:
    scheduler = world.of(entry)
    scheduler.requeuing = scheduler.requeuing.after_stage(len(world.entries))


def moved(world: Models, entry: ev.Entry, event: ev.PodMoved) -> None:
    if event.in_place:
        return
    scheduler = world.of(entry)
    queued = scheduler.queue.get(event.pod)
    if queued is not None and queued.move.uid != event.uid:
        return  # a deleted pod of that name has left
    scheduler.requeuing.woken.pop(event.pod, None)
    if queued is None or not woke(event):
        return
    scheduler.requeuing.left.pop(event.pod, None)
    scheduler.requeuing.woken[event.pod] = Woken(len(world.entries), queued)
    if event.cause in BY_THE_CLOCK:
        record(world, entry, "clock", event)


def hinted(world: Models, entry: ev.Entry, event: ev.HintAnswered) -> None:
    scheduler = world.of(entry)
    queued = scheduler.queue.get(event.pod)
    if event.verdict == "QueueSkip" and queued is not None and queued.lane in UNSCHEDULABLE:
        scheduler.requeuing.left[event.pod] = scheduler.stayed[event.pod]


def move_requested(world: Models, entry: ev.Entry, event: ev.MoveRequested) -> None:
    world.of(entry).requeuing.checked = len(world.entries)
    noted(world, entry, event)


def noted(world: Models, entry: ev.Entry, event: ev.MoveRequested | ev.EventNoted) -> None:
    by_pod = world.of(entry).requeuing.noted
    for pod in event.in_flight:
        by_pod[pod] = len(world.entries)


APPLIERS: dict[type[ev.Event], Callable[[Models, ev.Entry, Any], None]] = {
    ev.CommandGiven: commanded,
    ev.StageFinished: stage_finished,
    ev.PodMoved: moved,
    ev.HintAnswered: hinted,
    ev.MoveRequested: move_requested,
    ev.EventNoted: noted,
}
