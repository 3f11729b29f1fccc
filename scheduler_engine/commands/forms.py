"""The JSON form of commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from scheduler_engine.commands.kinds import Apply
from scheduler_engine.commands.table import COMMANDS, SPELLED, Command, any_of, wrong_field
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.words import say

TYPES = {
    str: say("types.text"),
    int: say("types.whole-number"),
    float: say("types.number"),
    bool: say("types.truth"),
    dict: say("types.object"),
    list: say("types.list"),
    type(None): say("types.null"),
}
"""JSON's names for Python's types. A tuple is a list."""


def field_of(kind: str, error: FieldError) -> str:
    """Return the field of an error of ``wrong_field``; "" if it concerns the whole command."""
    named = {SPELLED.get(name, name): name for name in COMMANDS[kind].rows}
    return named.get(error.path, "")


def to_json(command: Command) -> dict[str, Any]:
    """Return plain JSON; the inverse of ``from_json``."""
    fields = asdict(command)
    if isinstance(command, Apply):
        fields["manifests"] = list(command.manifests)
    if not fields.get("until", 1):
        del fields["until"]
    return {"kind": command.kind, **fields}


def from_json(data: Any) -> Command:
    """Read a command from its JSON form. Raises Rejected when it is invalid, or a number is out of bounds."""
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in COMMANDS:
        raise Rejected(say("refusals.unknown-command", command=data if kind is None else repr(kind)))
    command = COMMANDS[kind]
    fields = {name: value for name, value in data.items() if name != "kind"}
    for name, value in fields.items():
        if name not in command.rows:
            raise Rejected(say("refusals.unknown-field", command=kind, field=repr(name)))
        types = command.rows[name].types
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            wanted = any_of(TYPES[item] for item in types if item in TYPES)
            raise Rejected(say("refusals.wrong-type", command=kind, field=name, what=wanted))
    missing = ", ".join(f'"{name}"' for name, row in command.rows.items() if row.needed and name not in fields)
    if missing:
        raise Rejected(say("refusals.missing-field", command=kind, fields=missing))
    if "manifests" in fields:
        fields["manifests"] = tuple(fields["manifests"])
    built = command(**fields)
    check_bounds(built)
    return built


def check_bounds(command: Command) -> None:
    """Raise Rejected if a number is out of bounds, or a word is not an allowed one."""
    command.check()
    for name, row in command.rows.items():
        problem = row.problem(getattr(command, name))
        if problem:
            raise Rejected([wrong_field(name, problem)])


def ended_early(command: Command, entries: int) -> Command:
    """Return the command, stopping at the first rest with ``entries`` trace entries; a single step is unchanged."""
    return from_json({**to_json(command), "until": entries}) if "until" in command.rows else command
