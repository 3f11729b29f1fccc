"""A challenge for each day, drawn from a seed and solved by the engine before anyone sees it."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from itertools import chain, zip_longest
from random import Random

from scheduler_engine.lesson import daily_pods, daily_room, daily_sets
from scheduler_engine.lesson.loading import read_lesson
from scheduler_engine.lesson.model import Lesson
from scheduler_engine.lesson.verifying import problems_of
from scheduler_engine.scenario.yaml_text import documents

KINDS = (daily_pods, daily_sets, daily_room)
PROBLEMS = tuple(filter(None, chain(*zip_longest(*(kind.PROBLEMS for kind in KINDS)))))
"""All problems, ordered so that two consecutive days have different kinds."""
MOST_DRAWS = 20


def seed_of(day: date) -> int:
    """Return the seed of that day's challenge."""
    return day.toordinal()


@lru_cache(maxsize=64)
def _drawn(seed: int) -> tuple[str, tuple[str, ...]]:
    """Return the text of the first draw without problems, and the problems of those before it."""
    refused: list[str] = []
    for number in range(MOST_DRAWS):
        # Random hashes a text seed itself, alike on every machine.
        draw = Random(f"{seed}/{number}")
        text = documents([PROBLEMS[seed % len(PROBLEMS)](draw)])
        problems = problems_of(read_lesson(text, name_of(seed)))
        if not problems:
            return text, tuple(refused)
        refused += problems
    raise RuntimeError(f"no valid draw for seed {seed}: {refused[-1]}")


def name_of(seed: int) -> str:
    """Return the file name of a seed's challenge."""
    return f"daily-{seed}.yaml"


def daily_text(seed: int) -> str:
    """Return the text of a challenge's file: the same seed always gives the same bytes.

    Raises RuntimeError when no draw is valid.
    """
    return _drawn(seed)[0]


def daily(seed: int) -> Lesson:
    """Return the challenge of ``daily_text``. Raises RuntimeError."""
    return read_lesson(daily_text(seed), name_of(seed))
