"""What just happened to waiting pods: which ones an event woke, and which ones were checked and left."""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox.panels.model.state import Queued
from scheduler_engine.trace import events as ev

UNSCHEDULABLE = ("unschedulablePods", "gated")
WAITING = (*UNSCHEDULABLE, "backoffQ", "errorBackoffQ")
READY = ("activeQ", "backoffQ", "errorBackoffQ")


def woke(move: ev.PodMoved) -> bool:
    """Return True if the move brings a waiting pod nearer to its next attempt."""
    return move.source != move.target and move.source in WAITING and move.target in READY


@dataclass(slots=True)
class Woken:
    """A pod that was woken. ``n``: number of the entry of the move."""

    n: int
    queued: Queued


@dataclass(slots=True)
class Left:
    """A pod for which a plugin answered QueueSkip. ``n``: number of the entry of the answer."""

    n: int
    hint: ev.HintAnswered


@dataclass(slots=True)
class Requeuing:
    """What happened since the last command, at most since the last stage but one. ``before`` and ``last``: numbers of
    the entries of the last two stages.

    ``woken`` and ``left``: by pod. ``noted``: pod in flight → number of the entry in which an event was noted for it.
    ``checked``: number of the last entry in which a cluster event went through the queue.
    """

    woken: dict[str, Woken] = field(default_factory=dict)
    left: dict[str, Left] = field(default_factory=dict)
    noted: dict[str, int] = field(default_factory=dict)
    checked: int = 0
    before: int = 0
    last: int = 0

    def since(self, entry: int) -> Requeuing:
        """Return the events after ``entry``."""
        return Requeuing(
            {pod: item for pod, item in self.woken.items() if item.n > entry},
            {pod: item for pod, item in self.left.items() if item.n > entry},
            {pod: n for pod, n in self.noted.items() if n > entry},
            self.checked if self.checked > entry else 0,
            self.before,
            self.last,
        )

    def after_stage(self, entry: int) -> Requeuing:
        """Return what is still recent when another stage ends."""
        recent = self.since(self.last)
        recent.before, recent.last = self.last, entry
        return recent
