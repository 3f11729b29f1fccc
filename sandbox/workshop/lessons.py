"""The trainer's own lessons: upload one to a room, replace it, load it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from sandbox.limits.quotas import OverQuota
from sandbox.words.say import say
from sandbox.worker.jobs.teaching import Learned
from sandbox.workshop.layers import notify_room
from sandbox.workshop.models import OwnLesson, Workshop
from scheduler_engine.errors import Rejected

MOST_LESSONS = 20
MOST_BYTES = 1_000_000
"""The limit for all lesson files of a room together."""


@dataclass(frozen=True, slots=True)
class LessonFile:
    """The text of a lesson file, and the lesson in it."""

    text: str
    learned: Learned


def save_lesson(room: Workshop, file: LessonFile, replaced: str = "") -> OwnLesson:
    """Save a lesson in the room. ``replaced``: the number of the lesson that it replaces, "" for none.

    Existing sandboxes keep the replaced lesson. Sandboxes created from now on get the new one. Raise ``Rejected`` if
    the lesson to replace is gone, ``OverQuota`` if the room is full.
    """
    with transaction.atomic():
        Workshop.objects.select_for_update().get(pk=room.pk)
        others = list(room.lessons.order_by("number"))
        existing = next((lesson for lesson in others if str(lesson.number) == replaced), None)
        if replaced and existing is None:
            raise Rejected(say("room.no-lesson"))
        others = [lesson for lesson in others if lesson != existing]
        check_limits([*(lesson.text for lesson in others), file.text])
        number = (room.lessons.aggregate(last=Max("number"))["last"] or 0) + 1
        lesson = existing or OwnLesson(workshop=room, number=number)
        fill(lesson, file, [other.title for other in others])
        lesson.save()
    notify_room(room.pk)
    return lesson


def check_limits(texts: Sequence[str]) -> None:
    """Raise ``OverQuota`` if these are too many lessons for one room, or too long ones."""
    if len(texts) > MOST_LESSONS or sum(len(text.encode()) for text in texts) > MOST_BYTES:
        raise OverQuota(say("room.lessons-full", lessons=MOST_LESSONS, bytes=MOST_BYTES))


def fill(lesson: OwnLesson, file: LessonFile, titles: Sequence[str]) -> None:
    """Set the fields of a lesson, without saving it. Its title gets a number if it is one of ``titles``."""
    title, count = file.learned.title, 1
    while title in titles:
        count += 1
        title = f"{file.learned.title} ({count})"
    lesson.title, lesson.text = title, file.text
    lesson.learned = json.dumps(asdict(file.learned), separators=(",", ":"), ensure_ascii=False)


def load(lesson: OwnLesson) -> Learned:
    """Return the saved lesson as the engine reads it."""
    fields: dict[str, Any] = json.loads(lesson.learned)
    return Learned(**fields)
