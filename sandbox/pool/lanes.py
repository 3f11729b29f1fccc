"""Lanes: what is known of a sandbox that decides where its jobs go, and whose job is next.

A job that takes longer than a blink is handed back by the quick lane, and its sandbox belongs into the slow one until
it has been quick for a while. Who has used least, and waited longest, comes first.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sandbox.runtime.threads import teller
from sandbox.worker.line import Line
from sandbox.worker.messages import PATIENCE_SECONDS, QUICK, SLOW, Call

SENT_AHEAD = {QUICK: 3, SLOW: 1}
"""Jobs that a process has at once: the one that it does, and the next ones."""
SHORT_SECONDS = 0.06
"""Of CPU time: a job that would not have been handed back by far."""
MOST_QUICK_CHARACTERS = 30_000
"""In what a job is given, beyond which it is not tried in the quick lane at all."""
QUICK_AGAIN = 5
"""Short jobs in a row, after which a sandbox is back in the quick lane; twice as many each time that it leaves it."""
WAITING_COUNTS = 0.1
"""Seconds of CPU time that a second of waiting makes up for, so that nobody waits for ever."""
NEW_SECONDS = 1.0
"""What one counts of which nothing is known: whoever begins again and again does not come before those who stay."""
USE_HALVES = 5.0
"""Seconds in which half of what was used is forgotten."""
HANDED_BACK_SECONDS, PARTED_SECONDS = PATIENCE_SECONDS[QUICK], 1.0
"""What a job counts of which it is not known how long it will take; the latter is also the most that any counts."""


@dataclass(slots=True, eq=False)
class Pending:
    """A job that somebody waits for. ``stop``: it is to end as soon as its process can be told."""

    call: Call
    number: int = 0
    future: Future[Any] = field(default_factory=Future)
    engine: Process | None = None
    stop: bool = False
    began: float = 0.0
    asked: float = field(default_factory=time.monotonic)
    tell: Callable[..., None] = field(default_factory=teller)
    """Of the thread that waits for it."""
    progress: str = ""
    """How far it has come, once it takes long."""

    @property
    def sandbox_id(self) -> UUID:
        return self.call.plan.sandbox_id


@dataclass(slots=True)
class Known:
    """What the last jobs of a sandbox tell about its next ones."""

    used: float = 0.0
    """Seconds of CPU time, as they counted at ``at``."""
    at: float = 0.0
    slow: bool = False
    """It belongs into the slow lane."""
    short: int = 0
    """Short jobs in a row, in the slow lane."""
    enough: int = QUICK_AGAIN
    """Short jobs in a row that lead back to the quick lane. Each way back costs a replay there."""

    def slow_down(self) -> None:
        if not self.slow:
            self.slow, self.short, self.enough = True, 0, 2 * self.enough

    def use(self, now: float) -> float:
        """Seconds of CPU time, of which those long ago count less and less."""
        return self.used * 0.5 ** ((now - self.at) / USE_HALVES)

    def note(self, seconds: float, now: float) -> None:
        self.used, self.at = self.use(now) + min(seconds, PARTED_SECONDS), now
        self.short = self.short + 1 if seconds < SHORT_SECONDS else 0
        if self.short >= self.enough:
            self.slow = False


@dataclass(slots=True, eq=False)
class Process:
    """One engine. ``home``: the sandbox that it has for itself; ``slot``: its place among those that serve all."""

    slot: int | None = None
    lane: str = SLOW
    pid: int = 0
    born: float = 0.0
    home: UUID | None = None
    line: Line | None = None
    sent: dict[int, Pending] = field(default_factory=dict)
    """Number → job that it has not answered yet. It does one at a time; the next ones lie ready for it."""
    waiting: deque[Pending] = field(default_factory=deque)

    def first(self, used: Callable[[Pending], float], now: float) -> Pending | None:
        """The job that is next: of the sandbox that has had the least time, as far as that makes up for the waiting.

        Never of a sandbox that has another job here, so that all of one can go elsewhere. ``used``: how much time the
        job's sandbox has had.
        """
        here = [pending.sandbox_id for pending in self.sent.values()]
        ready = [pending for pending in self.waiting if pending.sandbox_id not in here]
        return min(ready, key=lambda job: used(job) - WAITING_COUNTS * (now - job.asked), default=None)
