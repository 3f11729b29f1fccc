"""A room as a file: what newcomers get, and the questions to put. It names nobody, and opens again as a room."""

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
from sandbox.worker.jobs.rooms import PREDICTED
from sandbox.workshop import sources
from sandbox.workshop.lessons import MOST_BYTES, MOST_LESSONS, Brought
from sandbox.workshop.models import Question, Workshop
from sandbox.workshop.questions import LONGEST_ASK, LONGEST_CHOICE
from scheduler_engine.api.parsing import Limits
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.lesson.predictions import KINDS
from scheduler_engine.scenario.format import API_VERSION
from scheduler_engine.scenario.yaml_file import at_line, document_in
from scheduler_engine.shapes import Data, Fields, Flag, ListOf, Number, Shape, Text, invalid

KIND, NAME = "Workshop", "workshop.yaml"
LIMITS = Limits(size=256 * 1024 + 2 * MOST_BYTES, nodes=20_000)
MOST_PLANNED = 100
IS_LESSON = re.compile(r"""^kind: *["']?Lesson\b""", re.MULTILINE)
IS_ONE = re.compile(r"""^kind: *["']?Workshop\b""", re.MULTILINE)

PUT: dict[str, Shape] = {
    "ask": Text(longest=LONGEST_ASK),
    "choices": ListOf(Text(longest=LONGEST_CHOICE), fewest=2),
    "right": ListOf(Text()),
    "many": Flag(),
    "predict": Text(values=PREDICTED),
    "pod": Text(),
}
ASKED, FORESEEN = ("choices", "right", "many"), ("pod",)
"""Keys that go with ``ask`` alone, and with ``predict`` alone."""
BEGIN: dict[str, Callable[[str], sources.Source]] = {
    "lesson": sources.lesson,
    "scenario": sources.scenario,
    "file": sources.file,
}
BEGINS: dict[str, Shape] = {**dict.fromkeys(BEGIN, Text()), "own": Number(whole=True, least=1)}
KEYS: dict[str, Shape] = {
    "apiVersion": Text(values=(API_VERSION,)),
    "kind": Text(values=(KIND,)),
    "title": Text(longest=LONGEST_TITLE),
    "begin": Fields(BEGINS, some=tuple(BEGINS), single=True),
    "lessons": ListOf(Text()),
    "questions": ListOf(Fields(PUT, some=("ask", "predict"), single=True)),
}
"""Key → shape, in the order in which a file is written."""
ROOM = Fields(KEYS, ("kind",))


def is_room(text: str) -> bool:
    """Whether the text of a file is meant as a room."""
    return IS_ONE.search(text) is not None


def is_lesson(text: str) -> bool:
    """Whether the text of a file is meant as a lesson."""
    return IS_LESSON.search(text) is not None


@dataclass(frozen=True, slots=True)
class Read:
    """What stands in a room's file; ``begins``: the number of the own lesson that newcomers get, 0 = ``source``."""

    title: str
    source: sources.Source
    plan: list[Data]
    lessons: list[Brought]
    begins: int


def read(text: str) -> Read:
    """Raises ``Rejected``, and as ``sources.file`` and ``read_lesson``."""
    document = document_in(text, NAME, LIMITS, "room")
    data: Data = document.data
    problems = [*ROOM.problems(data, "")] or [*_together(data)]
    if problems:
        raise Rejected([at_line(problem, document.place, NAME) for problem in problems])
    source, begins = sources.BLANK, 0
    for kind, given in data.get("begin", {}).items():
        if kind == "own":
            begins = given
            continue
        try:
            source = BEGIN[kind](given)
        except Rejected as refusal:
            told = [FieldError(f"begin.{kind}", "FieldValueInvalid", str(error)) for error in refusal.errors]
            raise Rejected([at_line(error, document.place, NAME) for error in told]) from refusal
    brought = [
        _lesson(given, f"lessons[{place}]", document.place) for place, given in enumerate(data.get("lessons", ()))
    ]
    return Read(data.get("title", ""), source, list(data.get("questions", [])), brought, begins)


def _lesson(text: str, path: str, place: Any) -> Brought:
    try:
        return Brought(text, read_lesson(text))
    except Rejected as refusal:
        told = [FieldError(path, "FieldValueInvalid", line_of(error)) for error in refusal.errors]
        raise Rejected([at_line(error, place, NAME) for error in told]) from refusal


def _together(data: Data) -> Iterator[FieldError]:
    own, given = data.get("begin", {}).get("own", 0), len(data.get("lessons", ()))
    if own > given:
        yield invalid("begin.own", own, f"must be the number of one of the lessons: there are {given}")
    if given > MOST_LESSONS:
        yield FieldError("lessons", "FieldValueTooMany", f"Too many: {given}: must have at most {MOST_LESSONS} items")
    yield from _questions(data.get("questions", []))


def _questions(questions: Sequence[Data]) -> Iterator[FieldError]:
    if len(questions) > MOST_PLANNED:
        told = f"Too many: {len(questions)}: must have at most {MOST_PLANNED} items"
        yield FieldError("questions", "FieldValueTooMany", told)
    for number, question in enumerate(questions):
        path = f"questions[{number}]"
        if "ask" in question and "choices" not in question:
            yield FieldError(f"{path}.choices", "FieldValueRequired", "Required value: a question with ask needs it")
        one, others = ("ask", FORESEEN) if "ask" in question else ("predict", ASKED)
        for key in others:
            if key in question:
                yield FieldError(f"{path}.{key}", "FieldValueForbidden", f"Forbidden: cannot be combined with {one}")
        for wrong in (right for right in question.get("right", ()) if right not in question.get("choices", ())):
            yield invalid(f"{path}.right", wrong, "must be one of the choices")


def written(room: Workshop) -> str:
    """The room without its people: what newcomers get, the questions that were put, and those still planned."""
    put = [_question(question) for question in room.questions.order_by("number")]
    left = [question for question in planned(room) if _same(question) not in map(_same, put)]
    found = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "title": room.title,
        "begin": _begin(room, sources.read(room.source)),
        "lessons": [lesson.text for lesson in room.lessons.order_by("number")],
        "questions": [*put, *left],
    }
    kept = {key: value for key, value in found.items() if value}
    return yaml.dump(kept, Dumper=Lines, sort_keys=False, allow_unicode=True, width=120)


class Lines(yaml.SafeDumper):
    """Writes text of several lines as it stands in its own file."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


Lines.add_representer(str, Lines.represent_text)


def planned(room: Workshop) -> list[Data]:
    """The questions that the room's file brought along."""
    found: list[Data] = json.loads(room.plan)
    return found


def told(question: Data) -> str:
    """A planned question in words."""
    if "ask" in question:
        return str(question["ask"])
    kind, pod = KINDS[question["predict"]], question.get("pod", "").removeprefix("default/")
    return kind.ask.format(pod=pod or "the next pod")


def _begin(room: Workshop, source: sources.Source) -> Data:
    if source["kind"] == "own":
        return {"own": room.lessons.get(pk=source["lesson"]).number}
    key = {"scenario": "slug", "lesson": "slug", "file": "text"}.get(source["kind"])
    return {source["kind"]: source[key]} if key else {}


def _question(question: Question) -> Data:
    if question.prediction:
        put = json.loads(question.prediction)
        return {"predict": put["kind"], "pod": put["pod"]}
    found = {"ask": question.ask, "choices": json.loads(question.choices), "right": json.loads(question.right or "[]")}
    return {key: value for key, value in (found | {"many": question.many}).items() if value}


def _same(question: Data) -> tuple[Any, ...]:
    return question.get("ask"), question.get("predict"), question.get("pod")
