"""Each day has a challenge that the engine has solved. The same seed draws the same one, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date, timedelta
from itertools import pairwise

import pytest

from scheduler_engine.lesson import daily as lesson_daily
from scheduler_engine.lesson import problems_of
from scheduler_engine.lesson.daily import MOST_DRAWS, PROBLEMS, daily, daily_text, name_of, seed_of
from scheduler_engine.lesson.loading import read_lesson
from tests.engine.histories import some

FIRST = date(2026, 1, 1)
DAYS = [FIRST + timedelta(days=number) for number in some(range(60), 32)]
WORDS = 90


@pytest.mark.parametrize("day", DAYS, ids=str)
def test_the_challenge_of_a_day_is_solved_by_the_engine(day: date) -> None:
    lesson = daily(seed_of(day))
    assert problems_of(lesson) == []
    assert lesson.par is not None
    task = lesson.parts[0].task
    assert task is not None
    assert len(task.hints) == 3
    assert len(task.wrong) >= 2
    assert len(lesson.parts[0].text.split()) <= WORDS


def test_days_differ() -> None:
    assert len({daily_text(seed_of(day)) for day in DAYS}) == len(DAYS)
    assert len({daily(seed_of(day)).title for day in DAYS}) > len(DAYS) / 2


def test_two_days_in_a_row_have_different_kinds() -> None:
    kinds = [PROBLEMS[seed_of(day) % len(PROBLEMS)] for day in DAYS]
    assert all(one is not other for one, other in pairwise(kinds))
    assert len({kind.__name__ for kind in kinds}) == len(PROBLEMS) == 8


def test_the_same_seed_draws_the_same_text_in_another_process() -> None:
    seeds = [seed_of(day) for day in DAYS[:8]]
    script = f"from scheduler_engine.lesson.daily import daily_text\nfor s in {seeds}: print(daily_text(s))"
    process = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert process == "".join(f"{daily_text(seed)}\n" for seed in seeds)


@pytest.mark.parametrize("seed", [0, -1, 10**12])
def test_any_number_is_a_seed(seed: int) -> None:
    assert problems_of(read_lesson(daily_text(seed), name_of(seed))) == []


def test_a_problem_that_never_holds_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[str] = []

    def refuse(lesson: object) -> list[str]:
        draws.append("refused")
        return ["it does not hold"]

    monkeypatch.setattr(lesson_daily, "problems_of", refuse)
    with pytest.raises(RuntimeError, match="it does not hold"):
        daily_text(4242)
    assert len(draws) == MOST_DRAWS
