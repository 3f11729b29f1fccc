"""A small drawing of a scenario's cluster: nodes by zone, the pods on them, and the pods that wait.

It is drawn from the setup, without the scheduler: a pod is on a node if its manifest names one. It can also show the
end, which the expectations of the scenario name. All blocks of one kind are one path, so that a hundred drawings add
little to a page.
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
"""Size of a drawing, in the units of its ``viewBox``."""
ZONES = ("topology.kubernetes.io/zone", "zone")
"""Labels that name a node's zone; examples in documentation often use the short one."""
MOST_ZONES = 6
MOST_WAITING = 14
"""Waiting pods in a drawing; more look the same."""
LEFT = 20
"""Where the zones start. The waiting pods are on the left."""
BLOCK, STEP = 4, 5
"""Side of a pod, and the distance from one to the next."""
REPLICATED = ("Deployment", "ReplicaSet", "StatefulSet")


@dataclass
class Node:
    zone: str
    tainted: bool
    pods: int = 0
    landed: int = 0


@dataclass
class Sketch:
    """The content of a drawing. ``pods``: key → name of its node, or "". ``copies``: pods of workloads, on no node.

    ``landed``: pods that get a node in the end.
    """

    nodes: dict[str, Node] = field(default_factory=dict)
    pods: dict[str, str] = field(default_factory=dict)
    copies: int = 0
    landed: set[str] = field(default_factory=set)

    @property
    def waiting(self) -> int:
        lost = (key for key, node in self.pods.items() if node not in self.nodes and key not in self.landed)
        return sum(1 for _ in lost) + self.copies

    @property
    def zones(self) -> dict[str, list[Node]]:
        """The zones in the order of their first nodes. A cluster with more than ``MOST_ZONES`` is drawn as one zone."""
        zones: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            zones.setdefault(node.zone, []).append(node)
        return zones if len(zones) <= MOST_ZONES else {"": list(self.nodes.values())}


@dataclass(frozen=True)
class Box:
    x: int
    y: int
    width: int
    height: int

    @property
    def path(self) -> str:
        return f"M{self.x} {self.y}h{self.width}v{self.height}h-{self.width}z"


def drawing(scenario: Scenario, ends: bool = False) -> Markup:
    """Return an ``svg``, hidden from screen readers.

    ``ends``: show pods where they are expected at the end, instead of among the waiting ones.
    """
    file = scenario.origin.name if scenario.origin else ""
    return _drawing(scenario.slug, file, _Setup(scenario.setup), _placed(scenario) if ends else ())


def _placed(scenario: Scenario) -> tuple[tuple[str, str], ...]:
    """Return (key of a pod, node) for each pod whose node is expected last; of several nodes the first one."""
    placed = dict[str, str]()
    steps = (item for step in scenario.then for item in step.get("expect", ()))
    for item in (*steps, *scenario.expect):
        if "pod" in item and item.keys() & {"node", "nodes", "pending"}:
            placed[item["pod"]] = item.get("node") or next(iter(item.get("nodes", ())), "")
    return tuple((pod, node) for pod, node in placed.items() if node)


class _Setup:
    """The commands of a setup as part of a cache key. Its hash is cheap: the names in the key already differ mostly."""

    def __init__(self, steps: Sequence[Data]) -> None:
        self.steps = steps

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Setup) and self.steps == other.steps

    def __hash__(self) -> int:
        return len(self.steps)


@lru_cache(512)
def _drawing(slug: str, file: str, setup: _Setup, placed: tuple[tuple[str, str], ...]) -> Markup:
    cluster = sketch(setup.steps, placed)
    shapes = Markup("").join(
        Markup('<path class="{}" d="{}"/>').format(name, "".join(paths)) for name, paths in _paths(cluster) if paths
    )
    return Markup('<svg class="dwg" viewBox="0 0 {} {}" aria-hidden="true">{}</svg>').format(WIDTH, HEIGHT, shapes)


