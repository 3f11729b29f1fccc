"""A small drawing of a cluster as a scenario's manifests tell it: nodes by zone, the pods on them, those that wait.

It is made of the setup alone, without the scheduler: a pod is on a node when its manifest names one. All blocks of one
kind are one path, so that a hundred drawings weigh little on a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from scheduler_engine.scenario import Scenario
from scheduler_engine.shapes import Data

WIDTH, HEIGHT = 112, 56
"""Of a drawing, in units of its own."""
ZONE = "topology.kubernetes.io/zone"
MOST_ZONES = 6
MOST_WAITING = 14
"""Pods that are drawn outside; more look the same."""
LEFT = 20
"""Where the zones begin; the pods that wait are left of it."""
BLOCK, STEP = 4, 5
"""Side of a pod, and the distance from one to the next."""
REPLICATED = ("Deployment", "ReplicaSet", "StatefulSet")
TITLE = "{zones}, {nodes}; {bound} on nodes, {waiting} without one"


@dataclass
class Node:
    zone: str
    tainted: bool
    pods: int = 0


@dataclass
class Sketch:
    """What is drawn. ``pods``: key → name of its node, "" without one; ``copies``: of workloads, without a node."""

    nodes: dict[str, Node] = field(default_factory=dict)
    pods: dict[str, str] = field(default_factory=dict)
    copies: int = 0

    @property
    def waiting(self) -> int:
        return sum(node not in self.nodes for node in self.pods.values()) + self.copies

    @property
    def zones(self) -> dict[str, list[Node]]:
        """The zones in the order of their first nodes; a cluster of very many is drawn as one."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            found.setdefault(node.zone, []).append(node)
        return found if len(found) <= MOST_ZONES else {"": list(self.nodes.values())}


@dataclass(frozen=True)
class Box:
    x: int
    y: int
    width: int
    height: int

    @property
    def path(self) -> str:
        return f"M{self.x} {self.y}h{self.width}v{self.height}h-{self.width}z"


def drawing(scenario: Scenario, titled: bool = False) -> Markup:
    """An ``svg``. ``titled``: with its content in words, else hidden from screen readers."""
    return _drawing(scenario.slug, scenario.origin.name if scenario.origin else "", _Setup(scenario.setup), titled)


class _Setup:
    """The commands of a setup; what is drawn once is known by the names of the scenario and of its file."""

    def __init__(self, steps: Sequence[Data]) -> None:
        self.steps = steps

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Setup) and self.steps == other.steps

    def __hash__(self) -> int:
        return len(self.steps)


@lru_cache(512)
def _drawing(slug: str, file: str, setup: _Setup, titled: bool) -> Markup:
    found = sketch(setup.steps)
    named = Markup('role="img" aria-label="{}"').format(in_words(found)) if titled else Markup('aria-hidden="true"')
    shapes = Markup("").join(
        Markup('<path class="{}" d="{}"/>').format(name, "".join(paths)) for name, paths in _paths(found) if paths
    )
    return Markup('<svg class="dwg" viewBox="0 0 {} {}" {}>{}</svg>').format(WIDTH, HEIGHT, named, shapes)


def in_words(found: Sketch) -> str:
    """What the drawing shows, in a line."""
    zones = len({node.zone for node in found.nodes.values() if node.zone})
    return TITLE.format(
        zones=_count(zones, "zone") if zones else "no zones",
        nodes=_count(len(found.nodes), "node"),
        bound=_count(sum(node in found.nodes for node in found.pods.values()), "pod"),
        waiting=found.waiting,
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def sketch(steps: Iterable[Data]) -> Sketch:
    """What the manifests of a setup leave there: applied, cordoned, deleted."""
    found = Sketch()
    for step in steps:
        READERS.get(step["kind"], _nothing)(found, step)
    for name in found.pods.values():
        if name in found.nodes:
            found.nodes[name].pods += 1
    return found


def _apply(found: Sketch, step: Data) -> None:
    for manifest in step["manifests"]:
        meta, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
        kind, name = manifest.get("kind"), meta.get("name", "")
        if kind == "Node":
            found.nodes[name] = Node((meta.get("labels") or {}).get(ZONE, ""), _tainted(spec))
        elif kind == "Pod":
            found.pods[f"{meta.get('namespace', 'default')}/{name}"] = spec.get("nodeName") or ""
        elif kind in REPLICATED:
            found.copies += spec.get("replicas", 1)


def _tainted(spec: dict[str, Any]) -> bool:
    hard = any(taint.get("effect") != "PreferNoSchedule" for taint in spec.get("taints") or ())
    return hard or bool(spec.get("unschedulable"))


def _delete(found: Sketch, step: Data) -> None:
    if step["object_kind"] == "Node":
        found.nodes.pop(step["key"], None)
    elif step["object_kind"] == "Pod":
        found.pods.pop(step["key"], None)


def _cordon(found: Sketch, step: Data) -> None:
    if step["node"] in found.nodes:
        found.nodes[step["node"]].tainted = bool(step.get("on", True))


def _nothing(found: Sketch, step: Data) -> None:
    """Of a step that changes no manifest."""


READERS = {"apply": _apply, "delete": _delete, "cordon": _cordon, "drain": _cordon}


def _paths(found: Sketch) -> list[tuple[str, list[str]]]:
    """Class → the blocks of its path, in the order in which they are drawn."""
    zones, nodes, pods, taints = [list[str]() for _ in range(4)]
    for zone, room in zip(found.zones.values(), _columns(len(found.zones)), strict=True):
        zones.append(room.path)
        for node, box in zip(zone, _cells(len(zone), room), strict=False):
            nodes.append(box.path)
            pods += [pod.path for pod in _blocks(node.pods, box)]
            if node.tainted:
                taints.append(_corner(box))
    waiting = _blocks(min(found.waiting, MOST_WAITING), Box(0, 0, LEFT - 5, HEIGHT))
    return [
        ("dz", zones), ("dn", nodes), ("dp", pods), ("dt", taints), ("dw", [pod.path for pod in waiting])
    ]  # fmt: skip


def _columns(number: int) -> Iterator[Box]:
    """The room of each zone."""
    wide = (WIDTH - LEFT + 3) // max(number, 1)
    for place in range(number):
        yield Box(LEFT + place * wide, 0, wide - 3, HEIGHT)


def _cells(number: int, room: Box) -> Iterator[Box]:
    """The nodes of a zone: in as few columns as leave each high enough; dots where they are many."""
    most = max(1, room.width // 4)
    columns = next((n for n in range(1, most) if (room.height - 4) // -(-number // n) >= 9), most)
    wide, high = (room.width - 3) // columns, min(17, max(3, (room.height - 3) // -(-number // columns)))
    gap = 2 if high > 5 else 1
    for place in range(number):
        x, y = room.x + 2 + place % columns * wide, room.y + 2 + place // columns * high
        if y + high <= room.y + room.height:
            yield Box(x, y, max(wide - gap, 2), max(high - gap, 2))


def _blocks(number: int, room: Box) -> Iterator[Box]:
    """As many pods as there is room for."""
    across, down = (room.width - 1) // STEP, (room.height - 1) // STEP
    for place in range(min(number, across * down)):
        yield Box(room.x + 2 + place % across * STEP, room.y + 2 + place // across * STEP, BLOCK, BLOCK)


def _corner(box: Box) -> str:
    """The mark of a taint: the lower right corner."""
    side = min(6, box.width, box.height)
    return f"M{box.x + box.width} {box.y + box.height}h-{side}l{side}-{side}z"
