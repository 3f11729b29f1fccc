"""Read a lesson from a file, and report all errors with their lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from scheduler_engine.api.loading import DEFAULT_LIMITS
from scheduler_engine.api.parsing import Limits, Place
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.lesson.figure_file import figure_from, refused_by_kubernetes
from scheduler_engine.lesson.format import KIND, LESSON
from scheduler_engine.lesson.model import Item, Lesson, Look, Option, Part, Question, Steps, Task, WrongWay
from scheduler_engine.lesson.predictions import KINDS
from scheduler_engine.own_plugins import NO_PLUGINS, OwnPlugins
from scheduler_engine.scenario.format import other_kind
from scheduler_engine.scenario.loading import command_from
from scheduler_engine.scenario.model import FOLDER, Origin, Scenario
from scheduler_engine.scenario.steps import first_rules, in_configuration, refused_in
from scheduler_engine.scenario.yaml_file import FILE_LIMITS, at_lines, document_in, rename_on, slug_of
from scheduler_engine.shapes import Data
from scheduler_engine.versions import DEFAULT
from scheduler_engine.words import say

ENDING = ".lesson"
"""The end of a name such as ``spread.lesson.yaml``: not part of the lesson's own name."""
TEMPLATE = Path(__file__).with_name("template.yaml")
"""A small lesson to start with: a prediction, a figure and a task."""
OF_SCENARIO = (
    *("title", "group", "about", "source", "engine", "seed"),
    *("kubernetes", "feature_gates", "configuration", "queue_rules", "tab"),
)
OF_LESSON = ("minutes", "belief", "truth", "par", "differs")
LISTS = ("rows", "after", "know")


def load_lessons(folder: Path) -> list[Lesson]:
    """Return every lesson of a folder, in order of file names. Raises Rejected when a file is not one."""
    return [load_lesson(path) for path in sorted(folder.glob("*.yaml"))]


def load_lesson(path: Path) -> Lesson:
    """Return one lesson from its file. Raises Rejected with all errors and their lines, and OSError."""
    return read_lesson(path.read_bytes(), path.name, FILE_LIMITS)


def read_lesson(
    text: str | bytes, name: str = "lesson.yaml", limits: Limits = DEFAULT_LIMITS, own: OwnPlugins = NO_PLUGINS
) -> Lesson:
    """Return one lesson from the text of a file of this name; a leading number in the name only orders the list.

    This checks only the format; ``verifying.problems_of`` plays it. ``own``: plugins that its configurations may name.
    """
    document = document_in(text, name, limits, "lesson")
    data: Data = document.data
    _rename_on(data, document.place)
    problems = list(_problems(data, own.known))
    if problems:
        raise Rejected(at_lines(problems, document.place, name))
    slug = slug_of(name, (ENDING,))
    setup = tuple(command_from(step) for step in data.get("setup", ()))
    fields = {key: data[key] for key in OF_SCENARIO if key in data}
    scenario = Scenario(slug, **fields, setup=setup, then=(), origin=Origin(name, document.place), plugins=own.known)
    more: Data = {key: data[key] for key in OF_LESSON if key in data}
    more |= {key: tuple(data[key]) for key in LISTS if key in data}
    parts = tuple(_part(part, _around(scenario, number)) for number, part in enumerate(data["parts"]))
    return Lesson(slug, scenario, parts, **more)


def _problems(data: Data, plugins: Sequence[type[Plugin]]) -> list[FieldError]:
    """Return all errors; for a file of another kind or version, only that."""
    if other := other_kind(data, KIND):
        return other
    problems = [*LESSON.problems(data, "")]
    if ("belief" in data) != ("truth" in data):
        problems.append(FieldError("truth", "FieldValueRequired", say("lesson-errors.belief-and-truth")))
    own = data.get("kubernetes", DEFAULT)
    if not problems and own in data.get("differs", {}):
        problems.append(FieldError(f"differs.{own}", "FieldValueForbidden", say("lesson-errors.own-version")))
    gates_judged = any(error.path.startswith("feature_gates") for error in problems)
    if not problems:
        problems += _unknown_misconceptions(data)
    in_figures = () if problems else _figures(data)
    refused = [error for path, figure in in_figures for error in refused_by_kubernetes(figure, data, path, plugins)]
    return problems + _refused_in(data, gates_judged, plugins) + refused


@cache
def misconceptions() -> frozenset[str]:
    """Return the slugs of the misconceptions installed beside the scenarios; none if the engine is installed alone."""
    return frozenset(slug_of(path.name, (ENDING,)) for path in (FOLDER.parent / "misconceptions").glob("*.yaml"))


