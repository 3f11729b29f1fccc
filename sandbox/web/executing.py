"""Execute the commands of visitors, and count them for the operator's metrics."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sandbox.changes import store
from sandbox.changes.once import Once
from sandbox.runtime import measures
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Position
from sandbox.worker.job import Job
from sandbox.worker.live import Executed
from scheduler_engine.commands import COMMANDS

T = TypeVar("T")
V = TypeVar("V")

DONE, UNKNOWN = "done", "unknown"


def execute(sandbox: Sandbox, command: dict[str, Any], who: str = "") -> Position:
    """Execute a command as ``store.execute``, and count its kind, its result and its seconds."""
    return execute_all(sandbox, [command], who)[-1]


def execute_all(
    sandbox: Sandbox, commands: Sequence[dict[str, Any]], who: str = "", once: Once | None = None
) -> list[Position]:
    """Execute commands as ``store.execute_all``, and count each: they have one result, and share its seconds."""
    kinds = [str(command.get("kind")) for command in commands]
    return _counted(lambda: store.execute_all(sandbox, commands, who, once=once), lambda _: kinds)


def carry_out(
    sandbox: Sandbox,
    job: Job[[V, str], tuple[Executed | None, T]],
    argument: V,
    who: str = "",
    once: Once | None = None,
) -> T:
    """Carry out a request as ``store.carry_out``, return its answer, and count what it executed."""

    def kinds(done: tuple[Executed | None, T] | None) -> list[str]:
        if done is None:
            return [UNKNOWN]
        return [] if done[0] is None else [json.loads(text)["kind"] for text in done[0].texts]

    return _counted(lambda: store.carry_out(sandbox, job, argument, who, once), kinds)[1]


def _counted(act: Callable[[], T], kinds: Callable[[T | None], Sequence[str]]) -> T:
    """Return what ``act`` does. ``kinds``: what to count, from its result, None = it raised an error."""
    result, start, done = DONE, time.monotonic(), None
    try:
        done = act()
        return done
    except Exception as error:
        result = type(error).__name__
        raise
    finally:
        counted = kinds(done)
        seconds = (time.monotonic() - start) / max(1, len(counted))
        for name in counted:
            # The API passes on any text.
            kind = name if name in COMMANDS else UNKNOWN
            measures.COMMANDS.labels(kind, result).inc()
            measures.COMMAND_SECONDS.labels(kind).observe(seconds)
