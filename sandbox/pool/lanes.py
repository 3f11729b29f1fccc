"""Lanes: which lane gets the jobs of a sandbox, and which job is next.

The quick lane hands a long job back. The sandbox then belongs to the slow lane until several jobs in a row were short.
Jobs of the sandbox that used the least CPU time come first; waiting counts in their favour.
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
from sandbox.worker.so_far import SoFar

SENT_AHEAD = {QUICK: 3, SLOW: 1}
"""Jobs that a worker has at once: the running one and the next ones."""
SHORT_SECONDS = 0.06
"""CPU seconds of a job that is clearly short enough for the quick lane."""
MOST_QUICK_CHARACTERS = 30_000
"""Characters of arguments beyond which a job skips the quick lane."""
QUICK_AGAIN = 5
"""Short jobs in a row that lead back to the quick lane. The number doubles each time a sandbox leaves it."""
WAITING_COUNTS = 0.1
"""CPU seconds that one second of waiting makes up for, so that no job waits forever."""
NEW_SECONDS = 1.0
"""CPU seconds that a new sandbox starts with, so that creating sandboxes gives no advantage."""
USE_HALVES = 5.0
"""Seconds after which CPU time counts half."""
HANDED_BACK_SECONDS, DEDICATED_SECONDS = PATIENCE_SECONDS[QUICK], 1.0
"""CPU seconds of a job that is handed back, or gets a dedicated worker. The latter is the most that any job counts."""


@dataclass(slots=True, eq=False)
class Pending:
    """A job that somebody waits for. ``stop``: stop it as soon as its worker can be signalled."""

    call: Call
    number: int = 0
    future: Future[Any] = field(default_factory=Future)
    engine: Process | None = None
    stop: bool = False
    began: float = 0.0
    asked: float = field(default_factory=time.monotonic)
    tell: Callable[..., None] = field(default_factory=teller)
    """``threads.tell`` as the waiting thread would call it."""
    so_far: SoFar | None = None
    """Its progress, once the job takes long."""

    @property
    def sandbox_id(self) -> UUID:
        return self.call.plan.sandbox_id


@dataclass(slots=True)
class History:
    """The history of a sandbox's jobs, from which the lane of the next one follows."""

    used: float = 0.0
    """CPU seconds, as they counted at the time ``at``."""
    at: float = 0.0
    slow: bool = False
    """The sandbox belongs to the slow lane."""
    short: int = 0
    """Short jobs in a row, in the slow lane."""
    enough: int = QUICK_AGAIN
    """Short jobs in a row that lead back to the quick lane. Each return costs a replay there."""

    def slow_down(self) -> None:
        if not self.slow:
            self.slow, self.short, self.enough = True, 0, 2 * self.enough

    def use(self, now: float) -> float:
        """Return the CPU seconds used. Older ones count less."""
        return self.used * 0.5 ** ((now - self.at) / USE_HALVES)

    def note(self, seconds: float, now: float) -> None:
        self.used, self.at = self.use(now) + min(seconds, DEDICATED_SECONDS), now
        self.short = self.short + 1 if seconds < SHORT_SECONDS else 0
        if self.short >= self.enough:
            self.slow = False


@dataclass(slots=True, eq=False)
class Process:
    """One worker. ``home``: the sandbox it is dedicated to. ``slot``: its number among those for many sandboxes."""

    slot: int | None = None
    lane: str = SLOW
    pid: int = 0
    born: float = 0.0
    home: UUID | None = None
    line: Line | None = None
    sent: dict[int, Pending] = field(default_factory=dict)
    """Number → job that was sent and not answered yet. The worker does one at a time."""
    waiting: deque[Pending] = field(default_factory=deque)

    def first(self, used: Callable[[Pending], float], now: float) -> Pending | None:
        """Return the next job: that of the sandbox with the least CPU time, less a share of the job's waiting time.

        A kind that goes ahead comes before all others. Skip sandboxes that already have a job here, so that all their
        jobs can move together. ``used``: CPU seconds of the job's sandbox.
        """
        here = [pending.sandbox_id for pending in self.sent.values()]
        ready = [pending for pending in self.waiting if pending.sandbox_id not in here]

        def rank(job: Pending) -> tuple[bool, float]:
            return not job.call.kind.ahead, used(job) - WAITING_COUNTS * (now - job.asked)

        return min(ready, key=rank, default=None)