def _unknown_misconceptions(data: Data) -> Iterator[FieldError]:
    """Yield what questions reveal although it is not installed. An engine that has no misconceptions cannot tell."""
    for number, part in enumerate(data["parts"]):
        for key in ("predict", "question"):
            name = part.get(key, {}).get("reveals", "")
            if name and misconceptions() and name not in misconceptions():
                text = say("lesson-errors.no-misconception", name=name)
                yield FieldError(f"parts[{number}].{key}.reveals", "FieldValueNotFound", text)


def _refused_in(data: Data, gates_judged: bool, plugins: Sequence[type[Plugin]]) -> list[FieldError]:
    """Return what Kubernetes refuses in gates, configurations and manifests, under the rules of each place."""
    errors, rules = first_rules(data)
    errors = [] if gates_judged else errors
    if isinstance(data.get("configuration"), dict):
        errors += in_configuration(data["configuration"], "configuration", rules, plugins)
    for path, steps, goes_on in _step_lists(data):
        refused, after = refused_in(steps, path, rules, plugins)
        errors += refused
        rules = after if goes_on else rules
    return errors


def _rename_on(data: Data, root: Place) -> None:
    for path, steps, _ in [*_step_lists(data), *_steps_of_figures(data)]:
        rename_on(steps, root, path)


def _step_lists(data: Data) -> Iterator[tuple[str, Any, bool]]:
    """Yield every list of steps in the file: its path, the steps, and whether the next list continues from there."""
    yield "setup", data.get("setup"), True
    for number, part in enumerate(_list(data.get("parts"))):
        path = f"parts[{number}]"
        if isinstance(part, dict):
            yield f"{path}.do", part.get("do"), True
            for place, way in enumerate(_list(part.get("wrong"))):
                yield f"{path}.wrong[{place}].do", way.get("do") if isinstance(way, dict) else None, False
            right = _list(part.get("right"))
            for place, way in reversed([*enumerate(right)]):
                yield f"{path}.right[{place}]", way, place == 0


def _steps_of_figures(data: Data) -> Iterator[tuple[str, Any, bool]]:
    for path, figure in _figures(data):
        for key in ("setup", "then"):
            yield f"{path}.{key}", figure.get(key), False


def _figures(data: Data) -> Iterator[tuple[str, Data]]:
    """Yield the path of every figure, and the figure as written."""
    for number, part in enumerate(_list(data.get("parts"))):
        if isinstance(part, dict) and isinstance(part.get("figure"), dict):
            yield f"parts[{number}].figure", part["figure"]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _steps(steps: list[Data]) -> Steps:
    return tuple(command_from(step) for step in steps if [*step] != ["expect"])


def _around(scenario: Scenario, number: int) -> Scenario:
    """Return the scenario of a lesson for the figure in a part: with its name, and with its place in the file."""
    own = scenario.origin
    there = Origin(own.name, own.root.find(f"parts[{number}].figure")) if own else None
    return replace(scenario, slug=f"{scenario.slug}-{number + 1}", origin=there)


def _part(data: Data, around: Scenario) -> Part:
    """Return a part. ``around``: the scenario of a figure in this part, without what the figure says."""
    asked = data.get("predict", data.get("question"))
    return Part(
        data["text"],
        title=data.get("title", ""),
        look=Look(**data.get("look", {})),
        question=None if asked is None else _question(asked),
        predicts="predict" in data,
        task=_task(data) if "task" in data else None,
        do=_steps(data.get("do", [])),
        say=data.get("say", ""),
        then=data.get("then", ""),
        expect=tuple(data.get("expect", ())),
        figure=figure_from(data["figure"], around) if "figure" in data else None,
    )


def _question(data: Data) -> Question:
    kind = next(name for name in KINDS if name in data)
    options = tuple(Option(option["text"], tuple(option["holds"])) for option in data.get("options", ()))
    return Question(
        kind,
        pod="" if kind == "options" else data[kind],
        node=data.get("node", ""),
        ask=data.get("ask", ""),
        options=options,
        tempting=tuple(data.get("tempting", ())),
        reveals=data.get("reveals", ""),
        at=data.get("at", ""),
    )


def _task(data: Data) -> Task:
    return Task(
        data["task"],
        check=tuple(Item(item["say"], tuple(item["holds"])) for item in data["check"]),
        hints=tuple(data["hints"]),
        right=tuple(_steps(way) for way in data["right"]),
        wrong=tuple(WrongWay(_steps(way["do"]), way["says"]) for way in data["wrong"]),
    )
