"""How far the participants of a room are in their lessons."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sandbox.content.shelf import lessons
from sandbox.storage.models import Sandbox, Study
from sandbox.words.say import say


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress in a lesson. ``text`` is for people; ``share`` is the share of finished parts, from 0 to 1."""

    text: str
    share: float


def progress_of(sandboxes: Iterable[Sandbox]) -> dict[Any, Progress]:
    """Return a mapping from the id of each sandbox with a lesson to the progress in it, from one query."""
    ids = [sandbox.pk for sandbox in sandboxes]
    return {study.sandbox_id: _progress(study) for study in Study.objects.filter(sandbox__in=ids)}


def _progress(study: Study) -> Progress:
    saved = json.loads(study.progress)
    outline = outline_of(study, saved)
    if outline is None:
        return Progress(say("room.part", part=study.part + 1), 0)
    parts, tasks = outline
    done = saved.get("done", [])
    text = say("room.finished") if study.part >= parts else say("room.part-of", part=study.part + 1, parts=parts)
    if tasks:
        finished = sum(number in done for number in tasks)
        text = say("room.tasks", progress=text, done=finished, count=len(tasks))
    return Progress(text, min(study.part, parts) / parts)


def outline_of(study: Study, saved: dict[str, Any]) -> tuple[int, list[int]] | None:
    """Return how many parts the lesson of a study has and which have a task; None for an unknown lesson.

    ``saved``: the stored progress.
    """
    if study.text:
        outline: tuple[int, list[int]] | None = saved.get("outline")
        return outline
    placed = lessons().get(study.slug)
    if placed is None:
        return None
    parts = placed.lesson.parts
    return len(parts), [number for number, part in enumerate(parts) if part.task]
