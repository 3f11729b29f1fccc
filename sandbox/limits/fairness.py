"""Fair turns for requests, so that no address takes the CPU time of the web process from all others.

The web process computes one thing at a time. Start-time fair queueing shares it: first between the kinds of requests
(inside sandboxes and rooms, creating them, all others), then between the addresses of a kind. A request begins at once
if its kind or its address has had less than a fair share lately. All others begin one by one, the one with the least
use first, and none while one of the former computes. A request computes until it waits for a worker.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sandbox.limits.server import from_environment

AT_ONCE = 1
"""Requests over their share that compute at a time, and that create something at a time."""
CROWDED_SECONDS = 2.0
"""For this long after a modest request, requests of other addresses pause before the next one."""
LONGEST_PAUSE = 0.1
"""Longest pause, in seconds, between two requests that create something."""
OVERHEAD_SECONDS = 0.0005
"""Cost of a request outside its own thread: to read, hand over and write it. The pause before the next is as long."""
USUAL_SECONDS = 0.002
"""Seconds that a request counts while it runs. Its real use is known at its end."""
STALLED_SECONDS = 0.25
"""A request that holds a place for this long waits for something other than the CPU, so the next one begins."""
ROOM = 10_000
"""Addresses remembered of a kind."""
INSIDE, MAKING, ANYBODY = "inside", "making", "anybody"
"""Kinds of requests: inside an existing sandbox or room, creating one, and all others."""
PLACE = re.compile(r"/(?:[sw]|api/v1/(?:sandboxes|rooms))/[0-9a-fA-F]{8}-")

Asker = tuple[str, str]
"""The kind of a request, and its address."""


def kind_of(method: str, path: str) -> str:
    if PLACE.match(path):
        return INSIDE
    return MAKING if method == "POST" else ANYBODY


@dataclass(slots=True)
class Shares:
    """The shares of kinds or addresses, in seconds of virtual time (start-time fair queueing).

    ``now``: virtual time. ``ends``: who → the virtual time until which they have had their share. Past ends are
    dropped.
    """

    now: float = 0.0
    ends: dict[str, float] = field(default_factory=dict)

    def start(self, who: str) -> float:
        return max(self.now, self.ends.get(who, 0.0))

    def is_due(self, who: str) -> bool:
        """Return True if ``who`` has had less than their share."""
        return who not in self.ends or self.ends[who] < self.now

    def give(self, who: str, seconds: float) -> None:
        self.now = self.start(who)
        self.ends[who] = self.now + seconds

    def correct(self, who: str, seconds: float) -> None:
        """Add ``seconds``, which may be negative, to what ``who`` was given."""
        self.ends[who] = self.ends.get(who, self.now) + seconds

    def forget(self) -> None:
        self.ends = {who: end for who, end in self.ends.items() if end >= self.now}

    def rest(self) -> None:
        """Start again with equal shares, because nobody asks for anything."""
        self.now = max(self.ends.values(), default=self.now)
        self.ends.clear()


@dataclass(eq=False, slots=True)
class Turn:
    """One request. ``modest``: it began at once and computes, so that no request over its share begins.

    ``computes``, ``makes``: it holds one of the ``AT_ONCE`` places to compute or to create something.
    """

    asker: Asker
    since: float = 0.0
    begun_at: float = 0.0
    modest: bool = False
    computes: bool = False
    makes: bool = False
    begun: asyncio.Future[None] | None = None


@dataclass(slots=True)
class Turns:
    """The turns of all requests. Only the serving loop may use it; other threads call the function ``give_way``."""

    of_one: int
    clock: Callable[[], float] = time.monotonic
    kinds: Shares = field(default_factory=Shares)
    addresses: dict[str, Shares] = field(default_factory=lambda: {kind: Shares() for kind in (INSIDE, MAKING, ANYBODY)})
    at_work: Counter[Asker] = field(default_factory=Counter)
    waiting: dict[Asker, deque[Turn]] = field(default_factory=dict)
    computing: int = 0
    making: int = 0
    modest: int = 0
    """Number of modest requests that compute."""
    modest_at: OrderedDict[str, float] = field(default_factory=OrderedDict)
    """Address → time of its last modest request, oldest first."""

    async def begin(self, address: str, kind: str = ANYBODY) -> Turn:
        """Wait until a request of ``address`` may begin, and return its turn."""
        turn = Turn((kind, address), self.clock())
        self.waiting.setdefault(turn.asker, deque()).append(turn)
        self._begin_all()
        if turn.begun is None and turn in self.waiting.get(turn.asker, ()):
            turn.begun = asyncio.get_running_loop().create_future()
            try:
                await turn.begun
            except asyncio.CancelledError:
                self._drop(turn)
                raise
        return turn

    def end(self, turn: Turn, seconds: float) -> None:
        """End the turn of a request that used ``seconds`` of CPU time."""
        kind, address = turn.asker
        shares = self.addresses[kind]
        more = seconds + OVERHEAD_SECONDS - USUAL_SECONDS
        self.kinds.correct(kind, more)
        shares.correct(address, more)
        self.at_work[turn.asker] -= 1
        if not self.at_work[turn.asker]:
            del self.at_work[turn.asker]
        self._rest(kind)
        self.give_way(turn)
        if turn.makes:
            turn.makes = False
            # The workers continue for about as long as the request took.
            took = min(self.clock() - turn.begun_at, LONGEST_PAUSE)
            self._after_a_pause(turn, took + OVERHEAD_SECONDS, self._creation_ended)
        self._begin_all()

    def _rest(self, kind: str) -> None:
        """Reset the shares of a kind, or of all kinds, if nobody asks any more."""
        asking, shares = {kind for kind, _ in self.asking()}, self.addresses[kind]
        if kind not in asking:
            shares.rest()
        elif len(shares.ends) > ROOM:
            shares.forget()
            if len(shares.ends) > ROOM // 2:
                shares.rest()  # Otherwise each request would go through all of them.
        if not asking:
            self.kinds.rest()

    def give_way(self, turn: Turn) -> None:
        """Let the next request begin, because this one does not compute for now."""
        if turn.modest:
            turn.modest = False
            self.modest -= 1
            self._begin_all()
        if turn.computes:
            turn.computes = False
            self._after_a_pause(turn, OVERHEAD_SECONDS, self._compute_ended)

    def _stalled(self, turn: Turn) -> None:
        """Let the next request begin beside one that takes too long."""
        self.give_way(turn)
        if turn.makes:
            turn.makes = False
            self._creation_ended()

    def _after_a_pause(self, turn: Turn, seconds: float, act: Callable[[], None]) -> None:
        """Call ``act``, after a pause if other addresses had modest requests lately."""
        self._forget_modest(self.clock())
        if self.modest_at.keys() - {turn.asker[1]}:
            asyncio.get_running_loop().call_later(seconds, act)
        else:
            act()

    def _forget_modest(self, now: float) -> None:
        while self.modest_at and now - next(iter(self.modest_at.values())) >= CROWDED_SECONDS:
            self.modest_at.popitem(last=False)

    def _compute_ended(self) -> None:
        self.computing -= 1
        self._begin_all()

    def _creation_ended(self) -> None:
        self.making -= 1
        self._begin_all()

    def _begin_all(self) -> None:
        """Begin all requests that may begin now."""
        now = self.clock()
        while (turn := self._next()) is not None:
            self._take(turn)
            if turn.begun is not None and turn.begun.done():
                continue  # The request was cancelled; ``_drop`` follows.
            self.at_work[turn.asker] += 1
            self._let_compute(turn, now)
            if turn.begun is not None:
                turn.begun.set_result(None)

    def _take(self, turn: Turn) -> None:
        """Remove a request from the waiting ones."""
        queue = self.waiting[turn.asker]
        queue.remove(turn)
        if not queue:
            del self.waiting[turn.asker]

    def _next(self) -> Turn | None:
        """Return the next request that may begin now, by the shares of its kind and address. None if there is none."""
        may = [asker for asker in self.waiting if self.at_work[asker] < self.of_one]
        for asker in may:
            kind, address = asker
            if self.addresses[kind].is_due(address):
                return self.waiting[asker][0]
        if self.making >= AT_ONCE:
            may = [asker for asker in may if asker[0] != MAKING]
        if not may:
            return None
        asker = min(may, key=self._starts)
        turn, kind = self.waiting[asker][0], asker[0]
        if not self.kinds.is_due(kind):
            if self.modest or self.computing >= AT_ONCE:
                return None
            turn.computes = True
        turn.makes = kind == MAKING
        return turn

    def _starts(self, asker: Asker) -> tuple[float, float, float]:
        kind, address = asker
        return self.kinds.start(kind), self.addresses[kind].start(address), self.waiting[asker][0].since

    def asking(self) -> list[Asker]:
        """Return the kinds and addresses of all requests that run or wait."""
        return list(dict.fromkeys([*self.waiting, *self.at_work]))

    def _let_compute(self, turn: Turn, now: float) -> None:
        turn.begun_at = now
        kind, address = turn.asker
        self.kinds.give(kind, USUAL_SECONDS)
        self.addresses[kind].give(address, USUAL_SECONDS)
        self.making += turn.makes
        if turn.computes:
            self.computing += 1
        else:
            turn.modest = True
            self.modest += 1
            self.modest_at[address] = now
            self.modest_at.move_to_end(address)
            self._forget_modest(now)
        asyncio.get_running_loop().call_later(STALLED_SECONDS, self._stalled, turn)

    def _drop(self, turn: Turn) -> None:
        """Drop a cancelled request: end its turn if it has begun, else remove it from the waiting ones."""
        if turn.begun is not None and not turn.begun.cancelled():
            self.end(turn, 0.0)
            return
        if turn in self.waiting.get(turn.asker, ()):
            self._take(turn)
        self._rest(turn.asker[0])


turns = Turns(from_environment().at_work_per_address)
_here = threading.local()


@contextmanager
def in_turn(turn: Turn, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Mark what this thread does in the block as work of a request."""
    _here.turn, _here.loop = turn, loop
    try:
        yield
    finally:
        del _here.turn, _here.loop


def give_way() -> None:
    """Let another request compute, because this thread is about to wait for a worker."""
    turn = getattr(_here, "turn", None)
    if turn is not None and (turn.computes or turn.modest):
        _here.loop.call_soon_threadsafe(turns.give_way, turn)
