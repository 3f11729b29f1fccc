"""A job that compares a sandbox with another run."""

from __future__ import annotations

from typing import Any

from sandbox.storage.records import Position
from sandbox.worker import comparing
from sandbox.worker.job import replaying
from sandbox.worker.live import Live


@replaying
def difference(live: Live, position: Position, other: comparing.Other) -> dict[str, Any]:
    """Return what differs between the present and another run, in words."""
    live.move_to(position)
    return comparing.difference(live, other)
