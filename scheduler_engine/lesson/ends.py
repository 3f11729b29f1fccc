"""When a question ends: with a step, an attempt, or a stage of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.framework.extension_points import STAGE_INDEX
from scheduler_engine.framework.facts import Facts
from scheduler_engine.trace import events as ev

SKIPPED = "skipped"
ATTEMPT = "attempt"
"""Used beside the names of the stages: the end of the attempt, including its binding."""
AT = (*STAGE_INDEX, ATTEMPT)


@dataclass(frozen=True, slots=True)
class Why:
    """A reason as data: ``key`` names a sentence, ``values`` fill it. ``facts``: what a plugin looked at for it."""

    key: str
    values: dict[str, Any] = field(default_factory=dict)
    facts: Facts | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class End:
    """``entries``: trace entries until the end; None: not yet. ``missed``: why it will never come."""

    entries: int | None = None
    missed: Why | None = None


def end_of_attempt(recorder: ev.Recorder, pod: str, since: int, at: str) -> End:
    """Return where the attempt for a pod that ran after ``since`` entries, else the next one, passes ``at``.

    Another replica may try the same pod meanwhile. An attempt is abandoned if its own replica stops, or begins another.
    """
    entries = recorder.entries
    cycle, replica = _under_way(recorder, pod, since) or (None, "")
    deleted = False
    for place in range(since, len(entries)):
        entry, event = entries[place], entries[place].event
        if isinstance(event, ev.CycleStarted) and event.pod == pod and not _is_skipped(entries, place):
            if cycle is None:
                cycle, replica = event.cycle, entry.replica
            elif entry.replica == replica:
                return End(missed=Why("gone" if deleted else "abandoned", {"pod": pod}))
        elif isinstance(event, ev.ObjectDeleted) and (event.kind, event.key) == ("Pod", pod):
            if cycle is None:
                return End(missed=Why("gone", {"pod": pod}))
            deleted = True
        elif cycle is not None and _stops(event, replica):
            return End(missed=Why("gone" if deleted else "abandoned", {"pod": pod}))
        elif isinstance(event, ev.StageFinished) and event.cycle == cycle and _past(event.next_stage, at):
            return End(_rest(recorder, place + 1))
    return End()


def cycle_under_way(recorder: ev.Recorder, pod: str, since: int) -> int | None:
    """Return the number of a pod's last cycle, if it runs; one of an earlier pod of that name may end later."""
    attempt = _under_way(recorder, pod, since)
    return None if attempt is None else attempt[0]


def _under_way(recorder: ev.Recorder, pod: str, since: int) -> tuple[int, str] | None:
    """Return that cycle and its replica."""
    ended: set[int] = set()
    skipped: set[int] = set()
    later: list[ev.Event] = []
    for entry in reversed(recorder.entries[:since]):
        event = entry.event
        if isinstance(event, ev.CycleFinished):
            (skipped if event.outcome == SKIPPED else ended).add(event.cycle)
        elif isinstance(event, ev.CycleStarted) and event.pod == pod and event.cycle not in skipped:
            over = event.cycle in ended or any(_stops(one, entry.replica) for one in later)
            return None if over else (event.cycle, entry.replica)
        elif isinstance(event, (ev.ReplicaChanged, ev.ReplicasConfigured)):
            later.append(event)
    return None


def _stops(event: ev.Event, replica: str) -> bool:
    """Return True if the attempts of a replica end with this event."""
    if isinstance(event, ev.ReplicaChanged):
        return event.replica == replica and not event.schedules
    return isinstance(event, ev.ReplicasConfigured)


def _is_skipped(entries: Sequence[ev.Entry], begin: int) -> bool:
    """Return True if the cycle that begins there ended at once because the pod was assumed or deleted: no attempt."""
    events = (entries[place].event for place in range(begin, len(entries)))
    first = next((event for event in events if isinstance(event, (ev.CycleFinished, ev.StageFinished))), None)
    return isinstance(first, ev.CycleFinished) and first.outcome == SKIPPED


def _past(next_stage: str, at: str) -> bool:
    return not next_stage or (at != ATTEMPT and STAGE_INDEX[next_stage] > STAGE_INDEX[at])


def _rest(recorder: ev.Recorder, entries: int) -> int:
    """Return the next moment between two steps of the engine."""
    place = bisect_left(recorder.rests, (entries, -1))
    return recorder.rests[place][0] if place < len(recorder.rests) else len(recorder.entries)
