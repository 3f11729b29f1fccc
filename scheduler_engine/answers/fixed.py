"""A fix as plain data: in words, as steps to copy, and as commands of the engine."""

from __future__ import annotations

from typing import Any

from scheduler_engine import commands
from scheduler_engine.answers import fix_phrases
from scheduler_engine.answers.changes import commands_for
from scheduler_engine.answers.fixes import Fix
from scheduler_engine.answers.patches import patches
from scheduler_engine.simulation import Simulation


def fixed(simulation: Simulation, fix: Fix) -> dict[str, Any]:
    """Return ``sentence``, ``node``, ``victims``, ``steps`` and ``commands`` of a fix.

    A step has ``text``, and ``manifest``, None if nothing is applied.
    """
    return {
        "sentence": fix_phrases.sentence(fix),
        "node": fix.node,
        "victims": list(fix.victims),
        "steps": [
            {"text": fix_phrases.step(patch), "manifest": None if patch.manifest is None else dict(patch.manifest)}
            for patch in patches(simulation, fix)
        ],
        "commands": [commands.to_json(command) for command in commands_for(simulation, fix.edits)],
    }
