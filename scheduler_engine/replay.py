"""Replay: a log of commands gives the same trace again.

A log is JSON: ``{"engine": version, "seed": number, "configuration": mapping or null, "queue_rules": name,
"commands": [command, …]}``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from scheduler_engine import ENGINE_VERSION
from scheduler_engine.commands import Command, from_json, to_json
from scheduler_engine.errors import Rejected
from scheduler_engine.queue.design_doc import QUEUES
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import Entry


def make_log(
    seed: int, configuration: Mapping[str, Any] | None, commands: Iterable[Command], queue_rules: str = "v1.34"
) -> dict[str, Any]:
    """The log of a sandbox as plain JSON."""
    return {
        "engine": ENGINE_VERSION,
        "seed": seed,
        "configuration": configuration,
        "queue_rules": queue_rules,
        "commands": [to_json(command) for command in commands],
    }


def replay(log: Mapping[str, Any], full: bool = True) -> Simulation:
    """Run a log from the start. Raises Rejected when it is no log, or a command is refused."""
    if not isinstance(log.get("commands"), list):
        raise Rejected("not a command log: it needs a list of commands")
    rules = log.get("queue_rules", "v1.34")
    if rules not in QUEUES:
        raise Rejected(f"unknown queue rules {rules!r}: {' or '.join(QUEUES)}")
    simulation = Simulation(log.get("seed", 42), log.get("configuration"), full, rules)
    for data in log["commands"]:
        simulation.execute(from_json(data))
    return simulation


def entry_json(entry: Entry) -> dict[str, Any]:
    """One trace entry as JSON: number, time, command, type and the event's own fields."""
    event = entry.event
    body = {item.name: getattr(event, item.name) for item in fields(event)}  # type: ignore[arg-type]
    place = {"n": entry.n, "at_us": entry.at_us, "command": entry.command}
    done_by = {"replica": entry.replica} if entry.replica else {}
    return {**place, **done_by, "type": type(event).__name__, **body}


def trace_lines(simulation: Simulation) -> Iterable[str]:
    """The trace as JSON lines with sorted keys."""
    return (json.dumps(entry_json(entry), sort_keys=True, ensure_ascii=False) for entry in simulation.recorder.entries)


def trace_digest(simulation: Simulation) -> str:
    """SHA-256 over the trace: equal digests mean equal traces, byte for byte."""
    digest = hashlib.sha256()
    for line in trace_lines(simulation):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()
