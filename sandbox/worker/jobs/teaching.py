"""Jobs of lessons: read a lesson file, return the steps of a lesson, and compare answers."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.content.shelf import part_name
from sandbox.panels import TABS
from sandbox.runtime.local import local
from sandbox.storage.models import LONGEST_TITLE, printable
from sandbox.storage.records import Position
from sandbox.words.say import say
from sandbox.worker.job import reading, uploading
from sandbox.worker.jobs.importing import beginning_of, in_text
from sandbox.worker.lessons.answers import question_data, question_text
from sandbox.worker.lessons.desk import Desk
from sandbox.worker.live import Live
from scheduler_engine.errors import NothingToDo, Rejected
from scheduler_engine.lesson import Lesson, Question, comes_true, errors_of, read_lesson
from scheduler_engine.lesson.practice import practice, practice_text, round_of
from scheduler_engine.scenario import command_of
from scheduler_engine.scenario.priority_numbers import gives_numbers
from scheduler_engine.scenario.yaml_file import FILE_LIMITS
from scheduler_engine.shapes import Data
from scheduler_engine.versions import DEFAULT

LONGEST_LESSON = 200_000
"""Characters of a lesson file. The file is stored with its sandbox."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A lesson file that was read, with the arguments for ``store.create``."""

    slug: str
    title: str
    seed: int
    configuration: Data | None
    queue_rules: str
    setup: list[Data]
    parts: int = 0
    tasks: tuple[int, ...] = ()
    """How many parts there are, and the numbers, from 0, of those with a task."""
    priority_numbers: bool = False
    """Its pods have priority numbers without a PriorityClass."""
    kubernetes: str = DEFAULT
    feature_gates: dict[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """A learner's place in a lesson. ``parts``: how many it has. ``part``: the open one, from 0.

    ``done``: True if the open part is done. ``hints``: how many it has. ``right``: whether its question was answered
    rightly, None if it was not answered, or the answer is not known yet. ``guess``: primary key of the answer, 0: none.
    """

    parts: int
    part: int
    done: bool
    hints: int
    right: bool | None = None
    guess: int = 0


@dataclass(frozen=True, slots=True)
class LessonAnswer:
    """An answer as ``models.Guess`` stores it. ``points``: JSON text, "" if the right answer is not known yet."""

    question: str
    points: str
    state: int
    n: int
    entries: int


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A part of a lesson for its author. ``line``: where it starts in the file."""

    name: str
    line: int


@uploading
def lesson_read(live: Live, position: Position, text: str, name: str) -> Learned:
    """Return the lesson of a file after testing it. Raises ``Rejected`` with all errors and their lines."""
    return _outlined(_tested(text, name))


@uploading
def lesson_written(live: Live, position: Position, text: str) -> tuple[Learned, list[WrittenPart]]:
    """Return the lesson of a file after testing it, and its parts. Raises ``Rejected`` as ``lesson_read`` does."""
    lesson = _tested(text, "lesson.yaml")
    lines = (lesson.line_of(f"parts[{number}]") for number in range(len(lesson.parts)))
    return _outlined(lesson), [
        WrittenPart(part_name(part), line) for part, line in zip(lesson.parts, lines, strict=True)
    ]


def _tested(text: str, name: str) -> Lesson:
    if len(text) > LONGEST_LESSON:
        raise Rejected(say("lesson.long", most=LONGEST_LESSON, length=len(text)))
    try:
        lesson = read_lesson(text, name, FILE_LIMITS, *local.readers)
    except Rejected as refusal:
        raise Rejected([in_text(error) for error in refusal.errors]) from refusal
    if errors := errors_of(lesson, TABS):
        raise Rejected([in_text(error) for error in errors])
    return lesson


@uploading
def practice_round(live: Live, position: Position, name: str) -> tuple[str, Learned]:
    """Return the text and the lesson of a round of practice. Raises ``Rejected`` if there is no round of this name."""
    drawn = round_of(name)
    if drawn is None:
        raise Rejected(say("lesson.no-such"))
    return practice_text(drawn), _outlined(practice(drawn))


def _outlined(lesson: Lesson) -> Learned:
    tasks = tuple(number for number, part in enumerate(lesson.parts) if part.task)
    title = printable(lesson.title, LONGEST_TITLE)
    return replace(as_learned(lesson), title=title, parts=len(lesson.parts), tasks=tasks)


def as_learned(lesson: Lesson) -> Learned:
    """Return a lesson without its outline."""
    beginning = beginning_of(lesson.scenario) | {"priority_numbers": gives_numbers(lesson)}
    return Learned(lesson.slug, lesson.title, **beginning)


def _desk(live: Live, position: Position) -> Desk:
    """Return the desk of the sandbox's lesson. Raises ``Rejected`` if it has none."""
    desk = _any_desk(live, position)
    if desk.lesson is None:
        raise Rejected(say("lesson.none"))
    return desk


def _any_desk(live: Live, position: Position) -> Desk:
    live.move_to(position)
    live.check_replayed()
    live.look_up_expected(None)
    return Desk(live, live.world, None, live.studied, prose=str)


@reading
def lesson_part(live: Live, position: Position) -> Data:
    """Return the open part of the lesson as its panel shows it, with texts in Markdown. Raises ``Rejected``."""
    part: Data = _desk(live, position).part() or {}
    return part


@reading
def lesson_prediction(live: Live, position: Position) -> Data:
    """Return the predictions of a sandbox: what to predict now, what waits, and the last answers."""
    return _any_desk(live, position).prediction() or {}


@reading
def lesson_status(live: Live, position: Position) -> Status:
    """Return the learner's place in the lesson. Raises ``Rejected``."""
    desk = _desk(live, position)
    task = desk.open.task if desk.open else None
    parts, hints = len(desk.lesson.parts) if desk.lesson else 0, len(task.hints) if task else 0
    return Status(parts, desk.number, desk.done, hints, desk.right, desk.guess)


@reading
def lesson_steps(live: Live, position: Position) -> list[tuple[Data, str]]:
    """Return command and text of the expected refusal ("" = none) of each step left. Raises ``Rejected``."""
    return _desk(live, position).steps_left()


@reading
def lesson_commands(live: Live, position: Position, part: int) -> tuple[int, list[tuple[int, Data, str]]]:
    """Return the number of commands in the setup, and the lesson's own commands from there to the start of a part.

    Each has the number of its part, the command, and the text of its expected refusal or "". Raises ``Rejected``.
    """
    desk = _desk(live, position)
    parts = desk.lesson.parts[:part] if desk.lesson else ()
    steps = [
        (number, command_of(step), step.get("refused", "")) for number, part in enumerate(parts) for step in part.way
    ]
    return len(desk.lesson.scenario.setup) if desk.lesson else 0, steps


@reading
def lesson_comes_true(live: Live, position: Position, part: int) -> bool:
    """Return True if the texts of a part and the later ones will be true from here on. Raises ``Rejected``."""
    desk = _desk(live, position)
    if desk.lesson is None:
        return True
    # The next text tells of the cluster as the steps leave it, or the solution of the task. Not all of it is checked.
    left = desk.open
    skipped = left is not None and bool((left.do and not desk.stepped) or (left.task and not desk.done))
    if skipped and part < len(desk.lesson.parts):
        return False
    return comes_true(desk.lesson, part, live.simulation)


@reading
def lesson_guess(live: Live, position: Position, named: Sequence[str] | None, predicts: bool, key: str) -> LessonAnswer:
    """Return the answer ``named`` to the open question, ready to store. None = show the answer without guessing.

    ``predicts``: the question is the prediction ``key``, "" = that of the next stage. Raises ``Rejected`` if a choice
    is not offered, ``NothingToDo`` if there is no open question.
    """
    desk = _any_desk(live, position) if predicts else _desk(live, position)
    question = _predicted(desk, key) if predicts else _question(desk)
    # In a large cluster not all nodes are offered, but each is a valid answer.
    more = live.world.nodes if question.kind == "winner" else ()
    predicts = predicts or (desk.open is not None and desk.open.predicts)
    data = question_data(desk.run, question, predicts)
    _check(data, more, named)
    points = None if predicts else desk.compare_now(question, named)
    here = live.world.moment_of(len(live.world.entries))
    state = live.records.keys(live.plan.sandbox_id, [here.command]).get(here.command, 0)
    points_text = "" if points is None else json.dumps(points, ensure_ascii=False)
    return LessonAnswer(question_text(question, data["choices"]), points_text, state, here.command, here.entries)


def _predicted(desk: Desk, key: str) -> Question:
    question = desk.predicted(key)
    if question is None:
        raise NothingToDo(say("predict.nothing"))
    return question


def _question(desk: Desk) -> Question:
    question, part = desk.open.question if desk.open else None, desk.part()
    asks = part["question"] if part and question else None
    if question is None or asks is None or asks["answered"] or asks["late"]:
        raise NothingToDo(say("lesson.answered"))
    return question


def _check(offered: dict[str, Any], more: Collection[str], named: Sequence[str] | None) -> None:
    if named is None:
        return
    for choice in named:
        if choice not in offered["choices"] and choice not in more:
            raise Rejected(say("lesson.no-choice", choice=choice[:80]))
    if not offered["many"] and len(named) != 1:
        raise Rejected(say("lesson.one"))
