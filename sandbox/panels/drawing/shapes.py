"""Small pictures as data, which ``templates/fragments/shapes.html`` draws as SVG. Lengths are texts as in SVG."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

STRIP = 200
"""Most marks in a strip; with more nodes several share one."""
FULL = 84.0
"""Place of a bar's limit mark in percent of its width; the rest shows the excess."""


class Rect(NamedTuple):
    """``fill``: the id of a pattern over the colour of ``classes``. ``title``: the text under the pointer."""

    classes: str
    x: str
    width: str
    y: str
    height: str
    fill: str = ""
    title: str = ""


class Text(NamedTuple):
    """A text. ``more`` is drawn quieter than ``text``."""

    classes: str
    x: str
    y: str
    text: str
    more: str = ""
    anchor: str = ""
    dx: str = ""
    title: str = ""


Shapes = tuple[Rect | Text, ...]


class Drawing(NamedTuple):
    """A picture. ``classes`` determine its kind, and so its size."""

    classes: str
    shapes: Shapes


def percent(number: float) -> str:
    return f"{number:.2f}%"


def rect(classes: str, x: float, width: float, y: float, height: float, fill: str = "") -> Rect:
    """Return a rectangle: ``x`` and ``width`` in percent, ``y`` and ``height`` in pixels."""
    return Rect(classes, percent(x), percent(max(width, 0)), str(y), str(height), fill)


def tick(classes: str, x: float, width: float, y: float, height: float) -> Rect:
    """Return a mark at ``x`` percent whose width is in pixels, so that it never changes."""
    return Rect(classes, percent(x), str(width), str(y), str(height))


def limit(y: int, height: int) -> Rect:
    return Rect("limr", f"{FULL:.0f}%", "1.5", str(y), str(height))


@lru_cache(20_000)
def bar(parts: tuple[tuple[int, int, str], ...], request: int, total: int, height: int = 6) -> Drawing:
    """Draw one resource of one node.

    ``parts`` are (app, amount, state) in order; ``request`` is that of the pod in question, 0 = none. Up to ``total``
    it is amber, the excess is hatched.
    """
    scale = FULL / total if total > 0 else 0.0
    shapes = [rect("cap", 0, FULL, 0.5, height + 1)]
    x = 0.0
    for app, number, state in parts:
        width = min(number * scale, 100 - x)
        shapes.append(rect(f"seg app-{app}" if app else "seg seg-plain", x + 0.3, width - 0.6, 1, height))
        if state in ("nominated", "terminating"):
            fill = "p-hatch" if state == "nominated" else "p-stripe"
            shapes.append(rect("", x + 0.3, width - 0.6, 1, height, fill))
        x += width
    if request > 0:
        shapes.extend(_asked(x, request * scale if scale else 100 - x, height))
    return Drawing("bar-svg", (*shapes, limit(-1, height + 4)))


def _asked(x: float, width: float, height: int) -> list[Rect]:
    end = min(x + width, 100.0)
    over_from = max(x, FULL)
    shapes = []
    if end > FULL:
        shapes.append(rect("over", over_from, end - over_from, 0.5, height + 1))
    if x < FULL:
        shapes.append(rect("need", x, min(end, FULL) - x, 0.5, height + 1))
    return shapes


def strip(places: list[int], total: int, classes: str) -> Drawing:
    """Draw marks in a band: the places of these nodes in visiting order (1…total)."""
    if total > STRIP:
        places, total = sorted({1 + (place - 1) * STRIP // total for place in places}), STRIP
    step = 100 / total if total else 100
    width = max(step * 0.8, 0.5)
    ground = Rect("bg", "0", "100%", "0", "14")
    return Drawing("strip", (ground, *(rect(classes, (place - 1) * step, width, 1, 12) for place in places)))
