"""Play a lesson in every way that it describes, and report what is impossible, each with its path in the file."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence

from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import predictions
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

Problem = tuple[str, str]
"""Path in the file, and the error there."""
NO_ANSWER = {
    "abandoned": "the attempt for {pod} never ends",
    "error": "the attempt for {pod} fails with an error: {message}",
    "gone": "{pod} is gone",
    "in-flight": "{pod} is in flight",
    "no-attempt": "no attempt for {pod} has reached that stage",
    "no-node": "{pod} gets no node: {message}",
    "none-holds": "no answer is right",
    "not-refused": "{node} is not refused for {pod}",
    "nowhere": "{pod} is in no queue, and has no node",
}
"""Key of a ``Why`` without an answer → the reason in words, for authors."""


def problems_of(lesson: Lesson, tabs: Iterable[str] | None = None) -> list[str]:
    """Return all errors with their lines: ``name.yaml:12:5: parts[2].right[0]: …``.

    ``tabs``: those of the page that shows the lesson; None = not checked, since the engine does not know a page.
    A step that is wrongly refused ends the play, so that later parts are not checked.
    """
    try:
        simulation = lesson.scenario.open()
    except Rejected as refusal:
        return [str(error) for error in refusal.errors]
    problems: list[Problem] = [] if tabs is None else [*_tabs(lesson, tabs)]
    setup = simulation.recorder.command
    for number, part in enumerate(lesson.parts):
        path = f"parts[{number}]"
        try:
            problems += _part(simulation, part, path)
        except Rejected as refusal:
            problems += [(path, str(error)) for error in refusal.errors]
            break
    else:
        problems += _pointers(lesson, simulation)
        problems += _par(lesson, simulation, setup)
    return [f"{lesson.where(path)}: {text}" for path, text in problems]


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
            yield inner, f"this step is refused: {refusal}"
            raise
        yield from _held(simulation, step.get("expect", ()), f"{inner}.expect")


def _held(simulation: Simulation, expectations: Sequence[Data], path: str) -> Iterator[Problem]:
    run = RunView(simulation)
    for number, expectation in enumerate(expectations):
        for text in failures_of(run, [expectation]):
            yield f"{path}[{number}]", f"this does not hold: {text}"


def _before(simulation: Simulation, question: Question, path: str) -> Iterator[Problem]:
    offered = predictions.choices(RunView(simulation), question)
    if not offered:
        yield path, "there is nothing to choose from"
    for choice in question.tempting:
        if choice not in offered:
            yield f"{path}.tempting", f"{choice!r} is not a choice; the choices are {', '.join(offered)}"


def _answered(question: Question, judged: Judged, path: str) -> Iterator[Problem]:
    answer = judged.answer
    if answer is None:
        why = NO_ANSWER[judged.none.key].format_map(judged.none.values) if judged.none else "it is still open"
        yield path, f"the question has no answer at the end of the steps: {why}"
        return
    if question.kind == "options" and len(answer.right) > 1:
        yield f"{path}.options", f"only one answer may be right, but these are: {', '.join(answer.right)}"
    for choice in question.tempting:
        if choice in answer.right:
            yield f"{path}.tempting", f"{choice!r} is right"


def _task(simulation: Simulation, task: Task, path: str) -> Iterator[Problem]:
    if not any(row.wrong for row in checked(RunView(simulation), task)):
        yield f"{path}.check", "the task is already done before the learner does anything"
    for number, way in enumerate(task.right):
        yield from _right(copy.deepcopy(simulation), task, way, f"{path}.right[{number}]")
    for number, wrong in enumerate(task.wrong):
        yield from _wrong(copy.deepcopy(simulation), task, wrong, f"{path}.wrong[{number}]")


def _right(simulation: Simulation, task: Task, way: Steps, path: str) -> Iterator[Problem]:
    try:
        play(simulation, way)
    except Rejected as refusal:
        yield path, f"a step of this way is refused: {refusal}"
        return
    for row in checked(RunView(simulation), task):
        for text in row.wrong:
            yield path, f"this way does not solve the task: {row.item.say}: {text}"


def _wrong(simulation: Simulation, task: Task, way: WrongWay, path: str) -> Iterator[Problem]:
    try:
        play(simulation, way.do)
    except Rejected as refusal:
        said = str(refusal)
    else:
        missing = [row for row in checked(RunView(simulation), task) if row.wrong]
        if not missing:
            yield path, "this way solves the task"
            return
        said = "; ".join(text for row in missing for text in (row.item.say, *row.shown))
    if way.says not in said:
        yield f"{path}.says", f"the learner does not read {way.says!r} here, but: {said}"


def _par(lesson: Lesson, simulation: Simulation, setup: int) -> Iterator[Problem]:
    bill = cost(simulation, setup)
    if lesson.par is not None and bill.total > lesson.par:
        priced = ", ".join(f"{line.about} ({line.charge} {line.price})" for line in bill.lines)
        yield "par", f"the first right way costs {bill.total}, more than {lesson.par}: {priced}"


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
                yield f"parts[{number}].look.{kind}", f"there is never a {kind} {name!r}"


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
