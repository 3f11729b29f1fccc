"""The three shelves of lessons that come with the installation, read once."""

from __future__ import annotations

from functools import cache

from scheduler_engine.lesson.loading import load_lessons
from scheduler_engine.lesson.model import Lesson
from scheduler_engine.scenario import FOLDER

SHELVES = ("lessons", "misconceptions", "challenges")
"""Folders beside that of the scenarios."""


@cache
def _read(name: str) -> tuple[Lesson, ...]:
    folder = FOLDER.parent / name
    return tuple(load_lessons(folder)) if folder.is_dir() else ()


def shelf(name: str) -> list[Lesson]:
    """One of ``SHELVES``, in the order of its file names; empty where the folder is missing. Raises Rejected when a
    file is no lesson, and ValueError for another name.
    """
    if name not in SHELVES:
        raise ValueError(f"there is no shelf {name}")
    return list(_read(name))


@cache
def _by_slug() -> dict[str, Lesson]:
    return {lesson.slug: lesson for name in SHELVES for lesson in _read(name)}


def lesson(slug: str) -> Lesson | None:
    """The lesson of this name on any shelf."""
    return _by_slug().get(slug)
