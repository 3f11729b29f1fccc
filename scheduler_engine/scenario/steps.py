"""Steps of a scenario: the commands as people write them, from the tables of the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

from scheduler_engine import commands
from scheduler_engine.api.validation import validate
from scheduler_engine.config import load_configuration
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.framework.extender_calls import NO_CALLS, ExtenderCalls
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.scenario.expectations import EXPECTATIONS
from scheduler_engine.shapes import (
    Data,
    Either,
    ListOf,
    Nothing,
    Shape,
    Text,
    inside,
    invalid,
    must_be,
    unknown,
)
from scheduler_engine.versions import DEFAULT, DEFAULT_RULES, VERSIONS, Rules, check_needs, chosen_rules, rules_for
from scheduler_engine.words import say

LONGEST_SAY = 60
BESIDE: dict[str, Shape] = {
    "name": Text(say("scenario-keys.step-name"), longest=100),
    "say": Text(say("scenario-keys.step-say"), longest=LONGEST_SAY),
    "refused": Text(say("scenario-keys.step-refused")),
    "expect": EXPECTATIONS,
}
"""The keys allowed beside the command of a step in ``then``."""


def _command(kind: str) -> Shape:
    shape = commands.COMMANDS[kind].shape
    if kind == "apply":
        return replace(cast(ListOf, shape.fields["manifests"]), about=shape.about)
    return shape if shape.required else Either((shape, Nothing()), must_be("mapping"), shape.about)


COMMANDS: dict[str, Shape] = {kind: _command(kind) for kind in commands.COMMANDS}
"""Name of a command → the shape of its value in a step."""


class Step:
    """One step of ``setup`` (a command only) or, ``full``, of ``then`` (with keys beside it, or expectations only)."""

    def __init__(self, full: bool) -> None:
        self.beside = BESIDE if full else {}

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if not isinstance(value, Mapping):
            yield invalid(path, value, say("scenario-errors.not-a-step"))
            return
        named = [name for name in value if name in COMMANDS]
        for name, item in value.items():
            if name in self.beside:
                yield from self.beside[name].problems(item, inside(path, name))
            elif name in BESIDE:
                text = say("scenario-errors.only-in-then")
                yield FieldError(inside(path, name), "FieldValueForbidden", text)
            elif name not in COMMANDS:
                yield unknown(path, name, (*COMMANDS, *self.beside))
        if len(named) > 1:
            text = say("scenario-errors.several-commands", number=len(named), names=", ".join(named))
            yield FieldError(inside(path, named[1]), "FieldValueForbidden", text)
        elif named:
            yield from _in_command(named[0], value[named[0]], inside(path, named[0]), "refused" in value)
        elif [*value] != ["expect"] and all(name in self.beside for name in value):
            yield FieldError(path, "FieldValueRequired", say("scenario-errors.no-command", example="run: {}"))

    def schema(self) -> Data:
        properties = {name: {"$ref": f"#/$defs/{name}"} for name in COMMANDS}
        properties |= {name: {"$ref": f"#/$defs/{name}"} for name in self.beside}
        alone = [{"required": ["expect"], "maxProperties": 1}] if self.beside else []
        return {
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
            "oneOf": [{"required": [kind]} for kind in COMMANDS] + alone,
        }


def _in_command(kind: str, value: Any, path: str, refused: bool) -> Iterator[FieldError]:
    """Yield errors in the fields of a command. One that must be refused may hold numbers out of bounds."""
    problems = list(COMMANDS[kind].problems(value, path))
    yield from problems
    if problems or refused or kind == "apply":
        return
    try:
        commands.from_json({"kind": kind, **(value or {})})
    except Rejected as refusal:
        for error in refusal.errors:
            name = commands.field_of(kind, error)
            yield FieldError(inside(path, name) if name else path, error.kind, error.message)


def refused_in(
    steps: Any, path: str, rules: Rules, own: Sequence[type[Plugin]] = (), calls: ExtenderCalls = NO_CALLS
) -> tuple[list[FieldError], Rules]:
    """Return what Kubernetes refuses in the steps of a list: in manifests, and in configurations, which may name
    ``own`` plugins, and extenders that ``calls`` reach. Also return the rules after the last step. ``rules`` hold
    before the first.

    Skips steps that are no steps (``Step`` says why), and those that must be refused.
    """
    errors: list[FieldError] = []
    for number, step in enumerate(steps if isinstance(steps, list) else ()):
        kinds = [kind for kind in step if kind in COMMANDS] if isinstance(step, Mapping) else []
        if len(kinds) != 1 or "refused" in step:
            continue
        kind, value = kinds[0], step[kinds[0]]
        inner = inside(f"{path}[{number}]", kind)
        if next(_in_command(kind, value, inner, refused=False), None) is not None:
            continue
        if kind == "apply":
            errors += _in_manifests(value, inner, rules)
        elif kind == "configure":
            configuration = (value or {}).get("configuration")
            errors += in_configuration(configuration, inside(inner, "configuration"), rules, own, calls)
        elif kind == "kubernetes":
            rules = rules_for(value["version"], value.get("feature_gates"))
            errors += _in_gates(rules, inside(inner, "feature_gates"))
    return errors, rules


def _in_gates(rules: Rules, path: str) -> Iterator[FieldError]:
    try:
        check_needs(rules.kubernetes, dict(rules.feature_gates))
    except Rejected as refusal:
        yield FieldError(path, "FieldValueInvalid", str(refusal))


def _in_manifests(manifests: list[Any], path: str, rules: Rules) -> Iterator[FieldError]:
    for index, manifest in enumerate(manifests):
        for error in validate(manifest, rules=rules):
            inner = f"{path}[{index}]" + (f".{error.path}" if error.path and error.path[0] != "[" else error.path)
            yield FieldError(inner, error.kind, error.message, object_name=error.object_name)


def first_rules(data: Data) -> tuple[list[FieldError], Rules]:
    """Return errors in the version and the feature gates of a file, and the rules that it begins under."""
    kubernetes, gates = data.get("kubernetes", DEFAULT), data.get("feature_gates")
    if kubernetes not in VERSIONS:
        return [], DEFAULT_RULES
    try:
        return [], chosen_rules(kubernetes, gates)
    except Rejected as refusal:
        return [FieldError("feature_gates", "FieldValueInvalid", str(refusal))], rules_for(kubernetes)


def in_configuration(
    value: Any, path: str, rules: Rules, own: Sequence[type[Plugin]] = (), calls: ExtenderCalls = NO_CALLS
) -> Iterator[FieldError]:
    """Yield errors in a KubeSchedulerConfiguration; None is the default one. ``own``, ``calls``: see ``refused_in``."""
    if value is None:
        return
    if not isinstance(value, Mapping):
        yield invalid(path, value, must_be("configuration"))
        return
    try:
        load_configuration(value, rules, own, calls)
    except Rejected as refusal:
        for error in refusal.errors:
            yield FieldError(inside(path, error.path) if error.path else path, error.kind, error.message)


def command_of(step: Data) -> Data:
    """Return the command of a step in its JSON form, without the keys beside it."""
    return {name: value for name, value in step.items() if name not in BESIDE}


def as_written(step: Data) -> Data:
    """Return a step as in a file: ``{"kind": "run"}`` is ``{"run": {}}``. Seconds are whole if possible."""
    command = command_of(step)
    kind = command["kind"]
    beside = {name: step[name] for name in BESIDE if name in step}
    if kind == "apply":
        return {"apply": list(command["manifests"]), **beside}
    ordered = {name: command[name] for name in commands.COMMANDS[kind].rows if name in command}
    if isinstance(ordered.get("seconds"), float) and ordered["seconds"].is_integer():
        ordered["seconds"] = int(ordered["seconds"])
    return {kind: ordered, **beside}


def without_defaults(command: commands.Command) -> Data:
    """Return the JSON form of a command, without default values."""
    data = commands.to_json(command)
    known = {item.name: item.default for item in fields(command)}
    return {name: value for name, value in data.items() if name == "kind" or not _same(value, known[name])}


def _same(value: Any, default: Any) -> bool:
    # 1 and True are equal, and a rate of "1" is traced differently from one of 1.
    return bool(type(value) is type(default) and value == default)
