"""A room as a file: what participants start with, and the planned questions. It has no names, and opens as a room."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from sandbox.changes.opening import read_lesson
from sandbox.storage.models import LONGEST_TITLE
from sandbox.web.errors import line_of
from sandbox.words.say import say
from sandbox.worker.jobs.rooms import PREDICTED
from sandbox.workshop import questions, sources
from sandbox.workshop.lessons import MOST_BYTES, MOST_LESSONS, LessonFile
from sandbox.workshop.models import Question, Workshop
from sandbox.workshop.questions import LONGEST_ASK, LONGEST_CHOICE
from sandbox.workshop.room import open_room
from scheduler_engine.api.parsing import Limits
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.lesson import model, predictions
from scheduler_engine.scenario.format import API_VERSION
from scheduler_engine.scenario.yaml_file import at_lines, document_in
from scheduler_engine.shapes import Data, Fields, Flag, ListOf, Number, Shape, Text, invalid

KIND, NAME = "Workshop", "workshop.yaml"
LIMITS = Limits(size=256 * 1024 + 2 * MOST_BYTES, nodes=20_000)
MOST_PLANNED = 100
IS_LESSON = re.compile(r"""^kind: *["']?Lesson\b""", re.MULTILINE)
IS_ROOM = re.compile(r"""^kind: *["']?Workshop\b""", re.MULTILINE)

QUESTION: dict[str, Shape] = {
    "ask": Text(longest=LONGEST_ASK),
    "choices": ListOf(Text(longest=LONGEST_CHOICE), fewest=2),
    "right": ListOf(Text()),
    "many": Flag(),
    "predict": Text(values=PREDICTED),
    "pod": Text(),
}
ASK_KEYS, PREDICT_KEYS = ("choices", "right", "many"), ("pod",)
"""Keys that only ``ask`` may have, and keys that only ``predict`` may have."""
BEGIN_SOURCES: dict[str, Callable[[str], sources.Source]] = {
    "lesson": sources.lesson,
    "scenario": sources.scenario,
    "file": sources.file,
}
BEGIN: dict[str, Shape] = {**dict.fromkeys(BEGIN_SOURCES, Text()), "own": Number(whole=True, least=1)}
KEYS: dict[str, Shape] = {
    "apiVersion": Text(values=(API_VERSION,)),
    "kind": Text(values=(KIND,)),
    "title": Text(longest=LONGEST_TITLE),
    "begin": Fields(BEGIN, some=tuple(BEGIN), single=True),
    "lessons": ListOf(Text()),
    "questions": ListOf(Fields(QUESTION, some=("ask", "predict"), single=True)),
}
"""Key → shape, in the order of a written file."""
ROOM = Fields(KEYS, ("kind",))


def is_room(text: str) -> bool:
    """Return True if the text of a file looks like a room."""
    return IS_ROOM.search(text) is not None


def is_lesson(text: str) -> bool:
    """Return True if the text of a file looks like a lesson."""
    return IS_LESSON.search(text) is not None


@dataclass(frozen=True, slots=True)
class RoomFile:
    """The content of a room's file. ``first`` is the own lesson to start with, by number; 0 for ``source``."""

    title: str
    source: sources.Source
    plan: list[Data]
    lessons: list[LessonFile]
    first: int


def open_file(text: str, title: str = "") -> tuple[Workshop, str]:
    """Open a room from the text of the file of a room, a lesson or a scenario. Return it with the trainer's token.

    ``title``: in place of the file's. Raise ``Rejected`` or ``OverQuota``.
    """
    if is_room(text):
        file = read(text)
        return open_room(file.source, title or file.title, file.plan, file.lessons, file.first)
    if is_lesson(text):
        return open_room(sources.BLANK, title, files=[LessonFile(text, read_lesson(text))], first=1)
    return open_room(sources.file(text), title)


def read(text: str) -> RoomFile:
    """Read a room's file. Raise ``Rejected``, and what ``sources.file`` and ``read_lesson`` raise."""
    document = document_in(text, NAME, LIMITS, "room")
    data: Data = document.data
    problems = [*ROOM.problems(data, "")] or [*_check(data)]
    if problems:
        raise Rejected(at_lines(problems, document.place, NAME))
    source, first = sources.BLANK, 0
    for kind, value in data.get("begin", {}).items():
        if kind == "own":
            first = value
            continue
        try:
            source = BEGIN_SOURCES[kind](value)
        except Rejected as refusal:
            errors = [FieldError(f"begin.{kind}", "FieldValueInvalid", str(error)) for error in refusal.errors]
            raise Rejected(at_lines(errors, document.place, NAME)) from refusal
    lessons = [
        _lesson(lesson, f"lessons[{number}]", document.place) for number, lesson in enumerate(data.get("lessons", ()))
    ]
    return RoomFile(data.get("title", ""), source, list(data.get("questions", [])), lessons, first)


