"""A room as a file: what participants start with, the plan, and what happened, without names. It opens as a room."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from sandbox.changes.opening import read_lesson
from sandbox.storage.models import LONGEST_TITLE
from sandbox.web.errors import line_of
from sandbox.words.say import say
from sandbox.workshop import resuming, sources
from sandbox.workshop.lessons import MOST_BYTES, MOST_LESSONS, LessonFile
from sandbox.workshop.models import Workshop
from sandbox.workshop.plan import KINDS, QUESTION, ROW, kind_of, rows_of
from sandbox.workshop.questions import line
from sandbox.workshop.resuming import STATE, at_path, check_state, restore, sources_sent, unplanned, write_state
from sandbox.workshop.room import open_room
from scheduler_engine.api.parsing import Limits
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.scenario.format import API_VERSION
from scheduler_engine.scenario.yaml_file import at_lines, document_in
from scheduler_engine.shapes import Data, Fields, ListOf, Number, Shape, Text, invalid

KIND, NAME = "Workshop", "workshop.yaml"
LIMITS = Limits(size=1024 * 1024 + 2 * MOST_BYTES + 2 * resuming.MOST_BYTES, nodes=100_000)
MOST_PLANNED = 200
IS_LESSON = re.compile(r"""^kind: *["']?Lesson\b""", re.MULTILINE)
IS_ROOM = re.compile(r"""^kind: *["']?Workshop\b""", re.MULTILINE)

MORE_KEYS = {"ask": ("choices", "right", "many"), "predict": ("pod",)}
"""Kind of a row → keys that only such a row may have."""
INSTALLED: dict[str, Callable[[str], sources.Source]] = {"lesson": sources.lesson, "scenario": sources.scenario}
BEGIN_SOURCES: dict[str, Callable[[str], sources.Source]] = {
    **INSTALLED,
    "file": sources.file,
}
BEGIN: dict[str, Shape] = {**dict.fromkeys(BEGIN_SOURCES, Text()), "own": Number(whole=True, least=1)}
KEYS: dict[str, Shape] = {
    "apiVersion": Text(values=(API_VERSION,)),
    "kind": Text(values=(KIND,)),
    "title": Text(longest=LONGEST_TITLE),
    "begin": Fields(BEGIN, some=tuple(BEGIN), single=True),
    "lessons": ListOf(Text()),
    "plan": ListOf(Fields(ROW, some=tuple(KINDS))),
    "questions": ListOf(Fields(QUESTION, some=("ask", "predict"), single=True)),
    "state": Fields(STATE),
}
"""Key → shape, in the order of a written file. ``questions``: rows of the plan, in files of older versions.

``state``: what has happened; see resuming.py.
"""
ROOM = Fields(KEYS, ("kind",))


def is_room(text: str) -> bool:
    """Return True if the text of a file looks like a room."""
    return IS_ROOM.search(text) is not None


def is_lesson(text: str) -> bool:
    """Return True if the text of a file looks like a lesson."""
    return IS_LESSON.search(text) is not None


@dataclass(frozen=True, slots=True)
class RoomFile:
    """The content of a room's file. ``first`` is the own lesson to start with, by number; 0 for ``source``.

    ``state``: what has happened. ``sent``: the sources in it. ``trainers``: that of the trainer's own sandbox, None: as
    everybody begins.
    """

    title: str
    source: sources.Source
    plan: list[Data]
    lessons: list[LessonFile]
    first: int
    state: Data = field(default_factory=dict)
    sent: tuple[sources.Source, ...] = ()
    trainers: sources.Source | None = None


def open_file(text: str, title: str = "", anew: bool = False) -> tuple[Workshop, str]:
    """Open a room from the text of the file of a room, a lesson or a scenario. Return it with the trainer's token.

    ``title``: in place of the file's. ``anew``: begin its plan again, as if nothing had happened. Raise ``Rejected`` or
    ``OverQuota``.
    """
    if is_room(text):
        file = read(text, anew)
        opened = open_room(
            file.source,
            title or file.title,
            file.plan,
            file.lessons,
            file.first,
            file.trainers,
            lambda room, own: restore(room, own, file.state, file.sent) if file.state else None,
        )
        opened[0].refresh_from_db()
        return opened
    if is_lesson(text):
        return open_room(sources.BLANK, title, files=[LessonFile(text, read_lesson(text))], first=1)
    return open_room(sources.file(text), title)


