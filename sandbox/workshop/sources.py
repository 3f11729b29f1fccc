"""What a sandbox of a room is made from, kept as JSON text: ``{"kind", "title"}`` and what its kind needs.

| kind | also |
|---|---|
| ``blank`` | |
| ``scenario`` | ``slug`` |
| ``lesson`` | ``slug`` |
| ``file`` | ``text``, of a scenario file |
| ``own`` | ``lesson``, the id of one that is kept in the room |
| ``copy`` | ``sandbox``, the id of one that stands where it is to begin |
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sandbox.changes import store
from sandbox.changes.opening import open_scenario, open_uploaded, read_uploaded
from sandbox.changes.study import open_learned, open_lesson
from sandbox.library.scenarios import scenarios
from sandbox.library.shelf import lessons
from sandbox.storage.models import Sandbox
from sandbox.words.say import say
from sandbox.workshop.lessons import learned
from sandbox.workshop.models import OwnLesson, Workshop
from scheduler_engine.errors import Rejected

Source = dict[str, Any]

BLANK: Source = {"kind": "blank", "title": "Empty sandbox"}
GONE = "The source of this sandbox no longer exists: {title}."


def scenario(slug: str) -> Source:
    """Raises ``Rejected`` for an unknown one."""
    found = scenarios().get(slug)
    if found is None:
        raise Rejected("There is no such scenario.")
    return {"kind": "scenario", "title": found.title, "slug": slug}


def lesson(slug: str) -> Source:
    """Raises ``Rejected`` for an unknown one."""
    found = lessons().get(slug)
    if found is None:
        raise Rejected(say("lesson.no-such"))
    return {"kind": "lesson", "title": found.lesson.title, "slug": slug}


def file(text: str) -> Source:
    """Of the text of a scenario file. Raises as ``read_uploaded``."""
    return {"kind": "file", "title": read_uploaded(text).title, "text": text}


def own(room: Workshop, number: str) -> Source:
    """Of a lesson of the room, by its number as text. Raises ``Rejected`` for an unknown one."""
    found = next((lesson for lesson in room.lessons.all() if str(lesson.number) == number), None)
    if found is None:
        raise Rejected(say("lesson.no-such"))
    return of_lesson(found)


def of_lesson(lesson: OwnLesson) -> Source:
    return {"kind": "own", "title": lesson.title, "lesson": str(lesson.pk)}


def copy_of(sandbox: Sandbox) -> Source:
    """Of a sandbox that nobody changes."""
    return {"kind": "copy", "title": sandbox.title, "sandbox": str(sandbox.pk)}


def written(source: Source) -> str:
    return json.dumps(source, separators=(",", ":"), ensure_ascii=False)


def read(text: str) -> Source:
    found: Source = json.loads(text)
    return found


def made(source: Source, token: str) -> Sandbox:
    """A new sandbox of a source, with ``token`` as its edit token. Raises as ``store.create`` and ``store.fork``."""
    return MAKERS[source["kind"]](source, token)


def _blank(source: Source, token: str) -> Sandbox:
    return store.create(source["title"], token=token)[0]


def _scenario(source: Source, token: str) -> Sandbox:
    found = scenarios().get(source["slug"])
    if found is None:
        raise Rejected(GONE.format(title=source["title"]))
    return open_scenario(found, token)[0]


def _lesson(source: Source, token: str) -> Sandbox:
    found = lessons().get(source["slug"])
    if found is None:
        raise Rejected(GONE.format(title=source["title"]))
    return open_lesson(found, token)[0]


def _own(source: Source, token: str) -> Sandbox:
    found = OwnLesson.objects.filter(pk=source["lesson"]).first()
    if found is None:
        raise Rejected(GONE.format(title=source["title"]))
    return made_of(found, token)


def made_of(lesson: OwnLesson, token: str) -> Sandbox:
    """A new sandbox of a lesson of the room, whether that is saved or not."""
    return open_learned(learned(lesson), text=lesson.text, token=token)[0]


def _file(source: Source, token: str) -> Sandbox:
    return open_uploaded(read_uploaded(source["text"]), token)[0]


def _copy(source: Source, token: str) -> Sandbox:
    original = Sandbox.objects.filter(pk=source["sandbox"]).first()
    if original is None:
        raise Rejected(GONE.format(title=source["title"]))
    return Sandbox.objects.get(pk=store.fork(original, None, token)[0])


MAKERS: dict[str, Callable[[Source, str], Sandbox]] = {
    "blank": _blank,
    "scenario": _scenario,
    "lesson": _lesson,
    "own": _own,
    "file": _file,
    "copy": _copy,
}
