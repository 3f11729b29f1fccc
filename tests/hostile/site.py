"""The real server in a separate process, with its children: their resource use, and how they end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = 1 / os.sysconf("SC_CLK_TCK")
MEGABYTE = 1 << 20
RUNNING: set[int] = set()
"""Servers that this process has started."""
SAMPLE_SECONDS, LOOK_SECONDS = 2.0, 0.25


def command(port: int) -> list[str]:
    """Return the command that starts a server, in all harnesses."""
    return [sys.executable, "-m", "sandbox.server", "--port", str(port)]


def prepare(directory: Path, **settings: str) -> dict[str, str]:
    """Create a database and static files in ``directory``. Return the environment of a server that uses them.

    ``settings``: environment variables that override the others.
    """
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "sandbox.settings",
        "DATABASE_URL": f"sqlite:///{directory / 'db.sqlite3'}",
        "STATIC_ROOT": str(directory / "static"),
        "SECRET_KEY": "only-for-tests",
        **settings,
    }
    for name in ("migrate", "collectstatic"):
        manage = [sys.executable, "manage.py", name, "--no-input", "-v0"]
        subprocess.run(manage, cwd=ROOT, env=environment, check=True)
    return environment


def end_in_order() -> None:
    """On SIGTERM, end the servers and then the harness, whatever its threads wait for."""
    signal.signal(signal.SIGTERM, lambda number, frame: _give_up())


def _give_up() -> None:
    for leader in list(RUNNING):
        end_family(leader)
    os._exit(1)


def wait_until(holds: Callable[[], object], seconds: float) -> bool:
    """Return True once ``holds`` is true. ``seconds`` is generous: it only detects what hangs."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@dataclass(frozen=True, slots=True)
class Sample:
    """Resource use of the server and its children at one moment. Bytes are proportional: shared pages count once."""

    at: float
    size: int
    processes: int
    files: int


class Site:
    """A server on a free port. The first process identifies the session, including processes that outlive it."""

    def __init__(self, directory: Path, environment: dict[str, str], cap: int = 4 << 30) -> None:
        """Above ``cap`` bytes, kill everything and set ``overrun`` to the bytes: the machine has other users."""
        self.directory, self.environment, self.cap = directory, environment, cap
        self.process: subprocess.Popen[bytes] | None = None
        self.samples: list[Sample] = []
        self.overrun = 0
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    @property
    def pid(self) -> int:
        assert self.process, "the server is not running"
        return self.process.pid

    @property
    def log(self) -> str:
        return (self.directory / "server.log").read_text(errors="replace")

    def start(self) -> None:
        """Start the server. Return as soon as the port is open."""
        with (self.directory / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command(self.port), cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        RUNNING.add(self.pid)
        assert wait_until(self._opened, 60), f"the server does not open its port\n{self.log[-2000:]}"

    def _opened(self) -> bool:
        assert self.alive(), f"the server ended\n{self.log[-2000:]}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def children(self) -> list[int]:
        """Return the server's running descendants."""
        return [pid for pid in family(self.pid) if pid != self.pid]

    def kill(self) -> None:
        """Send ``kill -9`` to the serving process alone, not to its children."""
        assert self.process, "the server is not running"
        self.process.kill()
        self.process.wait()

    def stop(self, seconds: float = 15) -> bool:
        """Send SIGTERM. Return True if everything ended by itself within ``seconds``."""
        assert self.process, "the server is not running"
        self.process.terminate()
        ended = wait_until(lambda: not self.alive() and not self.children(), seconds)
        self.end()
        return ended

    def end(self) -> None:
        """End everything that the server started."""
        if self.process is not None:
            end_family(self.pid)
            self.process.wait()

    def cpu_seconds(self) -> float:
        """Return the CPU time so far of all running processes."""
        return sum(_cpu(pid) for pid in family(self.pid))

    def memory(self) -> int:
        """Return the bytes of all running processes. Shared pages count once."""
        return sum(map(_proportional, family(self.pid)))

    def calms_down(self, seconds: float) -> bool:
        """Return True after a second with hardly any CPU use: on a busy machine an endless loop still uses some."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.alive():
            before = self.cpu_seconds()
            time.sleep(1)
            if self.cpu_seconds() - before < 0.1:
                return True
        return False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Take samples, and enforce the cap."""
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def _watch(self, over: threading.Event) -> None:
        due = time.monotonic()
        while not over.wait(LOOK_SECONDS):
            pids = family(self.pid)
            if time.monotonic() >= due:
                due += SAMPLE_SECONDS
                sizes = self.memory()
                self.samples.append(Sample(time.monotonic(), sizes, len(pids), sum(map(_files, pids))))
            if sum(map(_resident, pids)) > self.cap and (size := self.memory()) > self.cap:
                self.overrun = size
                self.end()


@contextmanager
def sites(folder: Path, environment: dict[str, str], number: int, cap: int = 4 << 30) -> Iterator[list[Site]]:
    """Run several servers on one database, each with a folder of its own for its log."""
    started: list[Site] = []
    try:
        for n in range(number):
            own = folder / f"web-{n}"
            own.mkdir()
            started.append(Site(own, environment, cap))
            started[-1].start()
        yield started
    finally:
        for site in started:
            site.end()


def family(leader: int) -> list[int]:
    """Return the processes of the session of ``leader``, itself included, without those that have ended."""
    results = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = _read(f"/proc/{entry}/stat").rpartition(")")[2].split()
            if fields and fields[0] != "Z" and int(fields[3]) == leader:
                results.append(int(entry))
    return sorted(results)


def _read(path: str) -> str:
    """Return "" for a process that has ended meanwhile."""
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _proportional(pid: int) -> int:
    sizes = [line.split()[1] for line in _read(f"/proc/{pid}/smaps_rollup").splitlines() if line.startswith("Pss:")]
    return int(sizes[0]) * 1024 if sizes else 0


def _resident(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * PAGE if fields else 0


def _cpu(pid: int) -> float:
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK if fields else 0


def _files(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError):
        return 0


def end_family(leader: int) -> None:
    for pid in family(leader):
        kill(pid)


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
