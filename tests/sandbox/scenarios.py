"""Worlds of simulations and scenarios after some commands, and the panels as a browser gets them."""

from __future__ import annotations

from typing import Any

from django.template.loader import render_to_string

from sandbox.panels import PANELS, View, World
from sandbox.panels.drawing.shapes import Drawing
from sandbox.panels.model.past import Past
from scheduler_engine.scenario import FOLDER, load_scenario, play
from tests.sandbox.witnessing import witnessed

world_of = witnessed


def world_after(slug: str, *steps: dict[str, Any]) -> World:
    """Return the scenario ``slug`` as it opens, after ``steps`` (commands in JSON form)."""
    simulation = load_scenario(next(FOLDER.glob(f"*-{slug}.yaml"))).open()
    play(simulation, steps)
    return witnessed(simulation)


def looking_back(world: World, entries: int) -> World:
    """Return the world as it was after this number of entries."""
    return Past(world).at(world.moment_of(entries))


def panel_html(panel: str, world: World, can_edit: bool = True, **view: Any) -> str:
    """Return a panel's HTML. White space is folded."""
    stats = PANELS[panel].stats(world, View(**view))
    return " ".join(render_to_string(f"panels/{panel}.html", {**stats, "can_edit": can_edit}).split())


def drawn(panel: str, world: World, view: View) -> dict[str, Any]:
    """Return a table panel's data, with its ``rows`` as drawn. White space is folded."""
    data = PANELS[panel].stats(world, view)
    html = render_to_string(f"panels/{panel}.html", dict(data))
    return {**data, "rows": " ".join(html.partition("<tbody>")[2].split())}


def hatched(drawing: Drawing) -> bool:
    """Return True if the drawing shows an excess."""
    return any(shape.classes == "over" for shape in drawing.shapes)


def advance(seconds: float) -> dict[str, Any]:
    return {"kind": "advance", "seconds": seconds}


def evict(pod: str) -> dict[str, Any]:
    return {"kind": "evict", "pod": f"default/{pod}"}


def drain(node: str, on: bool = True, **flags: bool) -> dict[str, Any]:
    """Return a drain. ``flags``: fields of the command; pods of DaemonSets are always ignored."""
    return {"kind": "drain", "node": node, "on": on, "ignore_daemonsets": True, **flags}


def delete(kind: str, name: str) -> dict[str, Any]:
    return {"kind": "delete", "object_kind": kind, "key": f"default/{name}"}


def taint(*effects: str) -> dict[str, Any]:
    """Return node1 with the taint key1=value1 of these effects, or without any."""
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node1", "labels": {"kubernetes.io/hostname": "node1"}},
        "spec": {"taints": [{"key": "key1", "value": "value1", "effect": effect} for effect in effects]},
        "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }
    return {"kind": "apply", "manifests": [node]}


def unpacked(text: str) -> list[int | None]:
    """Reverse ``sandbox.panels.drawing.runs`` of numbers."""
    numbers: list[int | None] = []
    for item in text.split():
        first, _, count = item.partition("x")
        start, _, step = first.partition("+")
        numbers += [None if start == "-" else int(start) + i * int(step or 0) for i in range(int(count or 1))]
    return numbers
