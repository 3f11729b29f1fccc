"""Play a lesson in every way that it describes, and report what is impossible, each with its path in the file."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence

from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.lesson import figures, predictions
from scheduler_engine.lesson.costs import cost
from scheduler_engine.lesson.model import Lesson, Part, Question, Steps, Task, WrongWay
from scheduler_engine.lesson.pointers import TAB, Pointer, names_so_far, not_among, pointers, wrong_with
from scheduler_engine.lesson.predictions import Judged, Sight, judge
from scheduler_engine.lesson.tasks import checked
from scheduler_engine.lesson.walking import Walk
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.executing import play
from scheduler_engine.scenario.expectations import failures_of
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

Problem = tuple[str, str]
"""Path in the file, and the error there."""
NO_ANSWER = {
    "abandoned": "lesson-errors.abandoned",
    "error": "lesson-errors.error",
    "gone": "lesson-errors.gone",
    "in-flight": "lesson-errors.in-flight",
    "no-attempt": "lesson-errors.no-attempt",
    "no-node": "lesson-errors.no-node",
    "none-holds": "lesson-errors.none-holds",
    "not-refused": "lesson-errors.not-refused",
    "nowhere": "lesson-errors.nowhere",
}
"""Key of a ``Why`` without an answer → the row with the reason, for authors."""


def problems_of(lesson: Lesson, tabs: Iterable[str] | None = None) -> list[str]:
    """Return all errors with their lines: ``name.yaml:12:5: parts[2].right[0]: …``. ``tabs``: as in ``errors_of``."""
    return [str(error) for error in errors_of(lesson, tabs)]


def errors_of(lesson: Lesson, tabs: Iterable[str] | None = None) -> list[FieldError]:
    """Return all errors of a lesson that was read from a file, with their lines.

    ``tabs``: those of the page that shows the lesson; None = not checked, since the engine does not know a page.
    A step that is wrongly refused ends the play, so that later parts are not checked.
    """
    try:
        simulation = lesson.scenario.open()
    except Rejected as refusal:
        return list(refusal.errors)
    problems: list[Problem] = [] if tabs is None else [*_tabs(lesson, tabs)]
    setup = simulation.recorder.command
    for number, part in enumerate(lesson.parts):
        path = f"parts[{number}]"
        try:
            problems += _part(simulation, part, path)
        except Rejected as refusal:
            # A step that was refused is reported at its own path.
            if not any(where.startswith(f"{path}.") for where, _ in problems):
                problems += [(path, str(error)) for error in refusal.errors]
            break
    else:
        problems += _pointers(lesson, simulation)
        problems += _par(lesson, simulation, setup)
    return [lesson.error(path, text) for path, text in problems]


def comes_true(lesson: Lesson, number: int, simulation: Simulation) -> bool:
    """Return True if the rest of the lesson, from part ``number`` on, is right about this simulation, only read here.

    If learners skip a part, or do its task in their own way, the next parts may be wrong for them.
    """
    there = copy.deepcopy(simulation)
    try:
        return not any(_rest(lesson, number, there))
    except Rejected:
        return False


def _rest(lesson: Lesson, number: int, simulation: Simulation) -> Iterator[Problem]:
    for place, part in enumerate(lesson.parts[number:], number):
        path = f"parts[{place}]"
        yield from _through(simulation, part, path)
        for row in checked(RunView(simulation), part.task) if part.task else ():
            yield from ((path, text) for text in row.wrong)


def _part(simulation: Simulation, part: Part, path: str) -> Iterator[Problem]:
    """Go through a part as the lesson does. Raises Rejected when one of its steps is refused."""
    if part.figure:
        yield from figures.problems_of(part.figure, f"{path}.figure")
    if part.task:
        yield from _task(simulation, part.task, path)
    if part.question:
        yield from _before(simulation, part.question, f"{path}.{_inner(part)}")
    yield from _through(simulation, part, path)


def _inner(part: Part) -> str:
    return "predict" if part.predicts else "question"


def _through(simulation: Simulation, part: Part, path: str) -> Iterator[Problem]:
    since = len(simulation.recorder.entries)
    question, inner = part.question, f"{path}.{_inner(part)}"
    yield from _steps(simulation, part.way, f"{path}.{'right[0]' if part.task else 'do'}")
    if question:
        yield from _answered(
            question, judge(question, since if part.predicts else 0, _sight(simulation, part, since)), inner
        )
    yield from _held(simulation, part.expect, f"{path}.expect")


def _sight(simulation: Simulation, part: Part, since: int) -> Sight:
    """Return the view of a learner who has pressed the button of the part."""
    run = RunView(simulation)
    walk = Walk(part.do, simulation.recorder, since, lambda *_: simulation, pressed=True) if part.predicts else None
    return Sight(simulation.recorder, lambda _: run, walk)


def _steps(simulation: Simulation, steps: Steps, path: str) -> Iterator[Problem]:
    for number, step in enumerate(steps):
        inner = f"{path}[{number}]"
        try:
            play(simulation, [step])
        except Rejected as refusal:
            yield inner, say("lesson-errors.step-refused", reason=refusal)
            raise
        yield from _held(simulation, step.get("expect", ()), f"{inner}.expect")


def _held(simulation: Simulation, expectations: Sequence[Data], path: str) -> Iterator[Problem]:
    run = RunView(simulation)
    for number, expectation in enumerate(expectations):
        for text in failures_of(run, [expectation]):
            yield f"{path}[{number}]", say("lesson-errors.does-not-hold", failure=text)


def _before(simulation: Simulation, question: Question, path: str) -> Iterator[Problem]:
    offered = predictions.choices(RunView(simulation), question)
    if not offered:
        yield path, say("lesson-errors.nothing-to-choose")
    for choice in question.tempting:
        if choice not in offered:
            text = say("lesson-errors.not-a-choice", choice=repr(choice), choices=", ".join(offered))
            yield f"{path}.tempting", text


def _answered(question: Question, judged: Judged, path: str) -> Iterator[Problem]:
    answer = judged.answer
    if answer is None:
        why = judged.none
        reason = say(NO_ANSWER[why.key], **why.values) if why else say("lesson-errors.still-open")
        yield path, say("lesson-errors.no-answer", why=reason)
        return
    if question.kind == "options" and len(answer.right) > 1:
        yield f"{path}.options", say("lesson-errors.several-right", answers=", ".join(answer.right))
    for choice in question.tempting:
        if choice in answer.right:
            yield f"{path}.tempting", say("lesson-errors.tempting-is-right", choice=repr(choice))


def _task(simulation: Simulation, task: Task, path: str) -> Iterator[Problem]:
    if not any(row.wrong for row in checked(RunView(simulation), task)):
        yield f"{path}.check", say("lesson-errors.already-done")
    for number, way in enumerate(task.right):
        yield from _right(copy.deepcopy(simulation), task, way, f"{path}.right[{number}]")
    for number, wrong in enumerate(task.wrong):
        yield from _wrong(copy.deepcopy(simulation), task, wrong, f"{path}.wrong[{number}]")


def _right(simulation: Simulation, task: Task, way: Steps, path: str) -> Iterator[Problem]:
    try:
        play(simulation, way)
    except Rejected as refusal:
        yield path, say("lesson-errors.way-refused", reason=refusal)
        return
    for row in checked(RunView(simulation), task):
        for text in row.wrong:
            yield path, say("lesson-errors.way-does-not-solve", goal=row.item.say, failure=text)


def _wrong(simulation: Simulation, task: Task, way: WrongWay, path: str) -> Iterator[Problem]:
    try:
        play(simulation, way.do)
    except Rejected as refusal:
        said = str(refusal)
    else:
        missing = [row for row in checked(RunView(simulation), task) if row.wrong]
        if not missing:
            yield path, say("lesson-errors.wrong-way-solves")
            return
        said = "; ".join(text for row in missing for text in (row.item.say, *row.shown))
    if way.says not in said:
        yield f"{path}.says", say("lesson-errors.other-words", quoted=repr(way.says), shown=said)


def _par(lesson: Lesson, simulation: Simulation, setup: int) -> Iterator[Problem]:
    bill = cost(simulation, setup)
    if lesson.par is not None and bill.total > lesson.par:
        priced = ", ".join(f"{line.about} ({line.charge} {line.price})" for line in bill.lines)
        yield "par", say("lesson-errors.too-expensive", cost=bill.total, par=lesson.par, changes=priced)


def _pointers(lesson: Lesson, simulation: Simulation) -> Iterator[Problem]:
    names = names_so_far(simulation)
    for path, text in _texts(lesson):
        for pointer in pointers(text):
            wrong = wrong_with(pointer, names)
            if wrong:
                yield path, wrong
    for number, part in enumerate(lesson.parts):
        for kind, name in (("pod", part.look.pod), ("node", part.look.node)):
            if name and name not in names[kind]:
                yield f"parts[{number}].look.{kind}", say("lesson-errors.never-there", kind=kind, name=repr(name))


def _tabs(lesson: Lesson, tabs: Iterable[str]) -> Iterator[Problem]:
    opened = [
        ("tab", lesson.scenario.tab),
        *((f"parts[{n}].look.tab", part.look.tab) for n, part in enumerate(lesson.parts)),
    ]
    pointed = [(path, each.name) for path, text in _texts(lesson) for each in pointers(text) if each.kind == TAB]
    for path, name in [*((path, name) for path, name in opened if name), *pointed]:
        if wrong := not_among(Pointer(TAB, name), tabs):
            yield path, wrong


def _texts(lesson: Lesson) -> Iterator[Problem]:
    """Yield path and text of all Markdown."""
    for number, part in enumerate(lesson.parts):
        yield f"parts[{number}].text", part.text
        yield f"parts[{number}].then", part.then
        if part.task:
            yield f"parts[{number}].task", part.task.text
            for place, hint in enumerate(part.task.hints):
                yield f"parts[{number}].hints[{place}]", hint
    for number, text in enumerate(lesson.know):
        yield f"know[{number}]", text
