"""Worlds of simulations and scenarios, so many commands further, and the panels as a browser gets them."""

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
    """The scenario ``slug`` as it is opened, and after ``steps`` (commands in JSON form)."""
    simulation = load_scenario(next(FOLDER.glob(f"*-{slug}.yaml"))).open()
    play(simulation, steps)
    return witnessed(simulation)


def looking_back(world: World, entries: int) -> World:
    """As it was after so many entries."""
    return Past(world).at(world.moment_of(entries))


def panel_html(panel: str, world: World, can_edit: bool = True, **view: Any) -> str:
    """White space is folded."""
    stats = PANELS[panel].stats(world, View(**view))
    return " ".join(render_to_string(f"panels/{panel}.html", {**stats, "can_edit": can_edit}).split())


def drawn(panel: str, world: World, view: View) -> dict[str, Any]:
    """What the panel of a table tells, with its ``rows`` as they are drawn; white space is folded."""
    told = PANELS[panel].stats(world, view)
    html = render_to_string(f"panels/{panel}.html", dict(told))
    return {**told, "rows": " ".join(html.partition("<tbody>")[2].split())}


def hatched(drawing: Drawing) -> bool:
    """Whether it shows something that is too much."""
    return any(shape.classes == "over" for shape in drawing.shapes)


def advance(seconds: float) -> dict[str, Any]:
    return {"kind": "advance", "seconds": seconds}


def evict(pod: str) -> dict[str, Any]:
    return {"kind": "evict", "pod": f"default/{pod}"}


def drain(node: str, on: bool = True, **flags: bool) -> dict[str, Any]:
    """``flags``: fields of the command; pods of DaemonSets are ignored anyway."""
    return {"kind": "drain", "node": node, "on": on, "ignore_daemonsets": True, **flags}


def delete(kind: str, name: str) -> dict[str, Any]:
    return {"kind": "delete", "object_kind": kind, "key": f"default/{name}"}


def taint(*effects: str) -> dict[str, Any]:
    """node1 gets the taint key1=value1 with these effects; without any it has none."""
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node1", "labels": {"kubernetes.io/hostname": "node1"}},
        "spec": {"taints": [{"key": "key1", "value": "value1", "effect": effect} for effect in effects]},
        "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }
    return {"kind": "apply", "manifests": [node]}


def unpacked(text: str) -> list[int | None]:
    """What ``sandbox.panels.drawing.runs`` has made of numbers."""
    numbers: list[int | None] = []
    for item in text.split():
        first, _, count = item.partition("x")
        start, _, step = first.partition("+")
        numbers += [None if start == "-" else int(start) + i * int(step or 0) for i in range(int(count or 1))]
    return numbers
