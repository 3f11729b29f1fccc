"""Whose request is worked on next, so that no address takes the processor from all others.

A process that serves computes one thing at a time. It is shared out as in start-time fair queueing: first between
kinds of requests (in sandboxes and rooms, to make them, and all others), then between the addresses of a kind. Whoever
has had less than a fair share lately begins at once; all others begin one after the other, whoever has had least first,
and none while one of the former computes. A request counts as one that computes until it waits for an engine.
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
"""So many of those who have had their share compute at a time; so many of them make something, until it is made."""
CROWDED_SECONDS = 2.0
"""For so long after a modest request, those of other addresses leave a pause between them."""
LONGEST_PAUSE = 0.1
"""Seconds after something was made, until the next one is begun."""
OVERHEAD_SECONDS = 0.0005
"""What a request costs beside its own thread: to be read, handed over and written. The next one pauses for as long."""
USUAL_SECONDS = 0.002
"""What a request counts while it is at work: what it has used is known when it ends."""
STALLED_SECONDS = 0.25
"""Who has not given up a place by then waits for something else than the processor: the next one begins."""
ROOM = 10_000
"""Addresses that are kept of a kind."""
INSIDE, MAKING, ANYBODY = "inside", "making", "anybody"
"""Kinds of requests: in a sandbox or room that is there; to make one; all others."""
PLACE = re.compile(r"/(?:[sw]|api/v1/sandboxes)/[0-9a-fA-F]{8}-")

Asker = tuple[str, str]
"""The kind of a request, and the address that it comes from."""


def kind_of(method: str, path: str) -> str:
    if PLACE.match(path):
        return INSIDE
    return MAKING if method == "POST" else ANYBODY


@dataclass(slots=True)
class Shares:
    """Who has had how much. All in seconds of virtual time, which goes on by what those who wait are given, each alike.

    ``ends``: until when somebody has had their share; nothing is kept of those for whom that is over.
    """

    now: float = 0.0
    ends: dict[str, float] = field(default_factory=dict)

    def start(self, who: str) -> float:
        return max(self.now, self.ends.get(who, 0.0))

    def is_due(self, who: str) -> bool:
        """Whether they have had less than their share."""
        return who not in self.ends or self.ends[who] < self.now

    def give(self, who: str, seconds: float) -> None:
        self.now = self.start(who)
        self.ends[who] = self.now + seconds

    def correct(self, who: str, seconds: float) -> None:
        """It was so much more, or less."""
        self.ends[who] = self.ends.get(who, self.now) + seconds

    def forget(self) -> None:
        self.ends = {who: end for who, end in self.ends.items() if end >= self.now}

    def rest(self) -> None:
        """Nobody asks for anything: all are even."""
        self.now = max(self.ends.values(), default=self.now)
        self.ends.clear()


@dataclass(eq=False, slots=True)
class Turn:
    """One request. ``computes``, ``makes``: it holds one of the places of those who do. ``modest``: no other begins."""

    asker: Asker
    since: float = 0.0
    begun_at: float = 0.0
    modest: bool = False
    computes: bool = False
    makes: bool = False
    begun: asyncio.Future[None] | None = None


@dataclass(slots=True)
class Turns:
    """Used on the loop that serves, and by no other thread: those call the function ``give_way``."""

    of_one: int
    clock: Callable[[], float] = time.monotonic
    kinds: Shares = field(default_factory=Shares)
    addresses: dict[str, Shares] = field(default_factory=lambda: {kind: Shares() for kind in (INSIDE, MAKING, ANYBODY)})
    at_work: Counter[Asker] = field(default_factory=Counter)
    waiting: dict[Asker, deque[Turn]] = field(default_factory=dict)
    computing: int = 0
    making: int = 0
    modest: int = 0
    """Requests that began at once, and compute."""
    modest_at: OrderedDict[str, float] = field(default_factory=OrderedDict)
    """Address → when it last began at once, in this order."""

    async def begin(self, address: str, kind: str = ANYBODY) -> Turn:
        """Return when the request of ``address`` may begin."""
        turn = Turn((kind, address), self.clock())
        self.waiting.setdefault(turn.asker, deque()).append(turn)
        self._go_on()
        if turn.begun is None and turn in self.waiting.get(turn.asker, ()):
            turn.begun = asyncio.get_running_loop().create_future()
            try:
                await turn.begun
            except asyncio.CancelledError:
                self._drop(turn)
                raise
        return turn

    def end(self, turn: Turn, seconds: float) -> None:
        """The request is answered; it has used so many ``seconds`` of the processor."""
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
            # The engines go on with it for about as long as it took to be asked for.
            took = min(self.clock() - turn.begun_at, LONGEST_PAUSE)
            self._after_a_pause(turn, took + OVERHEAD_SECONDS, self._made)
        self._go_on()

    def _rest(self, kind: str) -> None:
        """Somebody asks no more: perhaps nobody does."""
        asking, shares = {kind for kind, _ in self.asking()}, self.addresses[kind]
        if kind not in asking:
            shares.rest()
        elif len(shares.ends) > ROOM:
            shares.forget()
            if len(shares.ends) > ROOM // 2:
                shares.rest()  # Or all of them would be looked at again and again.
        if not asking:
            self.kinds.rest()

    def give_way(self, turn: Turn) -> None:
        """The request computes no more for now: the next one may."""
        if turn.modest:
            turn.modest = False
            self.modest -= 1
            self._go_on()
        if turn.computes:
            turn.computes = False
            self._after_a_pause(turn, OVERHEAD_SECONDS, self._computed)

    def _stalled(self, turn: Turn) -> None:
        """It takes so long that the next one may begin beside it."""
        self.give_way(turn)
        if turn.makes:
            turn.makes = False
            self._made()

    def _after_a_pause(self, turn: Turn, seconds: float, act: Callable[[], None]) -> None:
        """If modest requests of other addresses come."""
        self._forget_modest(self.clock())
        if self.modest_at.keys() - {turn.asker[1]}:
            asyncio.get_running_loop().call_later(seconds, act)
        else:
            act()

    def _forget_modest(self, now: float) -> None:
        while self.modest_at and now - next(iter(self.modest_at.values())) >= CROWDED_SECONDS:
            self.modest_at.popitem(last=False)

    def _computed(self) -> None:
        self.computing -= 1
        self._go_on()

    def _made(self) -> None:
        self.making -= 1
        self._go_on()

    def _go_on(self) -> None:
        """Begin whatever may begin."""
        now = self.clock()
        while (turn := self._next()) is not None:
            self._take(turn)
            if turn.begun is not None and turn.begun.done():
                continue  # Whoever asked has gone, and is about to notice.
            self.at_work[turn.asker] += 1
            self._let_compute(turn, now)
            if turn.begun is not None:
                turn.begun.set_result(None)

    def _take(self, turn: Turn) -> None:
        """The request waits no more."""
        queue = self.waiting[turn.asker]
        queue.remove(turn)
        if not queue:
            del self.waiting[turn.asker]

    def _next(self) -> Turn | None:
        """The first request of whoever has had least, if it may begin now."""
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
        """Whose requests are at work or wait."""
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
        """Who asked has gone: as if nothing had been asked, or as if it had been answered."""
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
    """What this thread does inside belongs to the request."""
    _here.turn, _here.loop = turn, loop
    try:
        yield
    finally:
        del _here.turn, _here.loop


def give_way() -> None:
    """This thread is about to wait for an engine: another request may compute meanwhile."""
    turn = getattr(_here, "turn", None)
    if turn is not None and (turn.computes or turn.modest):
        _here.loop.call_soon_threadsafe(turns.give_way, turn)
