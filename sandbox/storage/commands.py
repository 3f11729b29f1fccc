"""Commands as the log stores them: JSON texts."""

from __future__ import annotations

import json
from typing import Any

from scheduler_engine import commands
from scheduler_engine.errors import Rejected

LONGEST = 60
"""Characters that ``summary`` shows of a command it cannot read."""


def to_text(command: dict[str, Any]) -> str:
    """Return the command as the log stores it. Raises ``Rejected`` if it is not a command."""
    return text_of(commands.from_json(command))


def text_of(command: commands.Command) -> str:
    return json.dumps(commands.to_json(command), separators=(",", ":"))


def ended_early(text: str, entries: int) -> str:
    """Return the command, changed to end after its first ``entries`` trace entries. Raises ``Rejected``."""
    return to_text({**json.loads(text), "until": entries})


def summary(text: str) -> str:
    """Return the command in words, or its text if this version does not know it."""
    try:
        return commands.from_json(json.loads(text)).summary
    except (Rejected, ValueError):
        return text[:LONGEST]


def only_steps(text: str) -> bool:
    """Return True if a command only lets the scheduler work, and does not change the cluster."""
    row = commands.COMMANDS.get(json.loads(text)["kind"])
    return row is not None and row.steps
