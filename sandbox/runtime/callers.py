"""Who waits for what a thread does. What works for one client alone stops when that client leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_here = threading.local()


class Caller:
    """The client of a request, while its answer is on the way."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.has_left = False
        self.stops: list[Callable[[], None]] = []

    def leave(self) -> None:
        """Stop what works for this client, and what begins later. Call it in any thread."""
        with self.lock:
            self.has_left = True
            stops, self.stops = self.stops, []
        for stop in stops:
            stop()

    def _add(self, stop: Callable[[], None]) -> None:
        with self.lock:
            if not self.has_left:
                self.stops.append(stop)
                return
        stop()

    def _remove(self, stop: Callable[[], None]) -> None:
        with self.lock:
            if stop in self.stops:
                self.stops.remove(stop)


@contextmanager
def working_for(caller: Caller) -> Iterator[None]:
    """Let this thread work for a client in the block."""
    _here.caller = caller
    try:
        yield
    finally:
        _here.caller = None


@contextmanager
def stopped_by(stop: Callable[[], None]) -> Iterator[None]:
    """Call ``stop`` if the client of this thread leaves during the block, or has left before it."""
    caller: Caller | None = getattr(_here, "caller", None)
    if caller is None:
        yield
        return
    caller._add(stop)
    try:
        yield
    finally:
        caller._remove(stop)
