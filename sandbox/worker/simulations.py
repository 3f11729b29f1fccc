"""Create a simulation from a sandbox's plan, and execute the commands of its log."""

from __future__ import annotations

import json

from sandbox.storage.commands import text_of
from sandbox.storage.records import Plan
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import Entry


def new_simulation(plan: Plan, full: bool = True) -> Simulation:
    """Return a sandbox's simulation at its start. ``full``: with all tables in its trace.

    A simulation that has raised ``OverBudget`` cannot be used any more: replay from a keyframe.
    """
    return Simulation(
        seed=plan.seed,
        configuration=json.loads(plan.configuration),
        queue_rules=plan.queue_rules,
        full=full,
        undoes=False,
        priority_numbers=plan.priority_numbers,
        kubernetes=plan.kubernetes,
        feature_gates=json.loads(plan.feature_gates),
    )


def execute(simulation: Simulation, text: str, is_new: bool = False) -> str | None:
    """Execute a command of a log from its text, so that the first run and every replay have the same input.

    ``is_new``: it is not in the log yet, so it may be refused for its size.

    Return the text that replaces the last command and this one in the log if both are ticks that merge, else None.
    """
    command = commands.from_json(json.loads(text))
    both = simulation.merged(command)
    simulation.execute(command, is_new)
    return None if both is None else text_of(both)


def entries_from(simulation: Simulation, start: int) -> list[Entry]:
    """Return the trace from entry ``start`` (0-based) on."""
    return simulation.recorder.entries[start:]
