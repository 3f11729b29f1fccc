"""Questions that name the misconception behind their first tempting answer."""

from __future__ import annotations

from functools import cache

import pytest

from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import Lesson, load_lessons, read_lesson
from scheduler_engine.lesson.loading import misconceptions
from scheduler_engine.lesson.practice import LEVELS, Round, practice
from scheduler_engine.scenario import FOLDER
from scheduler_engine.words import say

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


def revealed_by(lesson: Lesson) -> set[str]:
    return {part.question.reveals for part in lesson.parts if part.question} - {""}


@cache
def revealed_at(level: int) -> frozenset[str]:
    """Return what some rounds of practice reveal at a level."""
    topics = ("queue", "preemption")
    return frozenset().union(
        *(revealed_by(practice(Round(topic, level, seed))) for seed in range(3) for topic in topics)
    )


def test_a_lesson_or_a_round_of_practice_reveals_each_misconception() -> None:
    of_lessons = set[str]().union(*map(revealed_by, load_lessons(FOLDER.parent / "lessons")))
    assert of_lessons.union(*map(revealed_at, LEVELS)) == misconceptions()


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (1, {"the-queue-is-first-in-first-out", "the-lowest-priority-is-the-victim"}),
        (2, {"the-lowest-priority-is-the-victim"}),
        (3, {"the-lowest-priority-is-the-victim", "higher-priority-always-preempts"}),
    ],
)
def test_practice_reveals_only_what_its_tempting_answer_shows(level: int, shown: set[str]) -> None:
    assert revealed_at(level) == shown


def test_a_victim_of_a_pod_that_never_preempts_shows_another_misconception_than_a_wrong_victim() -> None:
    shown = {
        (say("practice.never-preempts") in part.text, part.question.reveals)
        for seed in range(6)
        for part in practice(Round("preemption", 3, seed)).parts
        if part.question and part.question.reveals
    }
    assert shown == {(True, "higher-priority-always-preempts"), (False, "the-lowest-priority-is-the-victim")}
