"""What just happened to the pods that waited in a queue: whom a cluster event woke, and who was looked at and left."""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox.panels.model.state import Queued
from scheduler_engine.trace import events as ev

UNSCHEDULABLE = ("unschedulablePods", "gated")
WAITING = (*UNSCHEDULABLE, "backoffQ", "errorBackoffQ")
READY = ("activeQ", "backoffQ", "errorBackoffQ")


def woke(move: ev.PodMoved) -> bool:
    """Whether the pod waited, and is now nearer to its next attempt."""
    return move.source != move.target and move.source in WAITING and move.target in READY


@dataclass(slots=True)
class Woken:
    """``n``: number of the entry that tells of the move."""

    n: int
    queued: Queued


@dataclass(slots=True)
class Left:
    """A plugin was asked about a pod and said QueueSkip; ``n``: number of the entry that tells of it."""

    n: int
    hint: ev.HintAnswered


@dataclass(slots=True)
class Requeuing:
    """Since the last command, at most since the last stage but one; ``before`` and ``last`` are the numbers of the
    entries that tell of the last two stages.

    ``woken`` and ``left``: by pod; ``noted``: pod in flight → number of the entry by which it noted an event.
    ``looked``: number of the last entry by which a cluster event went through the queue.
    """

    woken: dict[str, Woken] = field(default_factory=dict)
    left: dict[str, Left] = field(default_factory=dict)
    noted: dict[str, int] = field(default_factory=dict)
    looked: int = 0
    before: int = 0
    last: int = 0

    def since(self, entry: int) -> Requeuing:
        """What came after ``entry``."""
        return Requeuing(
            {pod: item for pod, item in self.woken.items() if item.n > entry},
            {pod: item for pod, item in self.left.items() if item.n > entry},
            {pod: n for pod, n in self.noted.items() if n > entry},
            self.looked if self.looked > entry else 0,
            self.before,
            self.last,
        )

    def after_stage(self, entry: int) -> Requeuing:
        """What is still of interest when another stage is over."""
        kept = self.since(self.last)
        kept.before, kept.last = self.last, entry
        return kept
