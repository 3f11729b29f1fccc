"""Lessons of the trainer's own: brought into a room, corrected, and sent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from sandbox.limits.quotas import OverQuota
from sandbox.worker.jobs.teaching import Learned
from sandbox.workshop.layers import tell_room
from sandbox.workshop.models import OwnLesson, Workshop
from scheduler_engine.errors import Rejected

MOST_LESSONS = 20
MOST_BYTES = 1_000_000
"""Of all lesson files of a room."""
FULL = "The limit is {lessons} own lessons and {bytes:,} bytes in one room. Replace one of them instead."


@dataclass(frozen=True, slots=True)
class Brought:
    """The text of a lesson file, and what it makes."""

    text: str
    learned: Learned


def bring(room: Workshop, brought: Brought, instead: str = "") -> OwnLesson:
    """Keep a lesson in the room; ``instead``: in the place of the one with this number. Raises ``Rejected``.

    Sandboxes that were made of that one keep it; whoever opens theirs from now on gets the new one.
    """
    with transaction.atomic():
        Workshop.objects.select_for_update().get(pk=room.pk)
        others = list(room.lessons.order_by("number"))
        kept = next((lesson for lesson in others if str(lesson.number) == instead), None)
        if instead and kept is None:
            raise Rejected("The lesson to replace is no longer in this room.")
        others = [lesson for lesson in others if lesson != kept]
        check_room([*(lesson.text for lesson in others), brought.text])
        number = (room.lessons.aggregate(last=Max("number"))["last"] or 0) + 1
        lesson = filled(kept or OwnLesson(workshop=room, number=number), brought, [other.title for other in others])
        lesson.save()
    tell_room(room.pk)
    return lesson


def check_room(texts: Sequence[str]) -> None:
    """Raises ``OverQuota`` when a room cannot have so many lessons, or so long ones."""
    if len(texts) > MOST_LESSONS or sum(len(text.encode()) for text in texts) > MOST_BYTES:
        raise OverQuota(FULL.format(lessons=MOST_LESSONS, bytes=MOST_BYTES))


def filled(lesson: OwnLesson, brought: Brought, titles: Sequence[str]) -> OwnLesson:
    """A lesson that is not saved yet, with a title that is none of ``titles``."""
    title, count = brought.learned.title, 1
    while title in titles:
        count += 1
        title = f"{brought.learned.title} ({count})"
    lesson.title, lesson.text = title, brought.text
    lesson.learned = json.dumps(asdict(brought.learned), separators=(",", ":"), ensure_ascii=False)
    return lesson


def learned(lesson: OwnLesson) -> Learned:
    found: dict[str, Any] = json.loads(lesson.learned)
    return Learned(**found)
