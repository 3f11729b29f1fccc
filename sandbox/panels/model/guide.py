"""A scenario's steps, as they are known beside the trace."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """``summary`` as in CommandGiven, ``text`` for people. ``refused``: it must be, so that no trace tells of it."""

    summary: str
    text: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Guide:
    """``setup``: number of commands that were executed when the scenario was opened."""

    setup: int = 0
    steps: tuple[Step, ...] = ()
