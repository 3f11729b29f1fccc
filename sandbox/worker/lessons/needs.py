"""The panels that a lesson uses: those that its parts have named so far. The page folds the others away."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_engine.framework.extension_points import STAGES
from scheduler_engine.lesson.model import Lesson, Part
from scheduler_engine.lesson.pointers import Pointer, pointers

BINDING_STAGES = tuple(stage.name for stage in STAGES if stage.binding)
ASKED = {"passes": "filter", "refuses": "filter", "winner": "scores", "victims": "preemption"}
"""Kind of question → the panel that shows its answer."""
SOLVED_IN = {"configure": "configuration", "fault": "faults", "allow": "bindings", "replica": "leader"}
"""Kind of a command that solves a task → the panel where people give it; others have forms and buttons in sight."""


def needs(lesson: Lesson, number: int) -> list[str]:
    """Return the ids of the panels and tabs that the parts up to ``number`` use, each once, as they come up."""
    found = [lesson.scenario.tab, *(name for part in lesson.parts[: number + 1] for name in _of_part(part))]
    return [*dict.fromkeys(filter(None, found))]


def _of_part(part: Part) -> Iterator[str]:
    yield part.look.tab
    if part.look.pod or part.look.node or part.task:
        yield "inspector"
    for solution in part.task.right if part.task else ():
        yield from (SOLVED_IN.get(str(command["kind"]), "") for command in solution)
    if part.question:
        yield ASKED.get(part.question.kind, "")
    for text in (part.text, part.then, part.task.text if part.task else "", *(part.task.hints if part.task else ())):
        for pointer in pointers(text):
            yield _panel_of(pointer)


def _panel_of(pointer: Pointer) -> str:
    match pointer.kind:
        case "stage":
            return "bindings" if pointer.name in BINDING_STAGES else ""
        case "cell":
            return "filter"
        case "pane" | "tab":
            return pointer.name
    return ""
