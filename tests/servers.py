"""Real PostgreSQL and Redis servers for tests, on free ports and in temporary folders.

The fixtures ``postgres_server`` and ``redis_server`` run for the whole session. A test that stops or kills a server
uses ``own_postgres`` or ``own_redis``, which run for that test alone.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg
import pytest
from redis import Redis

from tests.processes import children
from tests.waiting import free_port, until

DEBIANS = Path("/usr/lib/postgresql")
CONNECTIONS = 300
"""PostgreSQL's ``max_connections``."""
STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]*): (.*)")
ABOUT = ("client", "hello", "info", "ping")
"""Commands of Redis about connections and the server."""


@dataclass
class Server:
    """A server that can be stopped and started again on the same port. ``more``: arguments for Popen."""

    command: list[str]
    folder: Path
    port: int
    more: dict[str, object] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=log, stderr=log, **self.more)
        until(self._answers)

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text()
        return self.is_ready()

    def is_ready(self) -> bool:
        raise NotImplementedError

    def end(self, number: signal.Signals) -> None:
        """Send a signal, and wait until the server has ended. Do nothing if it does not run."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait()
            self.process = None

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def stop(self) -> None:
        raise NotImplementedError


class Postgres(Server):
    """PostgreSQL. It writes every statement to ``log``."""

    numbers = count(1)

    def is_ready(self) -> bool:
        try:
            psycopg.connect(self._url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _url(self, database: str) -> str:
        return f"postgres://sandbox@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Create an empty database. Return its ``DATABASE_URL``."""
        name = f"test_{next(self.numbers)}"
        self.run(f"CREATE DATABASE {name}")
        return self._url(name)

    def statements(self) -> list[str]:
        """Return the first lines of all statements so far."""
        return STATEMENT.findall(self.log.read_text())

    def run(self, sql: str) -> list[tuple[object, ...]]:
        """Run a statement as superuser, outside of a transaction. Return its rows."""
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def stop(self) -> None:
        """Stop it as a restart does: connections are ended, nothing is lost."""
        self.end(signal.SIGINT)

    def kill(self) -> None:
        """Kill the server, and wait until its other processes have noticed it and ended."""
        assert self.process is not None
        others = children(self.process.pid)
        super().kill()
        until(lambda: not any(map(_runs, others)))
        (self.folder / "data" / "postmaster.pid").unlink()


def _runs(pid: int) -> bool:
    """Return True if a process has not ended. One that nobody waits for stays in the table of processes."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class RedisServer(Server):
    """Redis, without files. What it had is lost when it ends."""

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def is_ready(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def calls(self) -> Counter[str]:
        """Return how often each command of the data was called, without those about connections and the server."""
        with Redis.from_url(self.url) as client:
            stats = client.info("commandstats")
        return Counter({name[8:]: row["calls"] for name, row in stats.items() if name[8:].split("|")[0] not in ABOUT})

    def stop(self) -> None:
        self.end(signal.SIGTERM)


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, or None. Debian keeps them off the PATH, or links only some there."""
    program = shutil.which("initdb")
    return Path(program).resolve().parent if program else max(DEBIANS.glob("*/bin"), default=None)


def missing() -> list[str]:
    """List what several web processes need and this machine lacks."""
    programs = (("PostgreSQL", postgres_programs()), ("Redis", shutil.which("redis-server")))
    return [name for name, program in programs if not program]


@contextmanager
def postgres(*options: str, durable: bool = False) -> Iterator[Postgres]:
    """Run a PostgreSQL. ``options``: settings, as ``name=value``. ``durable``: wait for the disk, as in production."""
    programs = postgres_programs()
    assert programs, "PostgreSQL is not installed"
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    # PostgreSQL refuses to run as root.
    more: dict[str, object] = {}
    if os.geteuid() == 0:
        more = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(folder, "postgres", "postgres")
    port, data = free_port(), str(folder / "data")
    settings = {
        "unix_socket_directories": str(folder),
        "listen_addresses": "127.0.0.1",
        "max_connections": str(CONNECTIONS),
        "log_statement": "none" if durable else "all",
        "fsync": "on" if durable else "off",
        "full_page_writes": "on" if durable else "off",
    } | dict(option.split("=", 1) for option in options)
    command = [str(programs / "postgres"), "-D", data, "-p", str(port)]
    server = Postgres(
        command + [word for name, value in settings.items() for word in ("-c", f"{name}={value}")], folder, port, more
    )
    try:
        subprocess.run(
            [str(programs / "initdb"), "-D", data, "-U", "sandbox", "--auth=trust", "--no-sync", "--encoding=UTF8"],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            **more,
        )
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


@contextmanager
def redis() -> Iterator[RedisServer]:
    """Run a Redis."""
    program = shutil.which("redis-server")
    assert program, "Redis is not installed"
    folder, port = Path(tempfile.mkdtemp(prefix="redis-")), free_port()
    server = RedisServer([program, "--port", str(port), "--bind", "127.0.0.1", "--save", ""], folder, port)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


@contextmanager
def shared() -> Iterator[dict[str, str]]:
    """Run a PostgreSQL and a Redis. Yield the settings that make web processes use them."""
    with ExitStack() as stack:
        database, cache = stack.enter_context(postgres(durable=True)), stack.enter_context(redis())
        yield {"DATABASE_URL": database.new_database(), "REDIS_URL": cache.url}


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """Yield a PostgreSQL that runs for all tests. Create a database for each: ``postgres_server.new_database()``."""
    with postgres() as server:
        yield server


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """Yield a Redis that runs for all tests."""
    with redis() as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """Yield a PostgreSQL that this test may stop, kill and start again."""
    with postgres() as server:
        yield server


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    """Yield a Redis that this test may stop, kill and start again."""
    with redis() as server:
        yield server
