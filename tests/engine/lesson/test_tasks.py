"""The open conditions of a task, row by row, as a learner reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_engine.lesson import load_lesson
from scheduler_engine.lesson.tasks import checked
from scheduler_engine.scenario import play
from scheduler_engine.scenario.attempts import RunView
from tests.engine.lesson.test_lessons import FILES

NOT_YET = "This has not happened yet."

OPEN_ROWS = {
    "stepping-and-looking-back": "It did so at its first attempt, in this run.",
    "pod-affinity": "api-1 and api-2 are on different nodes.",
    "the-fewest-nodes": "They are on two nodes.",
}
"""Lesson → a row about pods that are waiting or missing when its task begins."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_row_is_open_until_it_holds_and_says_so_without_the_trace(path: Path) -> None:
    lesson = load_lesson(path)
    simulation = lesson.scenario.open()
    for part in lesson.parts:
        if part.task is not None:
            rows = checked(RunView(simulation), part.task)
            for row in rows:
                assert bool(row.shown) == bool(row.wrong)
                assert not any("'" in text or ("happened" in text and text != NOT_YET) for text in row.shown), row
            open_row = OPEN_ROWS.get(lesson.slug)
            assert open_row is None or [bool(row.wrong) for row in rows if row.item.say == open_row] == [True]
        play(simulation, part.way)


def test_the_author_of_a_lesson_reads_what_is_missing_in_the_trace() -> None:
    lesson = next(lesson for lesson in map(load_lesson, FILES) if lesson.slug == "a-drain-that-never-ends")
    task = lesson.parts[0].task
    assert task is not None
    rows = checked(RunView(lesson.scenario.open()), task)
    assert [(row.wrong, row.shown) for row in rows if NOT_YET in row.shown] == [
        (("'answered 200' has not happened after 'answered 429'",), (NOT_YET,))
    ]


def test_a_learner_reads_which_happening_of_an_order_is_missing() -> None:
    lesson = next(lesson for lesson in map(load_lesson, FILES) if lesson.slug == "three-queues")
    simulation = lesson.scenario.open()
    shown = []
    for part in lesson.parts:
        if part.task is None:
            play(simulation, part.way)
            continue
        shown.append(checked(RunView(simulation), part.task)[0].shown)
        late, *others = part.way
        play(simulation, [late])
        shown.append(checked(RunView(simulation), part.task)[0].shown)
        play(simulation, others)
        assert checked(RunView(simulation), part.task)[0].shown == ()
        break
    assert shown == [
        ("Yes: web-2 was added. Not since then: late-1 was added.",),
        ("Yes: late-1 was added. Not since then: late-1 was popped.",),
    ]
