"""A scenario's steps, as they are known beside the trace."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.commands import Command


@dataclass(frozen=True, slots=True)
class Step:
    """``command`` as the trace records it; ``text`` for people. ``refused``: it must be: the trace does not have it."""

    command: Command
    text: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Guide:
    """``setup``: number of commands that were executed when the scenario was opened."""

    setup: int = 0
    steps: tuple[Step, ...] = ()
