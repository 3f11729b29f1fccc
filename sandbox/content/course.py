"""The map of the course: a row of lessons for each chapter, and lines from each lesson to those that build on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from scheduler_engine.lesson.model import Lesson

CELL = 100
"""Width and height of a place on the map, in units of the drawing. The page stretches them."""
EDGE_X, EDGE_Y = 8, 14
"""Distance from the border of a place to its card."""


@dataclass(frozen=True, slots=True)
class Card:
    """A lesson at its place: ``row`` and ``column`` from 0. ``after``: titles of the lessons that lead to it."""

    lesson: Lesson
    number: int
    row: int
    column: int
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    title: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """The map as a page draws it. ``lines``: SVG paths in a drawing of ``width`` × ``height``."""

    chapters: tuple[Chapter, ...]
    columns: int
    width: int
    height: int
    lines: tuple[str, ...]


def draw_map(lessons: Sequence[Lesson]) -> Map:
    """Return the map of lessons in their order. Neighbours with the same group form a chapter."""
    titles = {lesson.slug: lesson.title for lesson in lessons}
    numbers = {lesson.slug: number for number, lesson in enumerate(lessons, 1)}

    def card(lesson: Lesson, row: int, column: int) -> Card:
        after = tuple(titles[before] for before in lesson.after if before in titles)
        return Card(lesson, numbers[lesson.slug], row, column, after)

    chapters = tuple(
        Chapter(title, tuple(card(lesson, row, column) for column, lesson in enumerate(group)))
        for row, (title, group) in enumerate(groupby(lessons, lambda lesson: lesson.group))
    )
    columns = max((len(chapter.cards) for chapter in chapters), default=1)
    return Map(chapters, columns, columns * CELL, len(chapters) * CELL, tuple(_lines(chapters)))


def _lines(chapters: Sequence[Chapter]) -> Iterator[str]:
    cards = {card.lesson.slug: card for chapter in chapters for card in chapter.cards}
    for card in cards.values():
        for before in card.lesson.after:
            if before in cards:
                yield _line(cards[before], card)


def _line(start: Card, end: Card) -> str:
    if start.row == end.row:
        x, y = (start.column + 1) * CELL - EDGE_X, start.row * CELL + CELL // 2
        if end.column == start.column + 1:
            return f"M{x} {y}H{end.column * CELL + EDGE_X}"
        low = (start.row + 1) * CELL - EDGE_Y
        first, last = _middle(start), _middle(end)
        return f"M{first} {low}Q{(first + last) // 2} {low + 2 * EDGE_Y} {last} {low}"
    first, last = _middle(start), _middle(end)
    top, bottom = (start.row + 1) * CELL - EDGE_Y, end.row * CELL + EDGE_Y
    return f"M{first} {top}C{first} {top + CELL // 4} {last} {bottom - CELL // 4} {last} {bottom}"


def _middle(card: Card) -> int:
    return card.column * CELL + CELL // 2
