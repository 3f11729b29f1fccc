"""Start PostgreSQL and Redis for several workers, on separate ports and in separate folders."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.browser.conftest import wait_until

DEBIANS = Path("/usr/lib/postgresql")


def postgres() -> Path | None:
    """Return the folder of PostgreSQL's programs, or None. Debian keeps them off the PATH, or links only some there."""
    program = shutil.which("initdb")
    return Path(program).resolve().parent if program else max(DEBIANS.glob("*/bin"), default=None)


def missing() -> list[str]:
    """List what several workers need and this machine lacks."""
    return [
        name
        for name, program_path in (("PostgreSQL", postgres()), ("Redis", shutil.which("redis-server")))
        if not program_path
    ]


@contextmanager
def shared(directory: Path) -> Iterator[dict[str, str]]:
    """Run a PostgreSQL and a Redis. Yield the settings that make workers use them."""
    with ExitStack() as stack:
        database = stack.enter_context(_postgres(directory / "postgres"))
        cache = stack.enter_context(_redis())
        yield {"DATABASE_URL": database, "REDIS_URL": cache}


@contextmanager
def _postgres(directory: Path) -> Iterator[str]:
    programs = postgres()
    assert programs
    directory.mkdir()
    # PostgreSQL refuses to run as root.
    who: list[str] = []
    if os.geteuid() == 0:
        who = ["runuser", "-u", "postgres", "--"]
        for folder in (directory.parent, directory):
            shutil.chown(folder, "postgres")
    port, quiet = _free_port(), {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    data = str(directory / "data")
    command = [str(programs / "initdb"), "-D", data, "-U", "sandbox", "--auth=trust", "--no-sync"]
    subprocess.run([*who, *command], check=True, cwd=directory, **quiet)
    options = [
        "-p",
        str(port),
        "-c",
        f"unix_socket_directories={directory}",
        "-c",
        "listen_addresses=127.0.0.1",
        "-c",
        "max_connections=1000",
    ]
    server = subprocess.Popen([*who, str(programs / "postgres"), "-D", data, *options], cwd=directory, **quiet)
    try:
        ready = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
        wait_until(lambda: subprocess.run(ready).returncode == 0)
        yield f"postgres://sandbox@127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def _redis() -> Iterator[str]:
    port = _free_port()
    server = subprocess.Popen(["redis-server", "--port", str(port), "--save", ""], stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: _opened(port))
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


def _opened(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
