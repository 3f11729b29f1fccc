"""The one place where the site meets the engine: making a simulation, and commands to and from text."""

from __future__ import annotations

import json
from typing import Any

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.queue.design_doc import QUEUES
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import Entry

QUEUE_RULES = tuple(QUEUES)
"""Names of the rule sets that a sandbox can have; the first is the default."""
LONGEST = 60
"""Characters of a command that nobody can read."""


def new_simulation(seed: int, configuration: str, queue_rules: str, priority_numbers: bool) -> Simulation:
    """A simulation at its start; ``configuration`` is JSON text, ``queue_rules`` one of ``QUEUE_RULES``.

    ``priority_numbers``: pods may give their priority as a number alone.

    One that has raised ``OverBudget`` is of no use any more: a replay starts from a keyframe.
    """
    configured = json.loads(configuration)
    flags = {"full": True, "undoes": False, "priority_numbers": priority_numbers}
    return Simulation(seed=seed, configuration=configured, queue_rules=queue_rules, **flags)


def to_text(command: dict[str, Any]) -> str:
    """The command as it is kept. Raises ``Rejected`` when it is none."""
    return _text(commands.from_json(command))


def execute(simulation: Simulation, text: str) -> str | None:
    """Execute a kept command. Always from its text, so that the first run and every replay see the same input.

    Gives what is to be kept in place of the last command and this one, when they are ticks of playing that merge.
    """
    command = commands.from_json(json.loads(text))
    both = simulation.merged(command)
    simulation.execute(command)
    return None if both is None else _text(both)


def ended_early(text: str, entries: int) -> str:
    """The command as it is kept when it is to end after so many trace entries of its own. Raises ``Rejected``."""
    return to_text({**json.loads(text), "until": entries})


def summary(text: str) -> str:
    """A kept command in words; one that this version does not know as it is kept."""
    try:
        return commands.from_json(json.loads(text)).summary
    except (Rejected, ValueError):
        return text[:LONGEST]


def only_steps(text: str) -> bool:
    """Return True if a kept command changes nothing but lets the scheduler work."""
    row = commands.COMMANDS.get(json.loads(text)["kind"])
    return row is not None and row.steps


def _text(command: commands.Command) -> str:
    return json.dumps(commands.to_json(command), separators=(",", ":"))


def entries_from(simulation: Simulation, start: int) -> list[Entry]:
    """The trace from entry ``start`` (0-based) on."""
    return simulation.recorder.entries[start:]
