"""Read figures: a file of kind ``Figure`` is one, and so is the key ``figure`` in a part of a lesson."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.lesson.figures import MARK, Case, Figure, Knob, Value, put
from scheduler_engine.scenario.expectations import EXPECTATIONS
from scheduler_engine.scenario.format import KEYS as SCENARIO_KEYS
from scheduler_engine.scenario.format import other_kind
from scheduler_engine.scenario.loading import command_from
from scheduler_engine.scenario.model import FOLDER as SCENARIOS
from scheduler_engine.scenario.model import Origin, Scenario
from scheduler_engine.scenario.steps import Step, first_rules, in_configuration, refused_in
from scheduler_engine.scenario.yaml_file import FILE_LIMITS, at_lines, document_in, rename_on, slug_of
from scheduler_engine.shapes import Anything, Data, Either, Fields, ListOf, MapOf, Number, Shape, Text, inside
from scheduler_engine.words import say

KIND = "Figure"
FOLDER = SCENARIOS.parent / "figures"
MOST_CHOICES = 60
"""The most choices of one figure: the product of the numbers of values."""
THEN: tuple[Data, ...] = ({"kind": "pod"},)
"""The steps of a figure that names none: one attempt."""
MARKED = ("setup", "then", "configuration")
"""The keys of a figure in which marks stand for values."""
NAME = r"[a-z][a-z0-9]*"
LABEL = Either((Text(longest=60), Number()), say("figure-errors.value"))
VALUE = Either(
    (Fields({"say": Text(longest=60), "set": Anything()}, ("say", "set")), Text(longest=60), Number()),
    say("figure-errors.value"),
)
KNOB = Fields(
    {
        "name": Text(say("figure-keys.name"), longest=20, pattern=NAME),
        "say": Text(say("figure-keys.say"), longest=80),
        "values": ListOf(VALUE, say("figure-keys.values"), fewest=2),
        "at": Either((Text(), Number()), say("figure-errors.value"), say("figure-keys.at")),
    },
    ("name", "say", "values"),
    say("figure-keys.knob"),
)
KNOBS = ListOf(KNOB, say("figure-keys.change"), fewest=1)
CASE = Fields(
    {"at": MapOf(LABEL, say("figure-keys.case-at")), "holds": EXPECTATIONS},
    ("holds",),
    say("figure-keys.case"),
)
OWN_KEYS: dict[str, Shape] = {
    "change": KNOBS,
    "setup": ListOf(Step(full=False), say("figure-keys.setup"), fewest=1),
    "then": ListOf(Step(full=False), say("figure-keys.then"), fewest=1),
    "expect": ListOf(CASE, say("figure-keys.expect")),
}
OF_SCENARIO = ("seed", "queue_rules", "kubernetes", "feature_gates", "configuration")
IN_LESSON = Fields(
    {"title": SCENARIO_KEYS["title"], "configuration": SCENARIO_KEYS["configuration"], **OWN_KEYS},
    ("change", "setup"),
    say("figure-keys.figure"),
)
"""A figure in a part: all else is as in its lesson."""
KEYS: dict[str, Shape] = {
    "apiVersion": SCENARIO_KEYS["apiVersion"],
    "kind": Text(values=(KIND,)),
    "title": Text(say("figure-keys.title"), (), 100),
    "about": Text(say("figure-keys.about"), (), 400),
    **{name: SCENARIO_KEYS[name] for name in OF_SCENARIO},
    **OWN_KEYS,
}
FILE = Fields(KEYS, ("kind", "title", "change", "setup"), say("figure-keys.file"))


@dataclass(frozen=True, slots=True)
class FigureShape:
    """A figure, checked with the values that it begins with. ``fields``: the keys of a file, or of a part."""

    fields: Fields = IN_LESSON

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        knobs = value.get("change") if isinstance(value, Mapping) else None
        wrong = [*KNOBS.problems(knobs, inside(path, "change"))] if knobs is not None else []
        if knobs is None or wrong:
            yield from wrong or self.fields.problems(value, path)
            return
        yield from _in_knobs(value, knobs, inside(path, "change"))
        yield from self.fields.problems(begun(value), path)

    def schema(self) -> Data:
        # Marks stand for values of any type, so the schema says nothing about what is in steps and configuration.
        schema = self.fields.schema()
        steps = {"type": "array", "items": {"type": "object"}}
        described = {key: {**steps, "description": getattr(OWN_KEYS[key], "about", "")} for key in ("setup", "then")}
        return {
            **schema,
            "properties": {**schema["properties"], **described, "configuration": {"type": ["object", "string"]}},
        }


def begun(data: Data) -> Data:
    """Return a figure, as written, with the values that it begins with."""
    values = {knob.name: knob.values[knob.at].set for knob in map(_knob, data["change"])}
    return {key: put(value, values) if key in MARKED else value for key, value in data.items()}


def _in_knobs(data: Data, knobs: Sequence[Data], path: str) -> Iterator[FieldError]:
    names = [knob["name"] for knob in knobs]
    for number, knob in enumerate(knobs):
        inner, labels = f"{path}[{number}]", [value.say for value in map(_value, knob["values"])]
        if knob["name"] in names[:number]:
            text = say("figure-errors.same-name", name=knob["name"])
            yield FieldError(f"{inner}.name", "FieldValueDuplicate", text)
        if not knob["say"].strip() or not all(label.strip() for label in labels):
            yield FieldError(inner, "FieldValueRequired", say("figure-errors.no-words"))
        if len({*labels}) < len(labels):
            yield FieldError(f"{inner}.values", "FieldValueDuplicate", say("figure-errors.same-value"))
        if "at" in knob and _words(knob["at"]) not in labels:
            text = say("figure-errors.not-a-value", value=_words(knob["at"]), values=", ".join(labels))
            yield FieldError(f"{inner}.at", "FieldValueNotSupported", text)
        if f"{MARK}{knob['name']}" not in _texts([data.get(key) for key in MARKED]):
            text = say("figure-errors.no-mark", mark=f"{MARK}{knob['name']}")
            yield FieldError(f"{inner}.name", "FieldValueInvalid", text)
    number = prod(len(knob["values"]) for knob in knobs)
    if number > MOST_CHOICES:
        text = say("figure-errors.too-many", number=number, most=MOST_CHOICES)
        yield FieldError(path, "FieldValueTooMany", text)
    for place, mark in _for_steps(data):
        if mark.removeprefix(MARK) in names:
            text = say("figure-errors.whole-step", mark=mark)
            yield FieldError(path.removesuffix("change") + place, "FieldValueForbidden", text)
    yield from _in_cases(data.get("expect"), knobs, path.removesuffix("change") + "expect")


def _for_steps(data: Data) -> Iterator[tuple[str, str]]:
    """Yield path and text of each text that stands for steps, or for all fields of one: steps are read before values
    are put in. The list of ``apply`` may be a value.
    """
    for key in ("setup", "then"):
        steps = data.get(key)
        if isinstance(steps, str):
            yield key, steps
        for number, step in enumerate(steps if isinstance(steps, list) else ()):
            if isinstance(step, str):
                yield f"{key}[{number}]", step
            for kind, fields in step.items() if isinstance(step, Mapping) else ():
                if isinstance(fields, str) and kind != "apply":
                    yield f"{key}[{number}].{kind}", fields


def _in_cases(cases: Any, knobs: Sequence[Data], path: str) -> Iterator[FieldError]:
    known = {knob["name"]: [value.say for value in map(_value, knob["values"])] for knob in knobs}
    for number, case in enumerate(cases if isinstance(cases, list) else ()):
        chosen = case.get("at") if isinstance(case, Mapping) else None
        for name, value in chosen.items() if isinstance(chosen, Mapping) else ():
            values = known.get(name, [*known])
            wanted = _words(value) if name in known else name
            if wanted not in values:
                text = say("figure-errors.not-a-value", value=wanted, values=", ".join(values))
                yield FieldError(f"{path}[{number}].at.{name}", "FieldValueNotSupported", text)


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    for item in data.values() if isinstance(data, Mapping) else data if isinstance(data, (list, tuple)) else ():
        yield from _texts(item)


def refused_by_kubernetes(data: Data, around: Data, path: str, own: Sequence[type[Plugin]] = ()) -> list[FieldError]:
    """Return what Kubernetes refuses with the values that a valid figure begins with. ``around``: its lesson, or {}.

    ``own``: plugins that its configurations may name.
    """
    errors, rules = first_rules({**around, **data})
    beginning = begun(data)
    errors += in_configuration(beginning.get("configuration"), inside(path, "configuration"), rules, own)
    for key in ("setup", "then"):
        refused, rules = refused_in(beginning.get(key), inside(path, key), rules, own)
        errors += refused
    return errors


# --- reading ---


def _words(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.15g}" if isinstance(value, float) else str(value)


def _value(data: Any) -> Value:
    return Value(data["say"], data["set"]) if isinstance(data, Mapping) else Value(_words(data), data)


def _knob(data: Data) -> Knob:
    values = tuple(map(_value, data["values"]))
    labels = [value.say for value in values]
    at = labels.index(_words(data["at"])) if "at" in data and _words(data["at"]) in labels else 0
    return Knob(data["name"], data["say"], values, at)


def figure_from(data: Data, around: Scenario) -> Figure:
    """Return a figure that has no problems. ``around``: the scenario with its name, and with all that it omits."""
    fields = {key: data[key] for key in ("title", "about", *OF_SCENARIO) if key in data}
    then = tuple(map(command_from, data["then"])) if "then" in data else THEN
    written = replace(around, **fields, setup=tuple(map(command_from, data["setup"])), then=then, expect=(), opened=())
    cases = tuple(
        Case({name: _words(value) for name, value in case.get("at", {}).items()}, tuple(case["holds"]))
        for case in data.get("expect", ())
    )
    return Figure(written, tuple(map(_knob, data["change"])), cases)


def load_figures(folder: Path = FOLDER) -> list[Figure]:
    """Return every figure of a folder, in order of file names. Raises Rejected when a file is not one."""
    return [read_figure(path.read_bytes(), path.name) for path in sorted(folder.glob("*.yaml"))]


def read_figure(text: str | bytes, name: str) -> Figure:
    """Return a figure from the text of a file. Raises Rejected with all errors and their lines."""
    document = document_in(text, name, FILE_LIMITS, "figure")
    data: Data = document.data
    for key in ("setup", "then"):
        rename_on(data.get(key), document.place, key)
    problems = other_kind(data, KIND) or [*FigureShape(FILE).problems(data, "")]
    problems = problems or refused_by_kubernetes(data, {}, "")
    if problems:
        raise Rejected(at_lines(problems, document.place, name))
    return figure_from(data, Scenario(slug_of(name, ()), "", origin=Origin(name, document.place)))
