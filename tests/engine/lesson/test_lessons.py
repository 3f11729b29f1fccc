"""Every lesson, misconception and challenge of the site plays as written, in every way it describes."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from scheduler_engine.lesson import load_lesson, problems_of
from scheduler_engine.scenario import FOLDER

SHELVES = ("lessons", "misconceptions", "challenges")
FILES = [path for shelf in SHELVES for path in sorted((FOLDER.parent / shelf).glob("*.yaml"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_it_plays_as_written(path: Path) -> None:
    assert problems_of(load_lesson(path)) == []


def test_each_slug_is_unique() -> None:
    slugs = [load_lesson(path).slug for path in FILES]
    assert sorted(set(slugs)) == sorted(slugs)


def test_the_prerequisites_of_a_lesson_exist() -> None:
    lessons = [load_lesson(path) for path in FILES]
    known = {lesson.slug for lesson in lessons}
    assert {before for lesson in lessons for before in lesson.after} <= known


def test_each_chapter_of_the_course_is_one_run_of_lessons() -> None:
    groups = [load_lesson(path).group for path in FILES if path.parent.name == "lessons"]
    chapters = [group for group, _ in groupby(groups)]
    assert chapters == list(dict.fromkeys(chapters))
