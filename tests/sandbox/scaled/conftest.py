"""Web processes that share a PostgreSQL and a Redis, and browsers of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from socket import SHUT_RDWR, socket
from threading import Thread

import pytest

from tests.sandbox.served import CLOSE, PING, PONG, TEXT, Served, frame, served
from tests.servers import Postgres, RedisServer

Start = Callable[..., Served]
VIEW = json.dumps({"open": "status queues"}).encode()


@pytest.fixture
def web(postgres_server: Postgres, redis_server: RedisServer, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a web process. Those of one test share a new database."""
    with start_all(tmp_path, postgres_server.new_database(), redis_server.url) as start:
        yield start


@contextmanager
def start_all(folder: Path, database: str, redis: str) -> Iterator[Start]:
    """Yield a function that starts a web process. End them all after the block."""
    numbers = count(1)
    shared = {
        "DATABASE_URL": database,
        "REDIS_URL": redis,
        "SECRET_KEY": "only-for-tests" * 4,
        "WEB_PROCESSES": "2",
    }
    with ExitStack() as stack:

        def start(**settings: str) -> Served:
            own = folder / f"web-{next(numbers)}"
            own.mkdir()
            return stack.enter_context(served(own, **shared | settings))

        yield start


class Browser:
    """One live line, which shows the panels of ``VIEW``. It always answers pings, as a real browser does."""

    def __init__(self, site: Served, base: str) -> None:
        self.line, head = site.live_line(base)
        assert b" 101 " in head.split(b"\r\n")[0], head
        self.line.sendall(frame(VIEW, TEXT))
        self.patience = self.line.gettimeout()
        self.line.settimeout(None)
        self.arrived: SimpleQueue[tuple[int, bytes] | None] = SimpleQueue()
        """Kind and payload of what the server sent; None once the line has been cut."""
        Thread(target=self._listen, daemon=True).start()
        self.shown = 0
        """The newest revision that arrived."""
        self.code: int | None = None
        """The close code, once the server has closed the line."""

    def close(self) -> None:
        with suppress(OSError):  # The server may have closed it.
            self.line.shutdown(SHUT_RDWR)
        self.line.close()

    def see(self, revision: int) -> None:
        """Read until the panels of ``revision`` have arrived, or until the server closes the line."""
        while self.shown < revision and self.code is None:
            self._read()

    def see_close(self) -> int:
        """Read until the server closes the line. Return the close code."""
        while self.code is None:
            self._read()
        return self.code

    def _listen(self) -> None:
        try:
            while True:
                kind, payload = self._next()
                if kind == PING:
                    self.line.sendall(frame(payload, PONG))
                else:
                    self.arrived.put((kind, payload))
        except (AssertionError, OSError):
            self.arrived.put(None)

    def _next(self) -> tuple[int, bytes]:
        kind, size = _exactly(self.line, 2)
        if size > 125:
            size = int.from_bytes(_exactly(self.line, 2 if size == 126 else 8))
        return kind & 0xF, _exactly(self.line, size)

    def _read(self) -> None:
        arrived = self.arrived.get(timeout=self.patience)
        assert arrived is not None, "the server cut the line"
        kind, payload = arrived
        if kind == CLOSE:
            self.code = int.from_bytes(payload[:2])
        elif payload.startswith(b"<!--"):
            self.shown = int(payload[4 : payload.index(b"-->")])


Browse = Callable[[Served, str], Browser]


def _exactly(line: socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        piece = line.recv(size - len(received))
        assert piece, "the server cut the line"
        received += piece
    return received


@pytest.fixture
def browse() -> Iterator[Browse]:
    """Return a function that opens a live line. All are closed after the test."""
    browsers: list[Browser] = []

    def opened(site: Served, base: str) -> Browser:
        browsers.append(Browser(site, base))
        return browsers[-1]

    yield opened
    for browser in browsers:
        browser.close()


def click(site: Served, base: str, path: str = "do/advance/", body: str = "seconds=1") -> int:
    """Send a command. Return its status."""
    return site.ask("POST", f"{base}{path}", body)[0]
