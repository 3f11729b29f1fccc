"""A log that cannot be replayed to its end: where it stops, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stuck:
    """The number of the first ``command`` that fails, and the engine's ``reason``. The page shows what precedes it.

    ``differs``: the command works, but is decided differently than before.
    """

    command: int
    reason: str
    differs: bool = False
