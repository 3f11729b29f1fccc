"""How the entries about the queue, the binding cycles and faults change the models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.panels.model.base import Models
from sandbox.panels.model.requeuing import Left
from sandbox.panels.model.schedulers import SchedulerState
from sandbox.panels.model.state import Fault, Queued
from scheduler_engine.trace import events as ev

FAILED = "ScheduleAttemptFailure"


def configured(world: Models, entry: ev.Entry, event: ev.Configured) -> None:
    """Other plugins come without the faults of the old ones."""
    world.configured = event
    if entry.replica:
        world.of(entry).faults.clear()
        return
    for scheduler in world.schedulers.values():
        scheduler.faults.clear()


def moved(world: Models, entry: ev.Entry, event: ev.PodMoved) -> None:
    mine = world.of(entry)
    known = mine.queue.get(event.pod)
    queued = Queued(event.target, event, entry.at_us, event, entry.command, _cycle(world, entry), _answer(mine, event))
    if event.in_place and known is not None:
        known.move = event
        return
    mine.moves.setdefault(event.pod, []).append(queued)
    if not event.target:
        mine.replaced.pop(event.uid, None)
    if known is not None and known.move.uid != event.uid:
        if not event.target:
            return  # the attempt of a deleted pod of that name is over
        if known.lane == "inFlight":
            mine.replaced[known.move.uid] = known
    if event.target and (event.source or event.cause == FAILED):
        world.moved.append((entry.n, event))
    mine.noted.pop(event.pod, None)
    if event.cause != FAILED or event.target != "unschedulablePods":
        mine.stayed.pop(event.pod, None)  # what hints answer about events noted in flight comes before this very move
    mine.queue.pop(event.pod, None)
    if event.target:
        mine.queue[event.pod] = queued
    if event.cause == FAILED:
        attempt = world.attempt_of(event.pod, mine)
        if attempt is not None:
            attempt.requeued = event


def _cycle(world: Models, entry: ev.Entry) -> int:
    """The cycle, of any scheduler, in which a step set this off; 0 when a person's own command or the clock did."""
    cycle = world.moved_last
    if cycle is None or not world.commands or not world.commands[-1].command.steps:
        return 0
    last = cycle.stages[-1].at_us if cycle.stages else cycle.at_us
    return cycle.number if last == entry.at_us else 0


def _answer(mine: SchedulerState, event: ev.PodMoved) -> ev.HintAnswered | None:
    """What the plugin said that decided the move."""
    if not event.plugin:
        return None
    hints = reversed(mine.hints.get(event.pod, ()))
    return next((hint for hint in hints if (hint.plugin, hint.verdict) == (event.plugin, event.hint)), None)


def move_requested(world: Models, entry: ev.Entry, event: ev.MoveRequested) -> None:
    noted(world, entry, event)
    moves = world.of(entry).moves
    for pod in event.moved:
        moves[pod][-1].about = event.object_key


def noted(world: Models, entry: ev.Entry, event: ev.MoveRequested | ev.EventNoted) -> None:
    by_pod = world.of(entry).noted
    for pod in event.in_flight:
        by_pod.setdefault(pod, []).append((event.cluster_event, event.object_key))


def hinted(world: Models, entry: ev.Entry, event: ev.HintAnswered) -> None:
    mine = world.of(entry)
    mine.hints.setdefault(event.pod, []).append(event)
    if event.verdict == "QueueSkip":
        mine.stayed[event.pod] = Left(len(world.entries), event)


def nominated(world: Models, entry: ev.Entry, event: ev.NominationChanged) -> None:
    nominations = world.of(entry).nominations
    if event.node:
        nominations[event.pod] = event.node
    else:
        nominations.pop(event.pod, None)


def permit_wait(world: Models, entry: ev.Entry, event: ev.PermitWait) -> None:
    cycle = world.by_number.get(event.cycle)
    if cycle is not None:
        cycle.waits, cycle.waits_since_us = event.waits, entry.at_us


def fault_set(world: Models, entry: ev.Entry, event: ev.FaultSet) -> None:
    world.of(entry).faults[event.number] = Fault(event)


def fault_struck(world: Models, entry: ev.Entry, event: ev.FaultStruck) -> None:
    """A fault is over, or holds a pod up; one that a reconfiguration took away may still strike."""
    faults = world.of(entry).faults
    fault = faults.get(event.number)
    if fault is None:
        return
    if event.until_us is None:
        del faults[event.number]
    else:
        fault.pod, fault.since_us, fault.until_us = event.pod, entry.at_us, event.until_us


APPLIERS: dict[type[ev.Event], Callable[[Models, ev.Entry, Any], None]] = {
    ev.Configured: configured,
    ev.PodMoved: moved,
    ev.MoveRequested: move_requested,
    ev.EventNoted: noted,
    ev.HintAnswered: hinted,
    ev.NominationChanged: nominated,
    ev.PermitWait: permit_wait,
    ev.FaultSet: fault_set,
    ev.FaultStruck: fault_struck,
}
