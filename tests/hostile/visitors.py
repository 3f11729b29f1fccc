"""Ordinary visitors: each steps once a second in their own sandbox and reads its live line."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from scheduler_engine.testing import make_pod
from tests.hostile.wire import BROKEN, Connection, Line, enter, yaml

SCENARIOS = (
    "three-zones-one-gpu-pool",
    "redis-cache-and-web-server-deployments",
    "high-priority-preemption",
    "queue-affinity-wakes-a-pod",
    "rolling-update-then-scale-down",
)
LONG = 150
"""Commands before a visitor starts again: the hundredth minute should cost as much as the first."""

WORDS = {0: "broken", 409: "409 at work", 422: "422 refused", 429: "429 too often", 503: "503 busy"}
"""Statuses with their own words."""

Fields = dict[str, str]
MOVES: tuple[tuple[int, str, Callable[[int], Fields]], ...] = (
    (6, "do/stage/", lambda turn: {}),
    (3, "do/pod/", lambda turn: {}),
    (2, "do/advance/", lambda turn: {"seconds": "1"}),
    (2, "do/advance/", lambda turn: {"seconds": "0.5", "play": "1"}),
    (2, "do/back/", lambda turn: {}),
    (1, "do/forward/", lambda turn: {}),
    (1, "do/settle/", lambda turn: {}),
    (5, "apply/", lambda turn: {"manifests": yaml([make_pod(f"visitor-{turn}").cpu("50m").obj()])}),
)
"""Weight, path, and fields of the form."""


@dataclass(frozen=True, slots=True)
class Click:
    """One click. Seconds count from when it was due, so a server that falls behind cannot hide it.

    ``status`` 0: the connection broke. ``shown`` None: no update came. ``late``: there was an update, and a second
    after the answer the page did not show it.
    """

    at: float
    status: int
    answered: float
    shown: float | None
    detail: str = ""
    late: bool = False


@dataclass
class Crowd:
    visitors: list[Visitor]
    clicks: list[Click] = field(default_factory=list)

    async def play(self, seconds: int) -> list[Click]:
        """Let everybody click once a second, evenly spread. Return the clicks of these ``seconds``."""
        start, before = time.monotonic() + 0.1, len(self.clicks)
        turns = (visitor.play(start + visitor.number / len(self.visitors), seconds, self) for visitor in self.visitors)
        await asyncio.gather(*turns)
        return self.clicks[before:]

    async def behind(self) -> int:
        """Return how many pages do not show the present state."""
        return sum(await asyncio.gather(*(visitor.is_behind() for visitor in self.visitors)))

    @property
    def reconnects(self) -> int:
        return sum(visitor.line.reconnects for visitor in self.visitors)

    async def leave(self) -> None:
        for visitor in self.visitors:
            visitor.http.close()
            await visitor.line.__aexit__(None, None, None)


class Visitor:
    def __init__(self, number: int, port: int, address: str, seed: int) -> None:
        self.number, self.turn, self.commands = number, 0, 0
        self.random = random.Random(f"visitor {number} of {seed}")
        # Longer than any acceptable answer takes: this hangs.
        self.http = Connection(port, address, timeout=30)

    async def enter(self) -> None:
        self.base = await enter(self.http, scenario=SCENARIOS[self.number % len(SCENARIOS)])
        self.line = Line(self.http.port, self.base, self.http.address)
        await self.line.__aenter__()
        await asyncio.wait_for(self.line.news.wait(), 60)

    async def play(self, start: float, seconds: int, crowd: Crowd) -> None:
        for second in range(seconds):
            await asyncio.sleep(max(0, start + second - time.monotonic()))
            crowd.clicks.append(await self.click(start + second))
            if time.monotonic() > start + seconds:
                return

    async def click(self, due: float) -> Click:
        path, fields = self._move()
        self.line.news.clear()
        try:
            answer = await self.http.post(f"{self.base}{path}", **fields)
        except BROKEN as error:
            return Click(due, 0, time.monotonic() - due, None, repr(error))
        answered = time.monotonic() - due
        if answer.status not in range(200, 400):
            return Click(due, answer.status, answered, None, answer.text)
        self.commands += 1
        try:
            await asyncio.wait_for(self.line.news.wait(), 1)
        except TimeoutError:
            return Click(due, answer.status, answered, None, late=await self.is_behind())
        return Click(due, answer.status, answered, max(answered, time.monotonic() - due))

    def _move(self) -> tuple[str, Fields]:
        self.turn += 1
        if self.commands > LONG:
            self.commands = 0
            return "do/goto/", {"n": "1"}
        weights = [weight for weight, _, _ in MOVES]
        _, path, fields = self.random.choices(MOVES, weights)[0]
        return path, fields(self.turn)

    async def is_behind(self) -> bool:
        try:
            present = await self.http.get(f"{self.base}panel/status/")
        except BROKEN:
            return True
        return self.line.panels.get("status") != present.text.strip()


async def gather(people: int, port: int, addresses: Iterable[str], seed: int = 1) -> Crowd:
    """Create ``people`` visitors at ``addresses`` in turn: one address for all is a class behind one router."""
    places = list(addresses)
    visitors = [Visitor(number, port, places[number % len(places)], seed) for number in range(people)]
    for visitor in visitors:
        await visitor.enter()
    return Crowd(visitors)


def percentile(values: Iterable[float], percent: int) -> float:
    """Return the percentile; 0.0 of nothing."""
    ranked = sorted(values)
    return ranked[min(len(ranked) * percent // 100, len(ranked) - 1)] if ranked else 0.0


def statuses(clicks: Iterable[Click]) -> dict[str, int]:
    """Count the visitors' answers, in the order of the words."""
    return dict(sorted(Counter(word_for(click.status) for click in clicks).items()))


def word_for(status: int) -> str:
    """Return the class of a status. Special ones have their own word."""
    return WORDS.get(status, f"{status // 100}xx")
