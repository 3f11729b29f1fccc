"""The format of a lesson file: its keys, and the shape of each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_engine.errors import FieldError
from scheduler_engine.lesson.ends import AT
from scheduler_engine.lesson.predictions import KINDS
from scheduler_engine.scenario.expectations import EXPECTATIONS
from scheduler_engine.scenario.format import KEYS as SCENARIO_KEYS
from scheduler_engine.scenario.steps import LONGEST_SAY, Step
from scheduler_engine.shapes import Data, Fields, ListOf, Number, Shape, Text, inside
from scheduler_engine.words import say

KIND = "Lesson"
LONGEST_TEXT = 4000
"""The maximum length of one text of a lesson."""

MARKDOWN = Text(
    "Markdown, with links such as [node-a](node:node-a) that point at something on the page.", (), LONGEST_TEXT
)
LINE = Text(longest=200)
STEPS = ListOf(Step(full=True), "Commands, one after the other.", fewest=1)

OPTION = Fields(
    {"text": LINE, "holds": EXPECTATIONS},
    ("text", "holds"),
    "An answer, and what holds afterwards if it is right.",
)
QUESTION = Fields(
    {
        "ask": LINE,
        **{name: Text(say(kind.about)) for name, kind in KINDS.items() if name != "options"},
        "options": ListOf(OPTION, "The answers. Exactly one must be right.", fewest=2),
        "node": Text("The node that the question is about."),
        "tempting": ListOf(Text(), "Common answers. They must be wrong."),
        "at": Text("The stage of the pod's attempt after which the answer is checked. attempt: at its end.", AT),
    },
    about="A question to the learner. The engine knows the answer.",
    some=tuple(KINDS),
    single=True,
)
ITEM = Fields(
    {"say": LINE, "holds": EXPECTATIONS}, ("say", "holds"), "One requirement of a task, in words and as expectations."
)
WRONG = Fields(
    {"do": STEPS, "says": LINE},
    ("do", "says"),
    "A way that does not solve the task, and a part of what the learner then reads.",
)
LOOK = Fields(
    {"tab": Text(), "pod": Text("namespace/name"), "node": Text()},
    about="The tab to open and the object to select when the part begins.",
)

PART_KEYS: dict[str, Shape] = {
    "title": Text("A heading.", (), 80),
    "text": MARKDOWN,
    "look": LOOK,
    "predict": QUESTION,
    "question": QUESTION,
    "task": Text("What the learner has to achieve.", (), 400),
    "check": ListOf(ITEM, "The requirements of the task.", fewest=1),
    "hints": ListOf(Text(longest=400), "Hints, shown one after the other.", fewest=1),
    "right": ListOf(STEPS, "Ways to solve the task. The lesson continues with the first.", fewest=1),
    "wrong": ListOf(WRONG, "Ways that look right, but are not.", fewest=1),
    "do": STEPS,
    "say": Text("The text of the button for these steps.", (), LONGEST_SAY),
    "then": Text("Markdown that is shown after the part.", (), LONGEST_TEXT),
    "expect": EXPECTATIONS,
}
"""Key → shape of one part of a lesson, in the order of writing a file."""


class PartShape:
    """A part is a text, alone or with a button, a question, or a task."""

    shape = Fields(PART_KEYS, ("text",), "A text beside the workbench, and what the learner does.")

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
                yield FieldError(
                    inside(path, name), "FieldValueRequired", f"Required value: a part with {key} needs it"
                )
    for one, other in EXCLUDES:
        if one in part and other in part:
            yield FieldError(inside(path, other), "FieldValueForbidden", f"Forbidden: cannot be combined with {one}")
    for key in ("predict", "question"):
        asked = part.get(key, {})
        if "at" in asked and (key == "question" or "options" in asked):
            text = "Forbidden: only a prediction about a pod can be checked at a stage"
            yield FieldError(f"{path}.{key}.at", "FieldValueForbidden", text)
        if "options" in asked and "ask" not in asked:
            yield FieldError(f"{path}.{key}.ask", "FieldValueRequired", "Required value: options need it")
        if ("refuses" in asked) != ("node" in asked):
            yield FieldError(
                f"{path}.{key}.node", "FieldValueRequired", "Required value: refuses and node need each other"
            )


KEYS: dict[str, Shape] = {
    "apiVersion": SCENARIO_KEYS["apiVersion"],
    "kind": Text(values=(KIND,)),
    "title": Text("The title of the lesson, in one line.", (), 100),
    "about": Text("What you learn, in one or two sentences.", (), 400),
    "group": Text("The chapter of the lesson."),
    "minutes": Number("The time that the lesson takes, in minutes.", whole=True, least=1, most=60),
    "rows": ListOf(Text(), "What the lesson shows: ids from the list of capabilities."),
    "after": ListOf(Text(), "Names of lessons to do before this one."),
    "source": Text("The source of the lesson."),
    "belief": Text("A common misconception, in one sentence.", (), 200),
    "truth": Text("The truth about it, in one sentence.", (), 300),
    "par": Number("The cost of a good solution of the challenge.", whole=True, least=0),
    "engine": SCENARIO_KEYS["engine"],
    "seed": SCENARIO_KEYS["seed"],
    "queue_rules": SCENARIO_KEYS["queue_rules"],
    "configuration": SCENARIO_KEYS["configuration"],
    "tab": Text("The tab that the workbench opens first."),
    "setup": SCENARIO_KEYS["setup"],
    "parts": ListOf(PartShape(), "What the learner reads and does, in order.", fewest=1),
    "know": ListOf(Text(longest=300), "What you know now, in sentences."),
}
"""Key → shape, in the order of writing a file."""

LESSON = Fields(KEYS, ("kind", "title", "parts"), "A scenario with text, tasks and questions.")
