"""What an engine does for lessons: it reads one, tells the lesson's own way, and compares answers."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.panels import TABS
from sandbox.storage.models import LONGEST_TITLE, printable
from sandbox.storage.records import Position
from sandbox.words.say import say
from sandbox.worker.job import reading, uploading
from sandbox.worker.jobs.importing import in_text
from sandbox.worker.lessons.answers import asked, question_text
from sandbox.worker.lessons.desk import Desk
from sandbox.worker.live import Live
from scheduler_engine.errors import FieldError, NothingToDo, Rejected
from scheduler_engine.lesson import Question, comes_true, problems_of, read_lesson
from scheduler_engine.scenario import command_of
from scheduler_engine.scenario.priority_numbers import gives_numbers
from scheduler_engine.scenario.yaml_file import FILE_LIMITS
from scheduler_engine.shapes import Data

LONGEST_LESSON = 200_000
"""Characters of the file of a lesson, which is kept with its sandbox."""


@dataclass(frozen=True, slots=True)
class Learned:
    """A lesson as ``store.create`` needs it."""

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
    """It gives pods a priority as a number alone."""


@dataclass(frozen=True, slots=True)
class Stand:
    """``parts``: how many there are; ``done``: what the open one asks for; ``hints``: how many it has."""

    parts: int
    part: int
    done: bool
    hints: int


@dataclass(frozen=True, slots=True)
class Answered:
    """A guess as it is kept: ``points`` as JSON text, "" where the answer lies ahead; where it stands as in Guess."""

    question: str
    points: str
    state: int
    n: int
    entries: int


@uploading
def lesson_read(live: Live, position: Position, text: str, name: str) -> Learned:
    """What stands in the file of a lesson. Raises ``Rejected`` with everything that is wrong in it, at its line."""
    if len(text) > LONGEST_LESSON:
        raise Rejected(say("lesson.long", most=LONGEST_LESSON, found=len(text)))
    try:
        lesson = read_lesson(text, name, FILE_LIMITS)
    except Rejected as refusal:
        raise Rejected([in_text(error) for error in refusal.errors]) from refusal
    if problems := problems_of(lesson, TABS):
        raise Rejected([FieldError("", "", problem) for problem in problems])
    scenario = lesson.scenario
    title = printable(lesson.title, LONGEST_TITLE)
    setup = [dict(step) for step in scenario.setup]
    tasks = tuple(number for number, part in enumerate(lesson.parts) if part.task)
    parts = len(lesson.parts)
    told = lesson.slug, title, scenario.seed, scenario.configuration, scenario.queue_rules, setup, parts, tasks
    return Learned(*told, gives_numbers(lesson))


def _desk(live: Live, position: Position) -> Desk:
    """Raises ``Rejected`` where there is no lesson."""
    desk = _any_desk(live, position)
    if desk.lesson is None:
        raise Rejected(say("lesson.none"))
    return desk


def _any_desk(live: Live, position: Position) -> Desk:
    live.move_to(position)
    live.check_whole()
    live.look_up_expected(None)
    return Desk(live, live.world, None, live.studied)


@reading
def lesson_stands(live: Live, position: Position) -> Stand:
    """Where the learner stands. Raises ``Rejected``."""
    desk = _desk(live, position)
    task = desk.open.task if desk.open else None
    return Stand(len(desk.lesson.parts) if desk.lesson else 0, desk.number, desk.done, len(task.hints) if task else 0)


@reading
def lesson_steps(live: Live, position: Position) -> list[tuple[Data, str]]:
    """The commands that are left of the open part's button, each with the text of its refusal. Raises ``Rejected``."""
    return _desk(live, position).steps_left()


@reading
def lesson_way(live: Live, position: Position, part: int) -> tuple[int, list[tuple[int, Data, str]]]:
    """How many commands the setup has; and the lesson's own way from there to the start of a part: number of the
    part, command, text of its refusal. Raises ``Rejected``.
    """
    desk = _desk(live, position)
    parts = desk.lesson.parts[:part] if desk.lesson else ()
    way = [
        (number, command_of(step), step.get("refused", "")) for number, part in enumerate(parts) for step in part.way
    ]
    return len(desk.lesson.scenario.setup) if desk.lesson else 0, way


@reading
def lesson_comes_true(live: Live, position: Position, part: int) -> bool:
    """Return True if what a part and those after it say will be so from here on. Raises ``Rejected``."""
    desk = _desk(live, position)
    return desk.lesson is None or comes_true(desk.lesson, part, live.simulation)


@reading
def lesson_guess(live: Live, position: Position, named: Sequence[str] | None, predicts: bool, key: str) -> Answered:
    """An answer to the open question, or with ``predicts`` to a prediction; None: looks without guessing.

    ``key``: which prediction, "" = that of the next stage.

    Raises ``Rejected`` when it is none of the choices, ``NothingToDo`` when the question is answered.
    """
    desk = _any_desk(live, position) if predicts else _desk(live, position)
    question = _predicted(desk, key) if predicts else _question(desk)
    # Of very many nodes not all are offered, and each can be named.
    more = live.world.nodes if question.kind == "winner" else ()
    foresee = predicts or (desk.open is not None and desk.open.foresee)
    shown = asked(desk.seen, question, foresee)
    _check(shown, more, named)
    points = None if foresee else desk.compared_now(question, named)
    here = live.world.moment_of(len(live.world.entries))
    state = live.records.keys(live.plan.sandbox_id, [here.command]).get(here.command, 0)
    told = "" if points is None else json.dumps(points, ensure_ascii=False)
    return Answered(question_text(question, shown["choices"]), told, state, here.command, here.entries)


def _predicted(desk: Desk, key: str) -> Question:
    question = desk.predicted(key)
    if question is None:
        raise NothingToDo(say("predict.nothing"))
    return question


def _question(desk: Desk) -> Question:
    question, shown = desk.open.question if desk.open else None, desk.part()
    asks = shown["question"] if shown and question else None
    if question is None or asks is None or asks["given"] or asks["late"]:
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
