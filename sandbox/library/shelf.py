"""The lessons, misconceptions and challenges of this installation, and the lessons that people brought."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache

from scheduler_engine.lesson import Lesson, load_lessons, read_lesson
from scheduler_engine.lesson.daily import daily, daily_text, seed_of
from scheduler_engine.scenario import FOLDER
from scheduler_engine.scenario.yaml_file import FILE_LIMITS

SHELVES = ("lessons", "misconceptions", "challenges")
"""Folders in ``fixtures``, in the order of the course; one may be missing."""
DAILY = "daily"
"""The shelf of the challenge of the day, and by which name it is asked for."""
OWN = "own"
"""The shelf of a lesson that somebody brought."""
AT_HAND = 16
"""Lessons that people brought, of which the last ones are kept read."""
WAYS_BACK = {
    "lessons": ("course", "", "lesson.to-course"),
    "misconceptions": ("misconceptions", "", "lesson.to-misconceptions"),
    "challenges": ("challenges", "", "lesson.to-challenges"),
    DAILY: ("challenges", "", "lesson.to-challenges"),
    OWN: ("course", "#own", "lesson.to-own"),
}
"""Shelf → the page that it stands on: its name among the addresses, the place on it, and the words of the link."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A lesson, and the shelf on which it stands."""

    shelf: str
    lesson: Lesson
    text: str = ""
    """Of the file, for one that will not be there for ever."""


@cache
def lessons() -> dict[str, Placed]:
    """Slug → lesson, in the order of the shelves. Raises ``ValueError`` when two have the same slug."""
    found: dict[str, Placed] = {}
    for shelf in SHELVES:
        for lesson in load_lessons(FOLDER.parent / shelf):
            if lesson.slug in found:
                raise ValueError(f"two lessons are called {lesson.slug}: in {found[lesson.slug].shelf} and in {shelf}")
            found[lesson.slug] = Placed(shelf, lesson)
    return found


def todays() -> Placed:
    """The challenge of the day, which is the same for everybody, wherever they are."""
    day = datetime.now(UTC).date()
    return Placed(DAILY, daily(seed_of(day)), daily_text(seed_of(day)))


def shelf(name: str) -> list[Lesson]:
    """Those of one shelf, in the order of their files."""
    return [placed.lesson for placed in lessons().values() if placed.shelf == name]


@lru_cache(AT_HAND)
def _brought(text: str) -> Lesson:
    return read_lesson(text, "lesson.yaml", FILE_LIMITS)


def lesson_of(slug: str, text: str = "") -> Lesson | None:
    """Of a study: the one that somebody brought, else that of the installation; None where there is none."""
    if text:
        return _brought(text)
    placed = lessons().get(slug)
    return placed.lesson if placed else None


def where_next(slug: str) -> list[Lesson]:
    """Lessons that name this one in ``after``, else the next one of its shelf."""
    placed = lessons().get(slug)
    if placed is None:
        return []
    found = [other.lesson for other in lessons().values() if slug in other.lesson.after]
    if found:
        return found
    row = [other.lesson for other in lessons().values() if other.shelf == placed.shelf]
    place = row.index(placed.lesson) + 1
    return row[place : place + 1]
