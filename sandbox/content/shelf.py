"""The installed lessons, misconceptions and challenges, and uploaded lessons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import pairwise

from sandbox.runtime.local import local
from sandbox.words.say import say
from scheduler_engine.lesson import Lesson, Part, load_lessons, predictions, read_lesson
from scheduler_engine.lesson.daily import daily, daily_text, seed_of
from scheduler_engine.scenario import FOLDER
from scheduler_engine.scenario.yaml_file import FILE_LIMITS

SHELVES = ("lessons", "misconceptions", "challenges")
"""Folders in ``fixtures``, in the order of the course. A folder may be missing."""
DAILY = "daily"
"""The shelf of the challenge of the day, and its name in a request."""
PRACTICE = "practice"
"""The shelf of rounds of practice. Each is drawn when it is opened, by its name."""
OWN = "own"
"""The shelf of an uploaded lesson."""
MOST_NAMED = 80
"""Characters of the name of a part."""
UPLOADED_IN_CACHE = 16
"""Uploaded lessons in the cache."""
WAYS_BACK = {
    "lessons": ("course", "", "lesson.to-course"),
    "misconceptions": ("misconceptions", "", "lesson.to-misconceptions"),
    "challenges": ("challenges", "", "lesson.to-challenges"),
    DAILY: ("challenges", "", "lesson.to-challenges"),
    PRACTICE: ("practice", "", "lesson.to-practice"),
    OWN: ("course", "#own", "lesson.to-own"),
}
"""Shelf → its page: name of the URL, fragment of the URL, and key of the link's text."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A lesson and its shelf."""

    shelf: str
    lesson: Lesson
    text: str = ""
    """Text of the file, for a lesson that will not always be available."""


@cache
def lessons() -> dict[str, Placed]:
    """Return slug → installed lesson, in the order of the shelves. Raises ``ValueError`` if two have the same slug."""
    placed: dict[str, Placed] = {}
    for shelf in SHELVES:
        for lesson in load_lessons(FOLDER.parent / shelf):
            if lesson.slug in placed:
                first = placed[lesson.slug].shelf
                raise ValueError(f"two lessons have the slug {lesson.slug}: in {first} and in {shelf}")
            placed[lesson.slug] = Placed(shelf, lesson)
    return placed


def daily_challenge() -> Placed:
    """Return the challenge of the day (UTC), the same for everybody."""
    day = datetime.now(UTC).date()
    return Placed(DAILY, daily(seed_of(day)), daily_text(seed_of(day)))


def placed_lesson(name: str) -> Placed | None:
    """Return an installed lesson, or the challenge of the day for ``DAILY``. None if there is none."""
    return daily_challenge() if name == DAILY else lessons().get(name)


def shelf(name: str) -> list[Lesson]:
    """Return the lessons of one shelf, in the order of their files."""
    return [placed.lesson for placed in lessons().values() if placed.shelf == name]


@lru_cache(UPLOADED_IN_CACHE)
def _uploaded(text: str) -> Lesson:
    return read_lesson(text, "lesson.yaml", FILE_LIMITS, *local.readers)


def lesson_of(slug: str, text: str = "") -> Lesson | None:
    """Return the lesson of a study: the uploaded one in ``text``, else the installed one. None if there is none."""
    if text:
        return _uploaded(text)
    placed = lessons().get(slug)
    return placed.lesson if placed else None


def next_lesson(slug: str) -> Lesson | None:
    """Return the lesson that follows on the same shelf. Shelves are in an order in which nothing is missing."""
    placed = lessons().get(slug)
    row = [] if placed is None else shelf(placed.shelf)
    return next((after for before, after in pairwise(row) if before.slug == slug), None)


def part_name(part: Part) -> str:
    """Return what a part is about: its title, its task, its question, its button, or that it is a text to read."""
    asked = predictions.asked(part.question) if part.question else ""
    task = say("lesson.part-task") if part.task else ""
    name = part.title or task or asked or part.say or say("lesson.part-text")
    return name if len(name) <= MOST_NAMED else f"{name[: MOST_NAMED - 1].rstrip()}…"
