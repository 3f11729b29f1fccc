"""The formats of lessons and of figures as JSON Schemas, built like that of scenarios.

They omit what only playing a file can tell, and what stands at the marks of a figure.
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_engine.lesson.figure_file import FILE, FigureShape
from scheduler_engine.lesson.format import LESSON
from scheduler_engine.scenario.schema import schema, schema_of
from scheduler_engine.shapes import Data


def lesson_schema() -> Data:
    return schema_of(LESSON, "lesson", "Lesson of Scheduler Sandbox")


def figure_schema() -> Data:
    return schema_of(FigureShape(FILE), "figure", "Figure of Scheduler Sandbox")


SCHEMAS: dict[str, Callable[[], Data]] = {"scenario": schema, "lesson": lesson_schema, "figure": figure_schema}
"""Kind of a file in small letters → its schema as plain JSON."""
