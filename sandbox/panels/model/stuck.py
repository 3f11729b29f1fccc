"""A log that cannot be replayed to its end: where it stops, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stuck:
    """The number of the first ``command`` that fails, and the engine's ``reason``. The page shows what precedes it."""

    command: int
    reason: str
