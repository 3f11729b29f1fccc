"""The nursery as the pool sees it: the process that starts workers, and the door at which they arrive."""

from __future__ import annotations

import logging
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener
from pathlib import Path
from threading import Lock, Thread

from sandbox.runtime.local import local
from sandbox.worker.line import Line
from sandbox.worker.messages import Hello, Order, Ready

log = logging.getLogger(__name__)

RESTART_SECONDS = 1.0
"""How long to wait before starting a process again that ended at its start."""


class Nursery:
    """``ready`` is called when it takes orders, at first and after each restart; ``arrived`` for each new worker."""

    def __init__(self, ready: Callable[[], None], arrived: Callable[[Hello, Line], None]) -> None:
        self.ready, self.arrived = ready, arrived
        self.lock = Lock()
        self.closing = False
        self.folder = tempfile.mkdtemp(prefix="scheduler-sandbox-")
        self.key = secrets.token_bytes(32)
        self.listener = Listener(str(Path(self.folder) / "engines"), family="AF_UNIX", backlog=64, authkey=self.key)
        self.line: Line | None = None
        """For orders. None while it starts."""
        self.child = self._start()

    def open(self) -> None:
        """Let workers arrive."""
        Thread(target=self._accept, name="engines", daemon=True).start()
        Thread(target=self._watch, name="nursery-end", daemon=True).start()

    def order(self, slot: int, lane: str) -> None:
        """Order a worker for a slot. If it is not ready, the order is lost: ``ready`` will be called."""
        with self.lock:
            try:
                if self.line is not None:
                    self.line.post(Order(slot, lane))
            except OSError:
                log.info("the nursery ended before it got an order")

    def close(self) -> None:
        """End it, but not the workers."""
        with self.lock:
            self.closing = True
        self.listener.close()
        self.child.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "sandbox.worker", str(self.listener.address), *local.places]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, cwd=Path(__file__).resolve().parents[2])
        assert child.stdin is not None
        with child.stdin:
            child.stdin.write(self.key.hex() + "\n")
        return child

    def _watch(self) -> None:
        """Start another process whenever it ends. The workers continue."""
        while True:
            self.child.wait()
            with self.lock:
                line, self.line = self.line, None
            if line is not None:
                line.close()
            if self.closing:
                return
            log.error("the process that starts workers has ended; starting another one")
            time.sleep(RESTART_SECONDS)
            with self.lock:
                if self.closing:
                    return
                try:
                    self.child = self._start()
                except OSError:
                    log.exception("cannot start the process that starts workers; trying again")

    def _accept(self) -> None:
        while not self.closing:
            try:
                line = Line(self.listener.accept())
            except (OSError, EOFError, AuthenticationError, AssertionError):
                continue  # A worker that died before it was known, or the pool is closing.
            try:
                hello = line.recv()
            except (OSError, EOFError):
                line.close()  # A worker that died before its Hello.
                continue
            if isinstance(hello, Ready):
                with self.lock:
                    self.line = line
                self.ready()
            elif isinstance(hello, Hello):
                self.arrived(hello, line)
            else:
                log.error("a worker began with %s instead of its name; closing its connection", type(hello).__name__)
                line.close()
