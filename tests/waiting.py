"""Wait until something holds, and find free ports."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 300
"""Seconds after which a test gives up waiting, on however busy a machine."""


def until(holds: Callable[[], Any]) -> Any:
    """Call ``holds`` until it returns something true, and return that."""
    end = time.monotonic() + PATIENCE
    while not (value := holds()):
        assert time.monotonic() < end, "not yet true"
        time.sleep(0.05)
    return value


def free_port() -> int:
    """Return a TCP port on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
