"""The course as a path: chapters in the order of their lessons, and what each of them builds on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from scheduler_engine.lesson.model import Lesson


@dataclass(frozen=True, slots=True)
class Card:
    """A lesson with its number from 1. ``after``: the lessons that lead to it, as number and title."""

    lesson: Lesson
    number: int
    after: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """``after``: titles of the other chapters with lessons that lead to lessons of this one."""

    title: str
    cards: tuple[Card, ...]
    after: tuple[str, ...]


def chapters_of(lessons: Sequence[Lesson]) -> tuple[Chapter, ...]:
    """Return the path through lessons in their order. Neighbours with the same group form a chapter."""
    numbered = list(enumerate(lessons, 1))

    def leading_to(lesson: Lesson) -> list[tuple[int, Lesson]]:
        return [(number, before) for number, before in numbered if before.slug in lesson.after]

    def chapter(title: str, held: Sequence[tuple[int, Lesson]]) -> Chapter:
        cards = tuple(
            Card(lesson, number, tuple((earlier, before.title) for earlier, before in leading_to(lesson)))
            for number, lesson in held
        )
        groups = dict.fromkeys(before.group for _, lesson in held for _, before in leading_to(lesson))
        return Chapter(title, cards, tuple(group for group in groups if group != title))

    return tuple(chapter(title, [*held]) for title, held in groupby(numbered, lambda one: one[1].group))
