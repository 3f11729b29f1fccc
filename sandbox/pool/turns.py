"""Turns: one request at a time in each sandbox, with limits for waiting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from uuid import UUID

from sandbox.runtime.connections import give_back
from sandbox.words.say import say
from sandbox.worker.errors import Busy, Occupied

PATIENCE_SECONDS = 4.0
MOST_WAITING = 16


@dataclass(slots=True)
class Turn:
    """The turn of one sandbox. ``present``: how many threads have it or wait for it."""

    lock: Lock = field(default_factory=Lock)
    present: int = 0


_turns: dict[UUID, Turn] = {}
_guard = Lock()


def is_taken(sandbox_id: UUID) -> bool:
    """Return True if somebody has the turn of a sandbox, or waits for it."""
    with _guard:
        return sandbox_id in _turns


@contextmanager
def turn(sandbox_id: UUID) -> Iterator[None]:
    """Hold the turn of a sandbox in the block. No other thread of this process can have it meanwhile.

    Raises ``Busy`` if too many wait already, ``Occupied`` after waiting ``PATIENCE_SECONDS``.
    """
    with _guard:
        own = _turns.setdefault(sandbox_id, Turn())
        if own.present > MOST_WAITING:
            raise Busy(say("limits.waiting"))
        own.present += 1
    try:
        if not own.lock.acquire(blocking=False):
            give_back()
            if not own.lock.acquire(timeout=PATIENCE_SECONDS):
                raise Occupied(say("limits.occupied"))
        try:
            yield
        finally:
            own.lock.release()
    finally:
        with _guard:
            own.present -= 1
            if not own.present:
                del _turns[sandbox_id]
