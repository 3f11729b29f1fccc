"""A log that cannot be replayed to its end: where it stops, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stuck:
    """``command``: number of the first command that fails; ``reason``: the engine's words. The page shows the state
    before it.
    """

    command: int
    reason: str
