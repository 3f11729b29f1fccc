"""People who use the site while it is attacked or killed, and what they know of their actions."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from sandbox.words.say import say
from scheduler_engine.testing import make_pod
from tests.hostile.audit import ANSWERED, REFUSED, UNKNOWN
from tests.hostile.wire import BROKEN, Answer, Connection, yaml

T = TypeVar("T")
DONE = (200, 204)
"""Statuses of success, with content or without."""
AWAY = (502, 504)
"""Statuses of nginx while no web process answers."""
FROZEN = 423
"""Status of a command in a sandbox that a trainer has frozen."""
HANGS = 600
"""Seconds without an answer that count as a hang."""


@dataclass
class Tally:
    """What clients know, and what went wrong. ``shown``: sandbox's path → its panels, once nobody steps there."""

    outcomes: dict[str, str] = field(default_factory=dict)
    shown: dict[str, dict[str, str]] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    answered: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    acts: Counter[str] = field(default_factory=Counter)
    """Acknowledged acts in rooms, by path."""
    before: int = 0
    """The pid of the server killed last."""
    over: bool = False
    allowed: frozenset[int] = frozenset()
    """Statuses that people may get while servers fail."""


def outcome(answer: Answer) -> str:
    """Return what the sender of a command knows from its answer."""
    if answer.status in DONE:
        return ANSWERED
    # A lost connection may have stored the command, and a proxy does not know.
    return UNKNOWN if answer.status in AWAY or say("limits.database-lost") in answer.text else REFUSED


class Person:
    """Send labelled commands in one sandbox, whatever happens to the server."""

    def __init__(self, number: int, port: int, lane: int, tally: Tally, alone: bool) -> None:
        self.number, self.tally, self.alone = number, tally, alone
        self.random = random.Random(f"person {number}")
        self.http = Connection(port, f"127.0.{20 + lane}.{1 + number % 250}", timeout=HANGS)
        self.sent = 0

    async def step(self, base: str) -> None:
        """Send one command. A person alone may look back before it, which drops nothing."""
        if self.alone and self.random.random() < 0.1:
            for _ in range(self.random.randint(1, 4)):
                await self._move(base, "back", "")
            await self._move(base, "goto", "999999")
        self.sent += 1
        label = f"person-{self.number}-{self.sent}"
        path, fields = self._command(label)
        # Until the server says otherwise.
        self.tally.outcomes[label] = UNKNOWN
        try:
            answer = await self.http.post(f"{base}{path}", who=label, **fields)
        except BROKEN:
            await asyncio.sleep(0.05)
            return
        self._note(answer.status, answer.text)
        done = answer.status in DONE
        self.tally.outcomes[label] = outcome(answer)
        self.tally.answered += done
        if answer.status in (409, FROZEN, 429, 503):
            await asyncio.sleep(0.2)

    def _command(self, label: str) -> tuple[str, dict[str, str]]:
        pod = {"manifests": yaml([make_pod(label).cpu("10m").obj()])}
        choices: tuple[tuple[str, dict[str, str]], ...] = (
            ("do/stage/", {}),
            ("do/stage/", {}),
            ("do/pod/", {}),
            ("do/advance/", {"seconds": "0.5"}),
            ("apply/", pod),
            ("apply/", pod),
        )
        return self.random.choice(choices)

    async def _move(self, base: str, verb: str, n: str) -> None:
        """Repeat the move until it is answered: moves may be repeated."""
        end = time.monotonic() + HANGS
        while time.monotonic() < end:
            try:
                answer = await self.http.post(f"{base}do/{verb}/", n=n)
            except BROKEN:
                await asyncio.sleep(0.05)
                continue
            self._note(answer.status, answer.text)
            if answer.status in DONE:
                return
            await asyncio.sleep(0.2)
        self.tally.wrong.append(f"{verb} was not done within {HANGS} s")

    def _note(self, status: int, text: str) -> None:
        self.tally.statuses[status] += 1
        if status not in (*DONE, 409, 422, FROZEN, 429, 503, *self.tally.allowed):
            self.tally.wrong.append(f"answered {status}: {text[:200]}")


async def persistently(ask: Callable[[], Awaitable[T]]) -> T:
    """Return what ``ask`` returns, however often the server is killed meanwhile."""
    end = time.monotonic() + HANGS
    while True:
        try:
            return await ask()
        except BROKEN:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.05)
