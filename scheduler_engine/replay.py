"""Replay: a log of commands gives the same trace again.

A log is JSON: ``{"engine": version, "seed": number, "configuration": mapping or null, "queue_rules": name,
"allow_privileged": false, "priority_numbers": false, "kubernetes": version, "feature_gates": {name: on}, "commands":
[command, …]}``. A log without a flag was made with it on, or before it was a setting: no log contains refused commands,
so such a log replays unchanged. A log without a version is one of v1.34.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from scheduler_engine import ENGINE_VERSION
from scheduler_engine.commands import Command, from_json, to_json
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.queue.design_doc import QUEUES
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import CommandGiven, Entry
from scheduler_engine.versions import DEFAULT
from scheduler_engine.words import say

FLAGS = ("allow_privileged", "priority_numbers")
"""Arguments of ``Simulation`` that are on if a log does not mention them."""


def make_log(
    seed: int,
    configuration: Mapping[str, Any] | None,
    commands: Iterable[Command],
    queue_rules: str = "v1.34",
    allow_privileged: bool = True,
    priority_numbers: bool = True,
    kubernetes: str = DEFAULT,
    feature_gates: Mapping[str, bool] | None = None,
) -> dict[str, Any]:
    """Return the log of a sandbox as plain JSON."""
    return {
        "engine": ENGINE_VERSION,
        "seed": seed,
        "configuration": configuration,
        "queue_rules": queue_rules,
        **({} if allow_privileged else {"allow_privileged": False}),
        **({} if priority_numbers else {"priority_numbers": False}),
        **({} if kubernetes == DEFAULT else {"kubernetes": kubernetes}),
        **({"feature_gates": dict(feature_gates)} if feature_gates else {}),
        "commands": [to_json(command) for command in commands],
    }


def replay(log: Mapping[str, Any], full: bool = True, own: Sequence[type[Plugin]] = ()) -> Simulation:
    """Run a log from the start. ``own``: plugins that its configurations may name. Raises Rejected when it is invalid,
    or a command is refused.
    """
    if not isinstance(log.get("commands"), list):
        raise Rejected(say("refusals.not-a-log"))
    rules = log.get("queue_rules", "v1.34")
    if rules not in QUEUES:
        raise Rejected(say("refusals.unknown-rules", rules=repr(rules), known=say("types.or").join(QUEUES)))
    flags = {name: log.get(name, True) for name in FLAGS}
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise Rejected(say("refusals.not-a-flag", flag=name))
    settings = (log.get("seed", 42), log.get("configuration"), full, rules)
    version = log.get("kubernetes", DEFAULT)
    gates = log.get("feature_gates")
    simulation = Simulation(*settings, kubernetes=version, feature_gates=gates, plugins=own, **flags)
    for data in log["commands"]:
        simulation.execute(from_json(data))
    return simulation


def entry_json(entry: Entry) -> dict[str, Any]:
    """Return one trace entry as JSON: number, time, command, type and the event's own fields.

    An entry of a command has its ``kind``, its ``summary``, and the command itself as ``data``.
    """
    event = entry.event
    body = {
        item.name: getattr(event, item.name)
        for item in fields(event)  # type: ignore[arg-type]
        if item.name not in event.LATER or getattr(event, item.name) != item.default
    }
    if isinstance(event, CommandGiven):
        body = {"number": event.number, "kind": event.kind, "summary": event.summary, "data": to_json(event.command)}
    place = {"n": entry.n, "at_us": entry.at_us, "command": entry.command}
    done_by = {"replica": entry.replica} if entry.replica else {}
    return {**place, **done_by, "type": type(event).__name__, **body}


def entry_line(entry: Entry) -> str:
    """Return the entry as one line of JSON, with sorted keys."""
    return json.dumps(entry_json(entry), sort_keys=True, ensure_ascii=False, default=tuple)


def trace_lines(simulation: Simulation) -> Iterable[str]:
    """Return the trace as JSON lines."""
    return map(entry_line, simulation.recorder.entries)


def trace_digest(simulation: Simulation) -> str:
    """Return SHA-256 over the trace: equal digests mean equal traces, byte for byte."""
    digest = hashlib.sha256()
    for line in trace_lines(simulation):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()
