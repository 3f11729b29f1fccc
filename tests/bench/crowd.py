"""Simulate many people at once, without browsers: each steps in their own sandbox and reads its live line."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from http import HTTPStatus

from tests.hostile.wire import Connection, Line, enter


@dataclass
class Crowd:
    """What ``people`` measured: seconds from the due click to the answer, and to the new panels."""

    people: int
    answered: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    received: int = 0
    """Characters over all live lines."""
    refused: int = 0
    """Clicks refused for lack of room."""


class Person:
    """One visitor, with a connection for clicks and one for the live line."""

    def __init__(self, number: int, port: int) -> None:
        # One address each: rate limits count by address.
        self.http = Connection(port, f"127.1.{number // 250}.{1 + number % 250}")

    async def enter(self, manifests: list[str]) -> None:
        """Create a sandbox, apply the ``manifests`` texts in order, and open its live line."""
        self.base = await enter(self.http)
        for text in manifests:
            await self._post("apply/", manifests=text)
        self.live = await Line(self.http.port, self.base, self.http.address).__aenter__()
        await self.live.news.wait()

    async def _post(self, path: str, **fields: str) -> None:
        answer = await self.http.post(f"{self.base}{path}", **fields)
        assert answer.status in range(200, 400), (answer.status, answer.text)

    async def step(self, verb: str, due: float, crowd: Crowd) -> None:
        """Click, then wait for the answer and the panels. Both times count from ``due``."""
        before = self.live.received
        self.live.news.clear()
        answer = await self.http.post(f"{self.base}do/{verb}/")
        if answer.status == HTTPStatus.SERVICE_UNAVAILABLE:
            crowd.refused += 1
            return
        assert answer.status in range(200, 400), (answer.status, answer.text)
        crowd.answered.append(time.perf_counter() - due)
        await self.live.news.wait()
        crowd.shown.append(time.perf_counter() - due)
        crowd.received += self.live.received - before

    async def leave(self) -> None:
        self.http.close()
        await self.live.__aexit__(None, None, None)


async def gather(people: int, ports: list[int], manifests: list[str]) -> list[Person]:
    """Create ``people`` with their own sandboxes, spread over the workers at ``ports``."""
    visitors = [Person(number, ports[number % len(ports)]) for number in range(people)]
    doors = asyncio.Semaphore(8)

    async def enter(person: Person) -> None:
        async with doors:
            await person.enter(manifests)

    await asyncio.gather(*map(enter, visitors))
    return visitors


async def create_sandbox(port: int, manifests: list[str]) -> str:
    """Create a sandbox with ``manifests`` that nobody is in. Return its path."""
    (person,) = await gather(1, [port], manifests)
    await person.leave()
    return person.base


async def step_once_a_second(people: list[Person], seconds: int, verb: str) -> Crowd:
    """Let everybody click once a second, evenly spread. Return the figures of ``seconds`` seconds.

    A click counts from the moment it was due, so a server that falls behind cannot hide it.
    """
    crowd = Crowd(len(people))
    start = time.perf_counter() + 0.1

    async def play(person: Person, phase: float) -> None:
        for turn in range(seconds):
            due = start + turn + phase
            await asyncio.sleep(max(0, due - time.perf_counter()))
            await person.step(verb, due, crowd)

    await asyncio.gather(*(play(person, index / len(people)) for index, person in enumerate(people)))
    return crowd
