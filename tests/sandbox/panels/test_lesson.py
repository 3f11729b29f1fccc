"""The panel of the lesson: what it asks of its world, and when."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import PANELS
from sandbox.panels.model.world import World
from sandbox.panels.view import View


class CountingTeacher:
    """A teacher that counts calls."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def part(self) -> dict[str, Any] | None:
        self.asked.append("part")
        return {"title": "t"}

    def prediction(self) -> dict[str, Any] | None:
        self.asked.append("prediction")
        return {"question": None}


def test_without_a_lesson_nothing_is_shown() -> None:
    panel = PANELS["lesson"].stats(World(), View(predict="on"))
    assert panel == {"lesson": None, "prediction": None, "past": False}


@pytest.mark.parametrize(("predict", "asked"), [("", ["part"]), ("on", ["part", "prediction"])])
def test_predictions_are_looked_for_while_they_are_switched_on(predict: str, asked: list[str]) -> None:
    world, teacher = World(), CountingTeacher()
    world.lesson = teacher
    PANELS["lesson"].stats(world, View(predict=predict))
    assert teacher.asked == asked


def test_in_the_past_nothing_is_predicted() -> None:
    world, teacher = World(), CountingTeacher()
    world.lesson, world.present = teacher, World()
    assert PANELS["lesson"].stats(world, View(predict="on"))["prediction"] is None
    assert teacher.asked == ["part"]
