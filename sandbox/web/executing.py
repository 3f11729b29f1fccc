"""Execute the commands of visitors, and count them for the operator's metrics."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sandbox.changes import store
from sandbox.runtime import measures
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Position
from scheduler_engine.commands import COMMANDS

DONE, UNKNOWN = "done", "unknown"


def execute(sandbox: Sandbox, command: dict[str, Any], who: str = "") -> Position:
    """Execute a command as ``store.execute``, and count its kind, its result and its seconds."""
    return execute_all(sandbox, [command], who)[-1]


def execute_all(sandbox: Sandbox, commands: Sequence[dict[str, Any]], who: str = "") -> list[Position]:
    """Execute commands as ``store.execute_all``, and count each: they have one result, and share its seconds."""
    result, start = DONE, time.monotonic()
    try:
        return store.execute_all(sandbox, commands, who)
    except Exception as error:
        result = type(error).__name__
        raise
    finally:
        seconds = (time.monotonic() - start) / len(commands)
        for command in commands:
            # The API passes on any text.
            kind = next((name for name in COMMANDS if name == command.get("kind")), UNKNOWN)
            measures.COMMANDS.labels(kind, result).inc()
            measures.COMMAND_SECONDS.labels(kind).observe(seconds)
