"""Whose request is worked on next, so that no address takes the processor from all others.

A process that serves computes one thing at a time. What an address has used of it lately is kept; whoever has used less
than most others of those who ask now begins at once, and all others begin one after the other: the least used first,
where a second of waiting makes up for a second of use. A request counts as one that computes until it waits for an
engine.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import exp

from sandbox.server.limits import from_environment

FADES_SECONDS = 10.0
"""After so long a third is left of what an address has used."""
MODEST = 0.75
"""Whoever has used less than this share of what those who ask have used on average begins at once."""
AT_ONCE = 1
"""So many others compute at a time."""
CROWDED_SECONDS = 2.0
"""For so long after a modest request the others leave the processor as much time as they take."""
LONGEST_PAUSE = 0.1
OVERHEAD_SECONDS = 0.0005
"""What a request costs beside its own thread: to be read, handed over and written."""
STALLED_SECONDS = 0.25
"""Who has not given up a place by then waits for something else than the processor: the next one begins."""
FORGOTTEN = 0.002
"""Seconds of use that are as good as none."""
ROOM = 10_000
"""Addresses that are kept."""


@dataclass(slots=True)
class Used:
    """Seconds of the processor, as they were at ``at``."""

    seconds: float = 0.0
    at: float = 0.0

    def now(self, now: float) -> float:
        return self.seconds * exp((self.at - now) / FADES_SECONDS)


@dataclass(eq=False, slots=True)
class Turn:
    """One request. ``computes``: it holds one of the places of those who compute."""

    address: str
    since: float = 0.0
    begun_at: float = 0.0
    computes: bool = False
    begun: asyncio.Future[None] | None = None
    stall: asyncio.TimerHandle | None = None


@dataclass(slots=True)
class Turns:
    """Used on the loop that serves alone, but for ``give_way``."""

    of_one: int
    clock: Callable[[], float] = time.monotonic
    used: dict[str, Used] = field(default_factory=dict)
    at_work: Counter[str] = field(default_factory=Counter)
    waiting: dict[str, deque[Turn]] = field(default_factory=dict)
    computing: int = 0
    modest_at: float = -CROWDED_SECONDS

    async def begin(self, address: str) -> Turn:
        """Return when the request of ``address`` may begin."""
        turn = Turn(address, self.clock())
        self.waiting.setdefault(address, deque()).append(turn)
        self._go_on()
        if turn.begun is None and turn in self.waiting.get(address, ()):
            turn.begun = asyncio.get_running_loop().create_future()
            try:
                await turn.begun
            except asyncio.CancelledError:
                self._drop(turn)
                raise
        return turn

    def end(self, turn: Turn, seconds: float) -> None:
        """The request is answered; it has used so many ``seconds`` of the processor."""
        now = self.clock()
        known = self.used.get(turn.address) or Used(at=now)
        self.used[turn.address] = Used(known.now(now) + seconds + OVERHEAD_SECONDS, now)
        self.at_work[turn.address] -= 1
        if not self.at_work[turn.address]:
            del self.at_work[turn.address]
        self.give_way(turn)
        self._go_on()
        if len(self.used) > ROOM:
            self._forget(now)

    def give_way(self, turn: Turn) -> None:
        """The request computes no more for now: the next one may, after a pause if modest requests come."""
        if turn.stall is not None:
            turn.stall.cancel()
        if turn.computes:
            turn.computes = False
            now = self.clock()
            crowded = now - self.modest_at < CROWDED_SECONDS
            pause = min(now - turn.begun_at, LONGEST_PAUSE) if crowded else 0.0
            if pause:
                asyncio.get_running_loop().call_later(pause, self._leave)
            else:
                self._leave()

    def _leave(self) -> None:
        """A place of those who compute is free."""
        self.computing -= 1
        self._go_on()

    def _go_on(self) -> None:
        """Begin whatever may begin."""
        now = self.clock()
        while (turn := self._next(now)) is not None:
            queue = self.waiting[turn.address]
            queue.popleft()
            if not queue:
                del self.waiting[turn.address]
            self.at_work[turn.address] += 1
            self._let_compute(turn, now)
            if turn.begun is not None:
                turn.begun.set_result(None)

    def _next(self, now: float) -> Turn | None:
        """The first request of a modest address, else of the one whose turn it is, if it may begin now."""
        may = [address for address in self.waiting if self.at_work[address] < self.of_one]
        if not may:
            return None
        use = {address: self.used[address].now(now) if address in self.used else 0.0 for address in self.asking()}
        least = min(may, key=use.__getitem__)
        if use[least] <= FORGOTTEN or use[least] < MODEST * sum(use.values()) / len(use):
            return self.waiting[least][0]
        if self.computing >= AT_ONCE:
            return None
        turn = self.waiting[min(may, key=lambda address: use[address] + self.waiting[address][0].since)][0]
        turn.computes = True
        return turn

    def asking(self) -> list[str]:
        """Addresses whose requests are at work or wait."""
        return list(dict.fromkeys([*self.waiting, *self.at_work]))

    def _let_compute(self, turn: Turn, now: float) -> None:
        turn.begun_at = now
        if not turn.computes:
            self.modest_at = now
        else:
            self.computing += 1
            turn.stall = asyncio.get_running_loop().call_later(STALLED_SECONDS, self.give_way, turn)

    def _drop(self, turn: Turn) -> None:
        """Who asked has gone: as if nothing had been asked, or as if it had been answered."""
        queue = self.waiting.get(turn.address)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self.waiting[turn.address]
        elif turn.begun is not None and turn.begun.done():
            self.end(turn, 0.0)

    def _forget(self, now: float) -> None:
        self.used = {address: used for address, used in self.used.items() if used.now(now) > FORGOTTEN}


turns = Turns(from_environment().at_work_per_address)
_here = threading.local()


@contextmanager
def in_turn(turn: Turn, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """What this thread does inside belongs to the request."""
    _here.turn, _here.loop = turn, loop
    try:
        yield
    finally:
        del _here.turn, _here.loop


def give_way() -> None:
    """This thread is about to wait for an engine: another request may compute meanwhile."""
    turn = getattr(_here, "turn", None)
    if turn is not None and turn.computes:
        _here.loop.call_soon_threadsafe(turns.give_way, turn)
