"""Questions that name the misconception behind their first tempting answer."""

from __future__ import annotations

from collections import Counter

import pytest

from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import load_lessons, read_lesson
from scheduler_engine.lesson.loading import misconceptions
from scheduler_engine.lesson.practice import LEVELS, Round, practice
from scheduler_engine.scenario import FOLDER

LESSON = """
kind: Lesson
title: "x"
parts:
- text: Which?
  predict: {{ask: "Which?", options: [{{text: a, holds: []}}, {{text: b, holds: []}}], {more}}}
  do: [{{settle: {{}}}}]
"""


@pytest.mark.parametrize(
    ("more", "path", "text"),
    [
        ("tempting: [b], reveals: no-such-belief", "reveals", "there is no misconception no-such-belief"),
        ("reveals: all-nodes-are-scored", "tempting", "reveals needs it"),
    ],
    ids=["one that is not installed", "one without a tempting answer"],
)
def test_a_wrong_name_is_reported_with_its_line(more: str, path: str, text: str) -> None:
    with pytest.raises(Rejected) as refused:
        read_lesson(LESSON.format(more=more))
    (error,) = refused.value.errors
    assert error.path.endswith(f"parts[0].predict.{path}")
    assert text in error.message
    assert error.line == 6


def test_lessons_reveal_installed_misconceptions_and_at_least_half_of_them() -> None:
    revealed = Counter(
        part.question.reveals
        for lesson in load_lessons(FOLDER.parent / "lessons")
        for part in lesson.parts
        if part.question and part.question.reveals
    )
    assert revealed.keys() <= misconceptions()
    assert len(revealed) * 2 >= len(misconceptions())


@pytest.mark.parametrize("level", LEVELS)
def test_practice_reveals_only_what_its_tempting_answer_shows(level: int) -> None:
    shown = {
        part.question.reveals
        for seed in range(3)
        for topic in ("queue", "preemption")
        for part in practice(Round(topic, level, seed)).parts
        if part.question
    }
    assert shown - {""} <= {"the-queue-is-first-in-first-out", "the-lowest-priority-is-the-victim"}
    assert "the-lowest-priority-is-the-victim" in shown
