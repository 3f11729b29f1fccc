"""The installed figures: those of ``fixtures/figures``, and those in the texts of installed lessons."""

from __future__ import annotations

import re
from functools import cache

from sandbox.content.shelf import lessons
from scheduler_engine.lesson.figures import FOLDER, Choice, Figure, load_figures

CHOSEN = re.compile(r"(?:-\d+)+$")
"""The end of a name such as ``too-large-3-1``: a choice."""


@cache
def figures() -> dict[str, Figure]:
    """Return slug → figure. That of a lesson is named like the lesson, with the number of its part from 1."""
    in_lessons = (part.figure for placed in lessons().values() for part in placed.lesson.parts if part.figure)
    return {figure.slug: figure for figure in (*load_figures(FOLDER), *in_lessons)}


def chosen(name: str) -> tuple[Figure, Choice] | None:
    """Return the figure ``name`` as it begins, or with the choice at the end of the name. None if there is none."""
    known = figures()
    if name in known:
        return known[name], known[name].begins
    slug, choice = next(((slug, read_choice(known[slug], name[len(slug) :])) for slug in _owners(name)), ("", None))
    return None if choice is None else (known[slug], choice)


def _owners(name: str) -> list[str]:
    """Return the figures whose name is followed by numbers in ``name``: at most one has so many knobs."""
    return [
        slug
        for slug, figure in figures().items()
        if name.startswith(slug) and re.fullmatch(rf"(?:-\d+){{{len(figure.knobs)}}}", name[len(slug) :])
    ]


def read_choice(figure: Figure, text: str) -> Choice | None:
    """Return the choice of a text such as ``-3-1``, None if the figure has no such choice."""
    places = [int(place) for place in text.removeprefix("-").split("-") if place.isascii() and place.isdigit()]
    sizes = [len(knob.values) for knob in figure.knobs]
    right = len(places) == len(sizes) and all(place < size for place, size in zip(places, sizes, strict=True))
    return tuple(places) if right else None
