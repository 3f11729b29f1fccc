"""A log that cannot be replayed to its end: where it stops, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stuck:
    """``command``: the number of the first one that fails; ``reason``: the engine's words. What is shown is the state
    before it.
    """

    command: int
    reason: str
