"""The steps of a scenario. They are not in the trace."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.commands import Command


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``command`` as the trace records it; ``text`` for people.

    ``refused``: it must be refused, so it is not in the trace.
    """

    command: Command
    text: str
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Guide:
    """The steps of the scenario. ``setup``: number of commands executed when the scenario was opened."""

    setup: int = 0
    steps: tuple[Step, ...] = ()