def read(text: str, anew: bool = False) -> RoomFile:
    """Read a room's file. ``anew``: without what has happened; the questions in it become rows of the plan.

    Raise ``Rejected``, and what ``sources.file`` and ``read_lesson`` raise.
    """
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
    rows, state = _rows(data), data.get("state", {})
    if anew:
        rows += unplanned(state)
        if too_many := [*_too_many(rows, "state.questions")]:
            raise Rejected(at_lines(too_many, document.place, NAME))
        return RoomFile(data.get("title", ""), source, rows, lessons, first)
    try:
        sent, trainers = tuple(sources_sent(state, BEGIN_SOURCES)), None
        if "sandbox" in state:
            with at_path("state.sandbox"):
                trainers = sources.file(state["sandbox"])
    except Rejected as refusal:
        raise Rejected(at_lines(refusal.errors, document.place, NAME)) from refusal
    return RoomFile(data.get("title", ""), source, rows, lessons, first, state, sent, trainers)


def _rows(data: Data) -> list[Data]:
    return [*data.get("plan", []), *data.get("questions", [])]


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
    yield from _too_many(_rows(data), "plan" if "plan" in data else "questions")
    for key in ("plan", "questions"):
        yield from _check_rows(data.get(key, []), key, count)
    yield from check_state(data.get("state", {}), len(_rows(data)), count)


def _too_many(rows: Sequence[Data], path: str) -> Iterator[FieldError]:
    if len(rows) > MOST_PLANNED:
        yield FieldError(path, "FieldValueTooMany", say("room.too-many", count=len(rows), most=MOST_PLANNED))


def _check_rows(listed: Sequence[Data], key: str, lessons: int) -> Iterator[FieldError]:
    """Yield the errors of rows of a plan. ``lessons``: how many own lessons the file has."""
    for number, row in enumerate(listed):
        yield from _check_row(row, f"{key}[{number}]", lessons)


def _check_row(row: Data, path: str, lessons: int) -> Iterator[FieldError]:
    kind = kind_of(row)
    allowed = {"title", "minutes", kind, *MORE_KEYS.get(kind, ())}
    for other in (key for key in row if key not in allowed):
        yield FieldError(f"{path}.{other}", "FieldValueForbidden", say("room.not-together", key=kind))
    if kind == "own" and row["own"] > lessons:
        yield invalid(f"{path}.own", row["own"], say("room.begin-own", count=lessons))
    if kind in INSTALLED:
        try:
            INSTALLED[kind](row[kind])
        except Rejected as refusal:
            yield from (invalid(f"{path}.{kind}", row[kind], str(error)) for error in refusal.errors)
    for wrong in (right for right in row.get("right", ()) if right not in row.get("choices", ())):
        yield invalid(f"{path}.right", wrong, say("room.not-a-choice"))


def write(room: Workshop) -> str:
    """Return a room as the text of a file, without its participants. What has no room in it is listed at its top."""
    state, left_out = write_state(room)
    fields = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "title": room.title,
        "begin": _begin(room, sources.from_text(room.source)),
        "lessons": [lesson.text for lesson in room.lessons.order_by("number")],
        "plan": rows_of(room),
        "state": state,
    }
    present = {key: value for key, value in fields.items() if value}
    notes = "".join(f"# {say('room.left-out', title=line(title))}\n" for title in left_out)
    return notes + yaml.dump(present, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120)


class Dumper(yaml.SafeDumper):
    """Write a text of several lines as a block, as it is in its own file."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


Dumper.add_representer(str, Dumper.represent_text)


def _begin(room: Workshop, source: sources.Source) -> Data:
    """Return the ``begin`` of a file; empty for a source that a file cannot have."""
    if source["kind"] == "own":
        return {"own": room.lessons.get(pk=source["lesson"]).number}
    key = {"scenario": "slug", "lesson": "slug", "file": "text"}.get(source["kind"])
    return {source["kind"]: source[key]} if key else {}
