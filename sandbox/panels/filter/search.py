"""The film of a search for devices on a node: as it is, one device after the other, and what the claims get."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any

from sandbox.panels.drawing import shapes
from sandbox.panels.drawing.shapes import Drawing, Shapes, Text
from sandbox.panels.explain import DEVICES, explain_search
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.framework.facts import SearchFacts, SearchStep

HEIGHT, GAP = 16, 0.6
"""Of a device: pixels; and percent of the width between two, if a device is at least four times as wide."""
MOST_APART = 40
"""The most devices that have a box each. Of more, neighbours in the same state share one: a film has many frames."""
FITS = 2.0
"""Percent of the width that a letter takes."""
TITLES = {
    "taken": "search.takes",
    "given-back": "search.gives-back",
    "held": "search.has-already",
    "in-use": "search.in-use",
    "selector": "search.not-selected",
    "constraint": "search.does-not-match",
}
"""Outcome of a step → key of its title."""
SIGNS = {"taken": "yes", "given-back": "back"}
"""Outcome of a step → its sign; the others refuse the device."""


def film(world: World, cycle: Cycle, node: str, plugin: str) -> dict[str, Any] | None:
    """Return ``frames`` in order; None if the plugin did not search for devices there."""
    facts = explain_search(world, cycle, node) if plugin == DEVICES else None
    if facts is None or not facts.steps:
        return None
    frames = [_start(facts), *(_step(facts, step) for step in facts.steps), *_rest(facts), _end(facts)]
    return {
        "of": f"{cycle.number} {node}",
        "node": node,
        "frames": [{"number": number, **frame} for number, frame in enumerate(frames)],
    }


def _start(facts: SearchFacts) -> dict[str, Any]:
    lines = wording.lines_of(facts.needs)
    return _frame(facts, say("search.as-it-is"), (), lines)


def _step(facts: SearchFacts, step: SearchStep) -> dict[str, Any]:
    name = _short(facts.devices[step.device])
    title, sign = say(TITLES[step.outcome], device=name), SIGNS.get(step.outcome, "no")
    return _frame(facts, title, step.held, wording.lines_of((step.said,)), step.device, sign)


def _rest(facts: SearchFacts) -> Iterator[dict[str, Any]]:
    """Yield a frame for the steps that are not told."""
    if facts.more:
        yield _frame(facts, say("search.more", count=facts.more), (), ())


def _end(facts: SearchFacts) -> dict[str, Any]:
    found = bool(facts.got) or facts.facts.status is None
    title = say("search.found" if found else "search.not-found")
    lines = wording.lines(facts.facts) if found else ()
    frame = _frame(facts, title, facts.got, lines, sign="yes" if found else "no")
    return frame | {"note": wording.sentence(facts.facts)}


def _frame(
    facts: SearchFacts,
    title: str,
    held: tuple[int, ...],
    lines: tuple[wording.Line, ...],
    tried: int | None = None,
    sign: str = "",
) -> dict[str, Any]:
    drawing = _drawn(facts, held, tried, sign)
    return {"title": title, "drawing": drawing, "said": sign, "lines": lines, "note": ""}


def _drawn(facts: SearchFacts, held: tuple[int, ...], tried: int | None, sign: str) -> Drawing:
    """Draw the devices of the node side by side: those in use, those that the search has, and the one on trial."""
    width = 100 / len(facts.devices)
    gap = min(GAP, width / 4)
    parts: list[Shapes] = []
    for (state, wrong, _), places in groupby(range(len(facts.devices)), partial(_look, facts, held, tried, sign)):
        first, *others = places
        title = _titled(facts.devices[first], [facts.devices[place] for place in others], say(STATES[state]))
        start, length = first * width + gap / 2, (1 + len(others)) * width - gap
        box = shapes.rect(f"dev {state}{wrong}", start, length, 0.5, HEIGHT)
        parts.append((box._replace(title=title),))
        name = "" if others else _short(facts.devices[first])
        if name and len(name) * FITS < width - gap:
            parts.append((Text(f"dev-n {state}", shapes.percent(first * width + gap), "12.5", name, dx="4"),))
    return Drawing("fb devs-f", tuple(shape for several in parts for shape in several))


def _look(facts: SearchFacts, held: tuple[int, ...], tried: int | None, sign: str, place: int) -> tuple[str, str, int]:
    """Return the state of a device, the class of one that is refused, and what keeps it apart from its neighbours."""
    state = "has" if place in held else "used" if place in facts.used else "free"
    wrong = " is-tried" if place == tried and sign != "yes" else ""
    return state, wrong, place if len(facts.devices) <= MOST_APART else 0


def _titled(first: str, others: list[str], state: str) -> str:
    if not others:
        return f"{first}: {state}"
    return say("search.several", first=first, last=others[-1], state=state)


STATES = {"has": "search.has-it", "used": "search.another-has-it", "free": "devices.free"}
"""State of a device in a frame → key of what it means."""


def _short(device: str) -> str:
    return device.rpartition("/")[2]
