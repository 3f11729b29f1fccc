"""The format of a lesson file: its keys, and the shape of each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_engine.errors import FieldError
from scheduler_engine.lesson.ends import AT
from scheduler_engine.lesson.figure_file import FigureShape
from scheduler_engine.lesson.predictions import KINDS
from scheduler_engine.scenario.expectations import EXPECTATIONS
from scheduler_engine.scenario.format import KEYS as SCENARIO_KEYS
from scheduler_engine.scenario.steps import LONGEST_SAY, Step
from scheduler_engine.shapes import Data, Fields, ListOf, Number, Shape, Text, inside
from scheduler_engine.versions import VERSIONS
from scheduler_engine.words import say

KIND = "Lesson"
LONGEST_TEXT = 4000
"""The maximum length of one text of a lesson."""

MARKDOWN = Text(say("lesson-keys.text"), (), LONGEST_TEXT)
LINE = Text(longest=200)
STEPS = ListOf(Step(full=True), say("lesson-keys.do"), fewest=1)

OPTION = Fields(
    {"text": LINE, "holds": EXPECTATIONS},
    ("text", "holds"),
    say("lesson-keys.option"),
)
QUESTION = Fields(
    {
        "ask": LINE,
        **{name: Text(say(kind.about)) for name, kind in KINDS.items() if name != "options"},
        "options": ListOf(OPTION, say("lesson-keys.options"), fewest=2),
        "node": Text(say("lesson-keys.node")),
        "tempting": ListOf(Text(), say("lesson-keys.tempting")),
        "reveals": Text(say("lesson-keys.reveals")),
        "at": Text(say("lesson-keys.at"), AT),
    },
    about=say("lesson-keys.question"),
    some=tuple(KINDS),
    single=True,
)
ITEM = Fields({"say": LINE, "holds": EXPECTATIONS}, ("say", "holds"), say("lesson-keys.item"))
WRONG = Fields(
    {"do": STEPS, "says": LINE},
    ("do", "says"),
    say("lesson-keys.wrong-way"),
)
LOOK = Fields(
    {"tab": Text(), "pod": Text("namespace/name"), "node": Text()},
    about=say("lesson-keys.look"),
)

PART_KEYS: dict[str, Shape] = {
    "title": Text(say("lesson-keys.heading"), (), 80),
    "text": MARKDOWN,
    "figure": FigureShape(),
    "look": LOOK,
    "predict": QUESTION,
    "question": QUESTION,
    "task": Text(say("lesson-keys.task"), (), 400),
    "check": ListOf(ITEM, say("lesson-keys.check"), fewest=1),
    "hints": ListOf(Text(longest=400), say("lesson-keys.hints"), fewest=1),
    "right": ListOf(STEPS, say("lesson-keys.right"), fewest=1),
    "wrong": ListOf(WRONG, say("lesson-keys.wrong"), fewest=1),
    "do": STEPS,
    "say": Text(say("lesson-keys.say"), (), LONGEST_SAY),
    "then": Text(say("lesson-keys.then"), (), LONGEST_TEXT),
    "expect": EXPECTATIONS,
}
"""Key → shape of one part of a lesson, in the order of writing a file."""


class PartShape:
    """A part is a text, alone or with a button, a question, or a task."""

    shape = Fields(PART_KEYS, ("text",), say("lesson-keys.part"))

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        problems = list(self.shape.problems(value, path))
        yield from problems
        if isinstance(value, Mapping) and not problems:
            yield from _together(value, path)

    def schema(self) -> Data:
        return self.shape.schema()


NEEDS = {
    "task": ("check", "hints", "right", "wrong"),
    "check": ("task",),
    "hints": ("task",),
    "right": ("task",),
    "wrong": ("task",),
    "predict": ("do",),
    "say": ("do",),
}
"""Key of a part → keys that it requires."""
EXCLUDES = (("predict", "question"), ("task", "predict"), ("task", "question"), ("task", "do"), ("question", "do"))
"""Keys of a part that exclude each other."""


def _together(part: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    for key, needed in NEEDS.items():
        for name in needed:
            if key in part and name not in part:
                yield FieldError(inside(path, name), "FieldValueRequired", say("lesson-errors.part-needs", key=key))
    for one, other in EXCLUDES:
        if one in part and other in part:
            yield FieldError(inside(path, other), "FieldValueForbidden", say("lesson-errors.not-with", key=one))
    for key in ("predict", "question"):
        asked = part.get(key, {})
        if "at" in asked and (key == "question" or "options" in asked):
            text = say("lesson-errors.only-predictions")
            yield FieldError(f"{path}.{key}.at", "FieldValueForbidden", text)
        if "options" in asked and "ask" not in asked:
            yield FieldError(f"{path}.{key}.ask", "FieldValueRequired", say("lesson-errors.options-need"))
        if "reveals" in asked and not asked.get("tempting"):
            yield FieldError(f"{path}.{key}.tempting", "FieldValueRequired", say("lesson-errors.reveals-needs"))
        if ("refuses" in asked) != ("node" in asked):
            yield FieldError(f"{path}.{key}.node", "FieldValueRequired", say("lesson-errors.refuses-and-node"))


DIFFERS = Fields({version: Text(longest=300) for version in VERSIONS}, about=say("lesson-keys.differs"))

KEYS: dict[str, Shape] = {
    "apiVersion": SCENARIO_KEYS["apiVersion"],
    "kind": Text(values=(KIND,)),
    "title": Text(say("lesson-keys.title"), (), 100),
    "about": Text(say("lesson-keys.about"), (), 400),
    "group": Text(say("lesson-keys.group")),
    "minutes": Number(say("lesson-keys.minutes"), whole=True, least=1, most=60),
    "rows": ListOf(Text(), say("lesson-keys.rows")),
    "after": ListOf(Text(), say("lesson-keys.after")),
    "source": Text(say("lesson-keys.source")),
    "belief": Text(say("lesson-keys.belief"), (), 200),
    "truth": Text(say("lesson-keys.truth"), (), 300),
    "par": Number(say("lesson-keys.par"), whole=True, least=0),
    "engine": SCENARIO_KEYS["engine"],
    "seed": SCENARIO_KEYS["seed"],
    "queue_rules": SCENARIO_KEYS["queue_rules"],
    "kubernetes": SCENARIO_KEYS["kubernetes"],
    "feature_gates": SCENARIO_KEYS["feature_gates"],
    "differs": DIFFERS,
    "configuration": SCENARIO_KEYS["configuration"],
    "tab": Text(say("lesson-keys.tab")),
    "setup": SCENARIO_KEYS["setup"],
    "parts": ListOf(PartShape(), say("lesson-keys.parts"), fewest=1),
    "know": ListOf(Text(longest=300), say("lesson-keys.know")),
}
"""Key → shape, in the order of writing a file."""

LESSON = Fields(KEYS, ("kind", "title", "parts"), say("lesson-keys.lesson"))
