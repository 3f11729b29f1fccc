"""The part of a run that a question concerns, and the answer there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from scheduler_engine.lesson.ends import Why
from scheduler_engine.lesson.model import Question
from scheduler_engine.scenario.attempts import Attempt, RunView, attempts_in
from scheduler_engine.trace import events as ev

LEFT_THE_CACHE = ("forgotten", "expired", "removed")
Choices = Callable[[RunView, Question], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Answer:
    """``right``: the right choices; for a question with one answer, any of them is. ``why``: choice → the reason.
    ``offered``: for a question with many, every choice. ``nobody``: why none of them is right.
    """

    right: tuple[str, ...]
    why: Mapping[str, Why] = field(default_factory=dict)
    offered: tuple[str, ...] = ()
    nobody: Why | None = None


@dataclass(frozen=True)
class Window:
    """A run as a question sees it: the events after ``since`` entries, up to ``until``; ``run`` is its state then."""

    run: RunView
    entries: list[ev.Entry]
    since: int
    until: int

    @cached_property
    def _attempts(self) -> dict[str, list[Attempt]]:
        return attempts_in(self.entries[: self.until])

    def backwards(self, since: int = 0) -> Iterator[ev.Event]:
        return (self.entries[place].event for place in range(self.until - 1, since - 1, -1))

    def attempt(self, pod: str, *kinds: type[ev.Event]) -> Attempt | None:
        """Return the attempt for a pod that has the last of these events."""
        cycles = {attempt.cycle: attempt for attempt in self._attempts.get(pod, ())}
        events = (event for event in self.backwards(self.since) if isinstance(event, kinds))
        return next((cycles[number] for event in events if (number := getattr(event, "cycle", 0)) in cycles), None)

    def earlier(self, attempt: Attempt) -> Iterator[Attempt]:
        """Yield all attempts that began before this one."""
        return (other for listed in self._attempts.values() for other in listed if other.cycle < attempt.cycle)

    def snapshot(self, attempt: Attempt) -> tuple[str, ...]:
        """Return the nodes that an attempt knew."""
        taken = (e for e in self.backwards() if isinstance(e, ev.SnapshotTaken) and e.cycle <= attempt.cycle)
        return next((event.node_order for event in taken if event.node_order is not None), ())

    def placed(self, attempt: Attempt) -> dict[str, str]:
        """Return pod → its node, in the snapshot of an attempt."""
        counted: dict[str, ev.CachePodChanged] = {}
        changes: dict[str, dict[str, ev.CachePodChanged]] = {}
        for entry in self.entries[: self.until]:
            event, counted = entry.event, changes.setdefault(entry.replica, {})
            if isinstance(event, ev.CachePodChanged) and event.what in LEFT_THE_CACHE:
                counted.pop(event.uid, None)
            elif isinstance(event, ev.CachePodChanged):
                counted[event.uid] = event
            elif isinstance(event, ev.SnapshotTaken) and event.cycle == attempt.cycle:
                break
        known = {*self.snapshot(attempt)}
        return {event.pod: event.node for event in counted.values() if event.node in known}

    def offered(self, question: Question, choices: Choices) -> tuple[str, ...]:
        """Return the choices when it was asked, else at its end."""
        return choices(self.run, question) if question.offered is None else question.offered

    def nothing(self, pod: str) -> Why:
        """Return why there is no such attempt."""
        event = next((event for event in self.backwards(self.since) if _ends(event, pod)), None)
        if isinstance(event, ev.CycleFinished) and event.outcome == "error":
            return Why("error", {"pod": pod, "message": event.message})
        return Why("gone" if _gone(self, pod) else "no-attempt", {"pod": pod})


def _ends(event: ev.Event, pod: str) -> bool:
    return isinstance(event, ev.CycleFinished) and event.pod == pod


def _gone(window: Window, pod: str) -> bool:
    changes = (ev.ObjectAdded, ev.ObjectModified, ev.ObjectDeleted)
    mine = (e for e in window.backwards() if isinstance(e, changes) and (e.kind, e.key) == ("Pod", pod))
    return isinstance(next(mine, None), (ev.ObjectDeleted, type(None)))
