"""The challenge of the day."""

from __future__ import annotations

from datetime import date

from sandbox.lessons.shelf import shelf
from scheduler_engine.lesson.model import Lesson


def today(day: date) -> Lesson | None:
    """Those of the shelf in turn, another one each day; None where there are none."""
    found = shelf("challenges")
    return found[day.toordinal() % len(found)] if found else None
