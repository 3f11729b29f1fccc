"""One hostile client, with the sockets its act needs. It counts the answers; they are judged elsewhere."""

from __future__ import annotations

import asyncio
import random
import socket
from collections import Counter
from typing import Any

from tests.hostile.visitors import word_for
from tests.hostile.wire import Answer, Connection, Line, enter, opened, yaml

Manifest = dict[str, Any]


class Stranger:
    """A stranger at one address. ``pool`` holds the sandboxes that strangers share."""

    def __init__(self, port: int, address: str, drawn: random.Random, pool: list[str]) -> None:
        self.port, self.address, self.random, self.pool = port, address, drawn, pool
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []
        """The beginnings of answers that nobody should get."""
        self.http = Connection(port, address, timeout=60)
        self.open: list[asyncio.StreamWriter] = []

    def note(self, answer: Answer) -> Answer:
        self.answers[word_for(answer.status)] += 1
        unexplained = answer.status == 503 and len(answer.text.split()) < 4
        if unexplained:
            self.answers["503 without words"] += 1
        if (answer.status >= 500 and answer.status != 503) or unexplained:
            self.wrong.append(f"{answer.status} {answer.text[:200]}")
        return answer

    async def post(self, path: str, **fields: str) -> Answer:
        return self.note(await self.http.post(path, **fields))

    async def get(self, path: str) -> Answer:
        return self.note(await self.http.get(path))

    async def sandbox(self) -> str:
        """Create a sandbox for the strangers, or return an existing one if they may not create more."""
        answer = self.note(await self.http.post("/new/"))
        if answer.status == 302:
            self.pool.append(answer.headers["location"])
            return self.pool[-1]
        if self.pool:
            return self.random.choice(self.pool)
        self.pool.append(await enter(self.http))
        return self.pool[-1]

    async def apply(self, base: str, *manifests: Manifest) -> Answer:
        return await self.post(f"{base}apply/", manifests=yaml(manifests))

    async def raw(self, window: int = 0) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a raw connection; ``window``: most bytes on their way to it."""
        if window:
            plain = socket.socket()
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
            plain.setblocking(False)
            plain.bind((self.address, 0))
            await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", self.port))
            streams = await asyncio.open_connection(sock=plain, limit=window)
        else:
            streams = await opened(self.port, self.address)
        self.open.append(streams[1])
        return streams

    async def line(self, base: str) -> Line:
        """Open a live line that nobody reads."""
        line = Line(self.port, base, self.address)
        await line.open(says=False)
        self.open.append(line.writer)
        return line

    def cut(self) -> None:
        self.http.close()
        while self.open:
            self.open.pop().transport.abort()
