"""Fold entries about the queue, its waiting pods, nominations and faults into the models."""

from __future__ import annotations

from sandbox.panels.model.base import Appliers, Models
from sandbox.panels.model.folding.eviction_log import record
from sandbox.panels.model.requeuing import UNSCHEDULABLE, Left, Requeuing, Woken, woke
from sandbox.panels.model.schedulers import SchedulerState
from sandbox.panels.model.state import Fault, Queued
from scheduler_engine.trace import events as ev

FAILED = "ScheduleAttemptFailure"
BY_THE_CLOCK = ("BackoffComplete", "UnschedulableTimeout")


def configured(world: Models, entry: ev.Entry, event: ev.Configured) -> None:
    """Record a configuration. Faults of the old plugins end with them."""
    world.configured = event
    if entry.replica:
        world.of(entry).faults.clear()
        return
    for scheduler in world.schedulers.values():
        scheduler.faults.clear()


def commanded(world: Models, entry: ev.Entry, event: ev.CommandGiven) -> None:
    for scheduler in world.schedulers.values():
        scheduler.requeuing = Requeuing()


def stage_finished(world: Models, entry: ev.Entry, event: ev.StageFinished) -> None:
    scheduler = world.of(entry)
    scheduler.requeuing = scheduler.requeuing.after_stage(len(world.entries))


def moved(world: Models, entry: ev.Entry, event: ev.PodMoved) -> None:
    _place(world, entry, event)
    if not event.in_place:
        _wake(world, entry, event)


def _wake(world: Models, entry: ev.Entry, event: ev.PodMoved) -> None:
    """Record that the pod is woken, if this move does that."""
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


def _place(world: Models, entry: ev.Entry, event: ev.PodMoved) -> None:
    scheduler = world.of(entry)
    place = scheduler.queue.get(event.pod)
    queued = Queued(
        event.target, event, entry.at_us, event, entry.command, _cycle(world, entry), _answer(scheduler, event)
    )
    if event.in_place and place is not None:
        place.move = event
        return
    scheduler.moves.setdefault(event.pod, []).append(queued)
    if not event.target:
        scheduler.replaced.pop(event.uid, None)
    if place is not None and place.move.uid != event.uid:
        if not event.target:
            return  # the attempt of a deleted pod of that name has ended
        if place.lane == "inFlight":
            scheduler.replaced[place.move.uid] = place
    if event.target and (event.source or event.cause == FAILED):
        world.moved.append((entry.n, event))
    scheduler.noted.pop(event.pod, None)
    if event.cause != FAILED or event.target != "unschedulablePods":
        scheduler.stayed.pop(event.pod, None)  # hints about events noted in flight precede this move
    scheduler.queue.pop(event.pod, None)
    if event.target:
        scheduler.queue[event.pod] = queued
    if event.cause == FAILED:
        scheduler.requeued = event


def _cycle(world: Models, entry: ev.Entry) -> int:
    """Return the number of the cycle, of any scheduler, whose step caused this; 0 if a command or the clock did."""
    cycle = world.moved_last
    if cycle is None or not world.commands or not world.commands[-1].command.steps:
        return 0
    last = cycle.stages[-1].at_us if cycle.stages else cycle.at_us
    return cycle.number if last == entry.at_us else 0


def _answer(scheduler: SchedulerState, event: ev.PodMoved) -> ev.HintAnswered | None:
    """Return the hint that decided the move, None if no plugin did."""
    if not event.plugin:
        return None
    hints = reversed(scheduler.hints.get(event.uid, ()))
    return next((hint for hint in hints if (hint.plugin, hint.verdict) == (event.plugin, event.hint)), None)


def move_requested(world: Models, entry: ev.Entry, event: ev.MoveRequested) -> None:
    noted(world, entry, event)
    scheduler = world.of(entry)
    scheduler.requeuing.checked = len(world.entries)
    for pod in event.moved:
        scheduler.moves[pod][-1].about = event.object_key


def noted(world: Models, entry: ev.Entry, event: ev.MoveRequested | ev.EventNoted) -> None:
    scheduler = world.of(entry)
    for pod in event.in_flight:
        scheduler.noted.setdefault(pod, []).append((event.cluster_event, event.object_key))
        scheduler.requeuing.noted[pod] = len(world.entries)


def hinted(world: Models, entry: ev.Entry, event: ev.HintAnswered) -> None:
    scheduler = world.of(entry)
    # Plugins are asked about the pod that the queue holds under this name, which may be gone from the API server.
    queued = scheduler.queue.get(event.pod)
    scheduler.hints.setdefault(queued.move.uid if queued is not None else "", []).append(event)
    if event.verdict != "QueueSkip":
        return
    left = scheduler.stayed[event.pod] = Left(len(world.entries), event)
    if queued is not None and queued.lane in UNSCHEDULABLE:
        scheduler.requeuing.left[event.pod] = left


def nominated(world: Models, entry: ev.Entry, event: ev.NominationChanged) -> None:
    nominations = world.of(entry).nominations
    if event.node:
        nominations[event.pod] = event.node
    else:
        nominations.pop(event.pod, None)


def permit_wait(world: Models, entry: ev.Entry, event: ev.PermitWait) -> None:
    cycle = world.by_number.get(event.cycle)
    if cycle is not None:
        cycle.waits, cycle.waits_since_us, cycle.wait_rejected = event.waits, entry.at_us, event.rejected


def group_counted(world: Models, entry: ev.Entry, event: ev.PodGroupCounted) -> None:
    world.of(entry).groups[event.group] = event
    cycle = world.by_number.get(event.cycle)
    if cycle is not None and "Unreserve" not in cycle.plugins:
        cycle.counted = event


def fault_set(world: Models, entry: ev.Entry, event: ev.FaultSet) -> None:
    world.of(entry).faults[event.number] = Fault(event)


def fault_struck(world: Models, entry: ev.Entry, event: ev.FaultStruck) -> None:
    """Record that a fault is over, or delays a pod. A fault that a reconfiguration removed may still strike."""
    faults = world.of(entry).faults
    fault = faults.get(event.number)
    if fault is None:
        return
    if event.until_us is None:
        del faults[event.number]
    else:
        fault.pod, fault.since_us, fault.until_us = event.pod, entry.at_us, event.until_us


APPLIERS: Appliers = {
    ev.CommandGiven: commanded,
    ev.StageFinished: stage_finished,
    ev.Configured: configured,
    ev.PodMoved: moved,
    ev.MoveRequested: move_requested,
    ev.EventNoted: noted,
    ev.HintAnswered: hinted,
    ev.NominationChanged: nominated,
    ev.PodGroupCounted: group_counted,
    ev.PermitWait: permit_wait,
    ev.FaultSet: fault_set,
    ev.FaultStruck: fault_struck,
}