def sketch(steps: Iterable[Data], placed: Iterable[tuple[str, str]] = ()) -> Sketch:
    """Return the cluster after the commands of a setup that apply, cordon and delete objects.

    ``placed``: (pod, node) of pods that get a node in the end.
    """
    cluster = Sketch()
    for step in steps:
        if step["kind"] in READERS:
            READERS[step["kind"]](cluster, step)
    for name in cluster.pods.values():
        if name in cluster.nodes:
            cluster.nodes[name].pods += 1
    for pod, name in placed:
        if name in cluster.nodes and cluster.pods.get(pod) not in cluster.nodes:
            cluster.nodes[name].landed += 1
            cluster.landed.add(pod)
    return cluster


def _apply(cluster: Sketch, step: Data) -> None:
    for manifest in step["manifests"]:
        meta, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
        kind, name = manifest.get("kind"), meta.get("name", "")
        if kind == "Node":
            labels = meta.get("labels") or {}
            cluster.nodes[name] = Node(next((labels[key] for key in ZONES if key in labels), ""), _tainted(spec))
        elif kind == "Pod":
            cluster.pods[f"{meta.get('namespace', 'default')}/{name}"] = spec.get("nodeName") or ""
        elif kind in REPLICATED:
            cluster.copies += spec.get("replicas", 1)


def _tainted(spec: dict[str, Any]) -> bool:
    hard = any(taint.get("effect") != "PreferNoSchedule" for taint in spec.get("taints") or ())
    return hard or bool(spec.get("unschedulable"))


def _delete(cluster: Sketch, step: Data) -> None:
    if step["object_kind"] == "Node":
        cluster.nodes.pop(step["key"], None)
    elif step["object_kind"] == "Pod":
        cluster.pods.pop(step["key"], None)


def _cordon(cluster: Sketch, step: Data) -> None:
    if step["node"] in cluster.nodes:
        cluster.nodes[step["node"]].tainted = bool(step.get("on", True))


READERS = {"apply": _apply, "delete": _delete, "cordon": _cordon, "drain": _cordon}


def _paths(cluster: Sketch) -> list[tuple[str, list[str]]]:
    """Return (class, blocks of its path) in the order of drawing."""
    zones, nodes, pods, landed, taints = [list[str]() for _ in range(5)]
    for zone, room in zip(cluster.zones.values(), _columns(len(cluster.zones)), strict=True):
        zones.append(room.path)
        for node, box in zip(zone, _cells(len(zone), room), strict=False):
            nodes.append(box.path)
            blocks = [pod.path for pod in _blocks(node.pods + node.landed, box)]
            pods += blocks[: node.pods]
            landed += blocks[node.pods :]
            if node.tainted:
                taints.append(_corner(box))
    waiting = [pod.path for pod in _blocks(min(cluster.waiting, MOST_WAITING), Box(0, 0, LEFT - 5, HEIGHT))]
    return [("dz", zones), ("dn", nodes), ("dp", pods), ("dl", landed), ("dt", taints), ("dw", waiting)]


def _columns(number: int) -> Iterator[Box]:
    wide = (WIDTH - LEFT + 3) // max(number, 1)
    for place in range(number):
        yield Box(LEFT + place * wide, 0, wide - 3, HEIGHT)


def _cells(number: int, room: Box) -> Iterator[Box]:
    """Yield the boxes of a zone's nodes, in as few columns as leave them high enough. Many nodes become dots."""
    most = max(1, room.width // 4)
    columns = next((n for n in range(1, most) if (room.height - 4) // -(-number // n) >= 9), most)
    wide, high = (room.width - 3) // columns, min(17, max(3, (room.height - 3) // -(-number // columns)))
    gap = 2 if high > 5 else 1
    for place in range(number):
        x, y = room.x + 2 + place % columns * wide, room.y + 2 + place // columns * high
        if y + high <= room.y + room.height:
            yield Box(x, y, max(wide - gap, 2), max(high - gap, 2))


def _blocks(number: int, room: Box) -> Iterator[Box]:
    """Yield the boxes of pods, as many as fit."""
    across, down = (room.width - 1) // STEP, (room.height - 1) // STEP
    for place in range(min(number, across * down)):
        yield Box(room.x + 2 + place % across * STEP, room.y + 2 + place // across * STEP, BLOCK, BLOCK)


def _corner(box: Box) -> str:
    """Return the mark of a taint: a triangle in the lower right corner."""
    side = min(6, box.width, box.height)
    return f"M{box.x + box.width} {box.y + box.height}h-{side}l{side}-{side}z"
