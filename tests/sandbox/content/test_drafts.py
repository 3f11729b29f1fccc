"""The lesson that shows every element of the format has no mistake, and misses none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from sandbox.content.drafts import ELEMENTS, WRITTEN, start_text
from sandbox.content.shelf import lessons
from scheduler_engine.lesson import load_lesson, problems_of, read_lesson
from scheduler_engine.lesson.figure_file import IN_LESSON
from scheduler_engine.lesson.format import ITEM, LOOK, OPTION, PART_KEYS, QUESTION, WRONG
from scheduler_engine.lesson.pointers import KINDS, pointers

FILE = WRITTEN[ELEMENTS]


def keys(value: Any) -> Iterator[str]:
    """Yield the path of each key without numbers: ``predict.tempting``."""
    if isinstance(value, list):
        for each in value:
            yield from keys(each)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from (f"{key}.{rest}" for rest in keys(inner))


def test_it_has_no_mistake() -> None:
    assert problems_of(load_lesson(FILE)) == []


def test_it_has_every_key_of_a_part_and_every_pointer() -> None:
    parts = yaml.safe_load(FILE.read_text(encoding="utf-8"))["parts"]
    present = set(keys(parts))
    questions = {key.removeprefix(f"{owner}.") for key in present for owner in ("predict", "question") if "." in key}
    shapes = {"look": LOOK, "check": ITEM, "wrong": WRONG, "figure": IN_LESSON}
    assert set(PART_KEYS) <= present
    assert set(QUESTION.fields) <= questions
    assert {f"options.{key}" for key in OPTION.fields} <= questions
    missing = {f"{key}.{name}" for key, shape in shapes.items() for name in shape.fields} - present
    assert missing == {
        "figure.configuration",
        "figure.title",
    }  # They are as in a scenario, and a part has its own title.
    named = {pointer.kind for part in parts for pointer in pointers(part["text"])}
    assert named == set(KINDS)


def test_each_start_has_a_text_and_a_stranger_none() -> None:
    for name in (*WRITTEN, *lessons()):
        assert read_lesson(start_text(name) or "").title
    assert [start_text(name) for name in ("../lessons", "no-such", "file")] == [None] * 3
