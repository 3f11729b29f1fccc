"""Sources of the sandboxes of a room, saved as JSON text: ``{"kind", "title"}`` and the fields of the kind.

| kind | also |
|---|---|
| ``blank`` | |
| ``scenario`` | ``slug`` |
| ``lesson`` | ``slug`` |
| ``file`` | ``text``, of a scenario file |
| ``own`` | ``lesson``, the id of one of the trainer's own lessons |
| ``copy`` | ``sandbox``, the id of one that is in the state to start from |
| ``gone`` | ; it was sent, but the room's file does not have it |
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from sandbox.changes import copies, store
from sandbox.changes.opening import open_scenario, open_uploaded, read_uploaded
from sandbox.changes.study import open_learned, open_lesson
from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import lessons
from sandbox.storage.models import Sandbox
from sandbox.words.say import say
from sandbox.workshop.lessons import load
from sandbox.workshop.models import OwnLesson, Workshop
from scheduler_engine.errors import Rejected

Source = dict[str, Any]
T = TypeVar("T")

BLANK: Source = {"kind": "blank", "title": say("titles.empty")}


def _existing(thing: T | None, refusal: str) -> T:
    if thing is None:
        raise Rejected(refusal)
    return thing


def scenario(slug: str) -> Source:
    """Return the source of an installed scenario. Raise ``Rejected`` for an unknown one."""
    installed = _existing(scenarios().get(slug), say("errors.no-scenario"))
    return {"kind": "scenario", "title": installed.title, "slug": slug}


def lesson(slug: str) -> Source:
    """Return the source of an installed lesson. Raise ``Rejected`` for an unknown one."""
    placed = _existing(lessons().get(slug), say("lesson.no-such"))
    return {"kind": "lesson", "title": placed.lesson.title, "slug": slug}


def named(scenario_name: str, lesson_name: str) -> Source:
    """Return the source of an installed scenario or lesson, an empty sandbox if neither is named.

    Raise ``Rejected`` for an unknown one.
    """
    if lesson_name:
        return lesson(lesson_name)
    return scenario(scenario_name) if scenario_name else BLANK


def file(text: str) -> Source:
    """Return the source of the text of a scenario file. Raise what ``read_uploaded`` raises."""
    return {"kind": "file", "title": read_uploaded(text).title, "text": text}


def own(room: Workshop, number: str) -> Source:
    """Return the source of a lesson of the room by number, given as text. Raise ``Rejected`` for an unknown one."""
    chosen = next((lesson for lesson in room.lessons.all() if str(lesson.number) == number), None)
    return of_lesson(_existing(chosen, say("lesson.no-such")))


def of_lesson(lesson: OwnLesson) -> Source:
    """Return the source of one of the trainer's own lessons."""
    return {"kind": "own", "title": lesson.title, "lesson": str(lesson.pk)}


def copy_of(sandbox: Sandbox) -> Source:
    """Return a source that copies a sandbox. Nobody may change that sandbox afterwards."""
    return {"kind": "copy", "title": sandbox.title, "sandbox": str(sandbox.pk)}


def to_text(source: Source) -> str:
    """Return a source as JSON text."""
    return json.dumps(source, separators=(",", ":"), ensure_ascii=False)


def from_text(text: str) -> Source:
    """Return the source in a JSON text."""
    return json.loads(text)


def create(source: Source, token: str) -> Sandbox:
    """Create a sandbox of a source, with ``token`` as its edit token.

    Raise ``Rejected`` if the source no longer exists, and what ``store.create`` and ``copies.fork`` raise.
    """
    return CREATORS[source["kind"]](source, token)


def _scenario(source: Source, token: str) -> Sandbox:
    return open_scenario(_still_there(source, scenarios().get(source["slug"])), token)[0]


def _lesson(source: Source, token: str) -> Sandbox:
    return open_lesson(_still_there(source, lessons().get(source["slug"])), token)[0]


def _own(source: Source, token: str) -> Sandbox:
    lesson = OwnLesson.objects.filter(pk=source["lesson"]).first()
    return create_of_lesson(_still_there(source, lesson), token)


def create_of_lesson(lesson: OwnLesson, token: str) -> Sandbox:
    """Create a sandbox of one of the trainer's own lessons, whether it is saved or not."""
    return open_learned(load(lesson), text=lesson.text, token=token)[0]


def _copy(source: Source, token: str) -> Sandbox:
    original = _still_there(source, Sandbox.objects.filter(pk=source["sandbox"]).first())
    return Sandbox.objects.get(pk=copies.fork(original, None, token)[0])


def _still_there(source: Source, origin: T | None) -> T:
    return _existing(origin, say("room.no-source", title=source["title"]))


CREATORS: dict[str, Callable[[Source, str], Sandbox]] = {
    "blank": lambda source, token: store.create(source["title"], token=token)[0],
    "scenario": _scenario,
    "lesson": _lesson,
    "own": _own,
    "file": lambda source, token: open_uploaded(read_uploaded(source["text"]), token)[0],
    "copy": _copy,
}
