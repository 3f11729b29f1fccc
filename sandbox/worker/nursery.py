"""The process that starts engines, as forks of itself: what they all need is loaded once, and shared."""

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
    """Raises ``OSError``, ``EOFError`` or ``AuthenticationError`` when the site is not there any more."""
    return Line(Client(address, family="AF_UNIX", authkey=key))


def engine(address: str, key: bytes) -> tuple[Line, str] | None:
    """In each fork, its line to the site and its lane; in the nursery None, when the site is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # The site sees by itself that an engine has ended.
    # A terminal or supervisor sends these to all; when to end is the site's to say, by closing the connection.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        line = connect(address, key)
        line.send(Ready())
        while (order := _next_order(line)) is not None:
            # Made here, so that the site sees it closed should the fork end before it has come to say anything.
            made = connect(address, key)
            pid = os.fork()
            if not pid:
                line.close()
                return made, order.lane
            made.send(Hello(pid, slot=order.slot))
            made.close()
    except (EOFError, OSError, AuthenticationError) as error:
        log.warning("no engine can be started: %s", error)
        return None
    # The site may have been killed, and nobody else is left to tidy up behind it.
    shutil.rmtree(Path(address).parent, ignore_errors=True)
    return None


def _next_order(line: Line) -> Order | None:
    """None when the site is gone."""
    try:
        order: Order = line.recv()
    except (EOFError, ConnectionResetError):
        return None
    return order
