"""Small pictures as data: what ``templates/fragments/shapes.html`` draws as SVG. Lengths are as SVG writes them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

STRIP = 200
"""Most marks in a strip; with more nodes several share one."""

FULL = 84.0
"""Where a bar's limit mark stands, in percent of its width; the rest shows what is too much."""


class Rect(NamedTuple):
    """``fill``: the id of a pattern over the colour of ``classes``. ``title``: what it says when pointed at."""

    classes: str
    x: str
    width: str
    y: str
    height: str
    fill: str = ""
    title: str = ""


class Text(NamedTuple):
    """``more`` is quieter than ``text``."""

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
    """``classes`` say what kind of picture it is, and so how large."""

    classes: str
    shapes: Shapes


def percent(number: float) -> str:
    return f"{number:.2f}%"


def rect(classes: str, x: float, width: float, y: float, height: float, fill: str = "") -> Rect:
    """``x`` and ``width`` in percent, ``y`` and ``height`` in pixels."""
    return Rect(classes, percent(x), percent(max(width, 0)), str(y), str(height), fill)


def tick(classes: str, x: float, width: float, y: float, height: float) -> Rect:
    """A mark at ``x`` percent that keeps its width, in pixels."""
    return Rect(classes, percent(x), str(width), str(y), str(height))


def limit(y: int, height: int) -> Rect:
    return Rect("limr", f"{FULL:.0f}%", "1.5", str(y), str(height))


@lru_cache(20_000)
def bar(parts: tuple[tuple[int, int, str], ...], asked: int, total: int, height: int = 6) -> Drawing:
    """One resource of one node.

    ``parts`` are (app, amount, state) in order; ``asked`` is what the pod in question asks for, 0 = nothing. Up to
    ``total`` it is amber, what goes beyond is hatched.
    """
    scale = FULL / total if total > 0 else 0.0
    drawn = [rect("cap", 0, FULL, 0.5, height + 1)]
    x = 0.0
    for app, number, state in parts:
        width = min(number * scale, 100 - x)
        drawn.append(rect(f"seg app-{app}" if app else "seg seg-plain", x + 0.3, width - 0.6, 1, height))
        if state in ("nominated", "terminating"):
            fill = "p-hatch" if state == "nominated" else "p-stripe"
            drawn.append(rect("", x + 0.3, width - 0.6, 1, height, fill))
        x += width
    if asked > 0:
        drawn.extend(_asked(x, asked * scale if scale else 100 - x, height))
    return Drawing("bar-svg", (*drawn, limit(-1, height + 4)))


def _asked(x: float, width: float, height: int) -> list[Rect]:
    end = min(x + width, 100.0)
    over_from = max(x, FULL)
    drawn = []
    if end > FULL:
        drawn.append(rect("over", over_from, end - over_from, 0.5, height + 1))
    if x < FULL:
        drawn.append(rect("need", x, min(end, FULL) - x, 0.5, height + 1))
    return drawn


def strip(places: list[int], total: int, classes: str) -> Drawing:
    """Marks in a band: where in the visiting order (1…total) these nodes stand."""
    if total > STRIP:
        places, total = sorted({1 + (place - 1) * STRIP // total for place in places}), STRIP
    step = 100 / total if total else 100
    width = max(step * 0.8, 0.5)
    ground = Rect("bg", "0", "100%", "0", "14")
    return Drawing("strip", (ground, *(rect(classes, (place - 1) * step, width, 1, 12) for place in places)))
