"""Simulations: made from a sandbox's plan, and driven by the commands of its log."""

from __future__ import annotations

import json

from sandbox.storage.commands import text_of
from sandbox.storage.records import Plan
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import Entry


def new_simulation(plan: Plan) -> Simulation:
    """Return a sandbox's simulation at its start.

    Once it has raised ``OverBudget`` it is of no use any more: a replay starts from a keyframe.
    """
    return Simulation(
        seed=plan.seed,
        configuration=json.loads(plan.configuration),
        queue_rules=plan.queue_rules,
        full=True,
        undoes=False,
        priority_numbers=plan.priority_numbers,
    )


def execute(simulation: Simulation, text: str) -> str | None:
    """Execute a command of a log. Always from its text, so that the first run and every replay get the same input.

    Return what replaces the last command and this one in the log, if they are ticks of playing that merge.
    """
    command = commands.from_json(json.loads(text))
    both = simulation.merged(command)
    simulation.execute(command)
    return None if both is None else text_of(both)


def entries_from(simulation: Simulation, start: int) -> list[Entry]:
    """Return the trace from entry ``start`` (0-based) on."""
    return simulation.recorder.entries[start:]
