"""Commands as the log holds them: JSON texts."""

from __future__ import annotations

import json
from typing import Any

from scheduler_engine import commands
from scheduler_engine.errors import Rejected

LONGEST = 60
"""Characters of a command that cannot be read."""


def to_text(command: dict[str, Any]) -> str:
    """Return the command as the log holds it. Raises ``Rejected`` if it is not a command."""
    return text_of(commands.from_json(command))


def text_of(command: commands.Command) -> str:
    return json.dumps(commands.to_json(command), separators=(",", ":"))


def ended_early(text: str, entries: int) -> str:
    """Return the command that ends after ``entries`` trace entries of its own. Raises ``Rejected``."""
    return to_text({**json.loads(text), "until": entries})


def summary(text: str) -> str:
    """Return the command in words, or its text if this version does not know it."""
    try:
        return commands.from_json(json.loads(text)).summary
    except (Rejected, ValueError):
        return text[:LONGEST]


def only_steps(text: str) -> bool:
    """Return True if a command changes nothing but lets the scheduler work."""
    row = commands.COMMANDS.get(json.loads(text)["kind"])
    return row is not None and row.steps