def _lesson(text: str, path: str, place: Any) -> LessonFile:
    """Read a lesson in a room's file. Raise ``Rejected`` with the lines of the room's file."""
    try:
        return LessonFile(text, read_lesson(text))
    except Rejected as refusal:
        errors = [FieldError(path, "FieldValueInvalid", line_of(error)) for error in refusal.errors]
        raise Rejected(at_lines(errors, place, NAME)) from refusal


def _check(data: Data) -> Iterator[FieldError]:
    """Yield the errors between fields that are right by themselves."""
    own, count = data.get("begin", {}).get("own", 0), len(data.get("lessons", ()))
    if own > count:
        yield invalid("begin.own", own, say("room.begin-own", count=count))
    if count > MOST_LESSONS:
        yield FieldError("lessons", "FieldValueTooMany", say("room.too-many", count=count, most=MOST_LESSONS))
    yield from _check_questions(data.get("questions", []))


def _check_questions(listed: Sequence[Data]) -> Iterator[FieldError]:
    if len(listed) > MOST_PLANNED:
        message = say("room.too-many", count=len(listed), most=MOST_PLANNED)
        yield FieldError("questions", "FieldValueTooMany", message)
    for number, question in enumerate(listed):
        path = f"questions[{number}]"
        if "ask" in question and "choices" not in question:
            yield FieldError(f"{path}.choices", "FieldValueRequired", say("room.no-file-choices"))
        key, others = ("ask", PREDICT_KEYS) if "ask" in question else ("predict", ASK_KEYS)
        for other in others:
            if other in question:
                yield FieldError(f"{path}.{other}", "FieldValueForbidden", say("room.not-together", key=key))
        for wrong in (right for right in question.get("right", ()) if right not in question.get("choices", ())):
            yield invalid(f"{path}.right", wrong, say("room.not-a-choice"))


def write(room: Workshop) -> str:
    """Return a room as the text of a file, without its participants.

    Its questions are those that were asked, then those still planned.
    """
    asked = [_question(question) for question in room.questions.order_by("number")]
    left = [question for question in planned(room) if _same(question) not in map(_same, asked)]
    fields = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "title": room.title,
        "begin": _begin(room, sources.from_text(room.source)),
        "lessons": [lesson.text for lesson in room.lessons.order_by("number")],
        "questions": [*asked, *left],
    }
    present = {key: value for key, value in fields.items() if value}
    return yaml.dump(present, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120)


class Dumper(yaml.SafeDumper):
    """Write a text of several lines as a block, as it is in its own file."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


Dumper.add_representer(str, Dumper.represent_text)


def planned(room: Workshop) -> list[Data]:
    """Return the planned questions from the room's file."""
    return json.loads(room.plan)


def ask_planned(room: Workshop, number: int) -> Question | None:
    """Ask a planned question by number, from 0. None: there is no such question. Raise what ``questions`` raises."""
    plan = planned(room)
    if not 0 <= number < len(plan):
        return None
    question = plan[number]
    if "predict" in question:
        return questions.predict(room, question["predict"], question.get("pod", ""))
    right, many = question.get("right", ()), bool(question.get("many", False))
    return questions.ask(room, question["ask"], question["choices"], right, many)


def describe(question: Data) -> str:
    """Return a planned question in words."""
    if "ask" in question:
        return str(question["ask"])
    kind, pod = question["predict"], question.get("pod") or say("room.next-pod")
    return predictions.asked(model.Question(kind, pod, at=predictions.KINDS[kind].at))


def _begin(room: Workshop, source: sources.Source) -> Data:
    """Return the ``begin`` of a file; empty for a source that a file cannot have."""
    if source["kind"] == "own":
        return {"own": room.lessons.get(pk=source["lesson"]).number}
    key = {"scenario": "slug", "lesson": "slug", "file": "text"}.get(source["kind"])
    return {source["kind"]: source[key]} if key else {}


def _question(question: Question) -> Data:
    if question.prediction:
        put = json.loads(question.prediction)
        return {"predict": put["kind"], "pod": put["pod"]}
    fields = {"ask": question.ask, "choices": json.loads(question.choices), "right": json.loads(question.right or "[]")}
    return {key: value for key, value in (fields | {"many": question.many}).items() if value}


def _same(question: Data) -> tuple[Any, ...]:
    """Return what two questions have in common if they are the same."""
    return question.get("ask"), question.get("predict"), question.get("pod")
