"""How far the people of a room have come in lessons, in words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sandbox.library.shelf import lessons
from sandbox.storage.models import Sandbox, Study


@dataclass(frozen=True, slots=True)
class Far:
    """``share``: of the parts that were left behind, from 0 to 1; ``told``: in words."""

    told: str
    share: float


def far(sandboxes: Iterable[Sandbox]) -> dict[Any, Far]:
    """Id of a sandbox → how far its lesson is. One query; sandboxes without a lesson are left out."""
    ids = [sandbox.pk for sandbox in sandboxes]
    return {study.sandbox_id: _far(study) for study in Study.objects.filter(sandbox__in=ids)}


def _far(study: Study) -> Far:
    progress = json.loads(study.progress)
    outline = progress.get("outline") if study.text else _on_a_shelf(study.slug)
    if outline is None:
        return Far(f"part {study.part + 1}", 0)
    parts, tasks = outline
    done = progress.get("done", [])
    at = "finished" if study.part >= parts else f"part {study.part + 1} of {parts}"
    finished = sum(number in done for number in tasks)
    told = f"{at}, {finished} of {len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}" if tasks else at
    return Far(told, min(study.part, parts) / parts)


def _on_a_shelf(slug: str) -> tuple[int, list[int]] | None:
    """How many parts a lesson has, and which have a task."""
    placed = lessons().get(slug)
    if placed is None:
        return None
    parts = placed.lesson.parts
    return len(parts), [number for number, part in enumerate(parts) if part.task]
