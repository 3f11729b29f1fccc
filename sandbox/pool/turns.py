"""One at a time in each sandbox: who waits for too long, or finds too many waiting, is told so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from uuid import UUID

from sandbox.worker.errors import Busy, Occupied

PATIENCE_SECONDS = 4.0
MOST_WAITING = 16


@dataclass(slots=True)
class Turn:
    """``present``: how many have or want the turn."""

    lock: Lock = field(default_factory=Lock)
    present: int = 0


_turns: dict[UUID, Turn] = {}
_guard = Lock()


@contextmanager
def turn(sandbox_id: UUID) -> Iterator[None]:
    """Until the end of the block nobody else in this process asks for anything of this sandbox.

    Raises ``Busy`` when too many wait already, ``Occupied`` after ``PATIENCE_SECONDS``.
    """
    with _guard:
        mine = _turns.setdefault(sandbox_id, Turn())
        if mine.present > MOST_WAITING:
            raise Busy("Too many requests are waiting for this sandbox. Wait a moment and try again.")
        mine.present += 1
    try:
        if not mine.lock.acquire(timeout=PATIENCE_SECONDS):
            raise Occupied("A command is still running in this sandbox. Wait until it ends, or stop it.")
        try:
            yield
        finally:
            mine.lock.release()
    finally:
        with _guard:
            mine.present -= 1
            if not mine.present:
                del _turns[sandbox_id]
