"""The one place where the site meets the engine: making a simulation, and commands to and from text."""

from __future__ import annotations

import json
from typing import Any

from scheduler_engine import commands
from scheduler_engine.queue.design_doc import QUEUES
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import Entry

QUEUE_RULES = tuple(QUEUES)
"""Names of the rule sets that a sandbox can have; the first is the default."""


def new_simulation(seed: int, configuration: str, queue_rules: str) -> Simulation:
    """A simulation at its start; ``configuration`` is JSON text, ``queue_rules`` one of ``QUEUE_RULES``."""
    return Simulation(seed=seed, configuration=json.loads(configuration), full=True, queue_rules=queue_rules)


def to_text(command: dict[str, Any]) -> str:
    """The command as it is kept. Raises ``Rejected`` when it is none."""
    return json.dumps(commands.to_json(commands.from_json(command)), separators=(",", ":"))


def execute(simulation: Simulation, text: str) -> None:
    """Execute a kept command. Always from its text, so that the first run and every replay see the same input."""
    simulation.execute(commands.from_json(json.loads(text)))


def entries_from(simulation: Simulation, start: int) -> list[Entry]:
    """The trace from entry ``start`` (0-based) on."""
    return simulation.recorder.entries[start:]
