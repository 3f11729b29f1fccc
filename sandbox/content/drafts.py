"""The texts that somebody can start from when they write a lesson: a new one, all elements, a lesson of the course."""

from __future__ import annotations

from pathlib import Path

from sandbox.content.shelf import lessons
from scheduler_engine.lesson import TEMPLATE
from scheduler_engine.scenario import FOLDER

NEW = ""
ELEMENTS = "elements"
WRITTEN: dict[str, Path] = {NEW: TEMPLATE, ELEMENTS: FOLDER.parent / "writing" / "elements.yaml"}
"""Name of a start → its file."""


def start_text(name: str) -> str | None:
    """Return the text of a start: one of ``WRITTEN``, or the slug of an installed lesson. None if there is none."""
    path = WRITTEN.get(name)
    placed = lessons().get(name)
    if path is None and placed is not None and placed.lesson.scenario.origin is not None:
        path = FOLDER.parent / placed.shelf / placed.lesson.scenario.origin.name
    return path.read_text(encoding="utf-8") if path is not None else None
