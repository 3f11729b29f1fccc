"""Execute steps in their JSON form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.steps import command_of
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say


def play(simulation: Simulation, steps: Sequence[Data]) -> None:
    """Execute commands in their JSON form. Raises Rejected when one is refused, except a step with ``refused``: that
    one must be, with this text among its reasons. Ignores ``expect`` beside them.
    """
    for step in steps:
        wanted = step.get("refused")
        try:
            simulation.execute(commands.from_json(command_of(step)))
        except Rejected as refusal:
            if wanted is None or wanted not in str(refusal):
                raise
        else:
            if wanted is not None:
                raise Rejected(say("scenario-errors.not-refused", command=step["kind"], wanted=wanted))


def located(refusal: Rejected, place: str) -> Rejected:
    """Add the place of the refused step to the refusal."""
    errors = (replace(error, path="", message=f"{place}: {error}") for error in refusal.errors)
    return Rejected([*errors])
