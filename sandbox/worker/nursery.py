"""The nursery: a process that starts workers as forks of itself, so that they share loaded code and data."""

from __future__ import annotations

import logging
import os
import shutil
import signal
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path

from sandbox.worker.line import Line
from sandbox.worker.messages import Hello, Order, Ready

log = logging.getLogger(__name__)


def connect(address: str, key: bytes) -> Line:
    """Open a line to the web process. Raises ``OSError``, ``EOFError`` or ``AuthenticationError`` if that has ended."""
    return Line(Client(address, family="AF_UNIX", authkey=key))


def engine(address: str, key: bytes) -> tuple[Line, str] | None:
    """Start workers as forks until the web process ends.

    Return the line and the lane in each fork. Return None in the nursery, when the web process has ended.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # The web process notices the end of a worker by itself.
    # A terminal or supervisor sends these to all. The web process ends a worker by closing its connection.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        line = connect(address, key)
        line.send(Ready())
        while (order := _next_order(line)) is not None:
            # Connect before forking: if the fork ends before it says anything, the web process sees it closed.
            worker_line = connect(address, key)
            pid = os.fork()
            if not pid:
                line.close()
                return worker_line, order.lane
            worker_line.send(Hello(pid, slot=order.slot))
            worker_line.close()
    except (EOFError, OSError, AuthenticationError) as error:
        log.warning("cannot start a worker: %s", error)
        return None
    # If the web process was killed, nobody else removes its folder.
    shutil.rmtree(Path(address).parent, ignore_errors=True)
    return None


def _next_order(line: Line) -> Order | None:
    """Wait for the next order. Return None if the web process has ended."""
    try:
        order: Order = line.recv()
    except (EOFError, ConnectionResetError):
        return None
    return order
