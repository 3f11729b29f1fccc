"""The installed figures: those of ``fixtures/figures``, and those in the texts of installed lessons."""

from __future__ import annotations

from functools import cache

from sandbox.content.shelf import lessons
from scheduler_engine.lesson.figure_file import FOLDER, load_figures
from scheduler_engine.lesson.figures import Choice, Figure


@cache
def figures() -> dict[str, Figure]:
    """Return slug → figure. That of a lesson is named like the lesson, with the number of its part from 1."""
    in_lessons = (part.figure for placed in lessons().values() for part in placed.lesson.parts if part.figure)
    return {figure.slug: figure for figure in (*load_figures(FOLDER), *in_lessons)}


def chosen(name: str) -> tuple[Figure, Choice] | None:
    """Return the figure ``name`` as it begins, or with the choice at the end of the name. None if there is none."""
    for slug, figure in figures().items():
        if name == slug:
            return figure, figure.begins
        choice = read_choice(figure, name.removeprefix(slug)) if name.startswith(slug) else None
        if choice is not None:
            return figure, choice
    return None


def read_choice(figure: Figure, text: str) -> Choice | None:
    """Return the choice of a text such as ``-3-1``, None if the figure has none that is written like this."""
    return next((choice for choice in figure.choices() if "".join(f"-{place}" for place in choice) == text), None)
