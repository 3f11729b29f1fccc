"""What a few letters may mean: pods wherever they are, nodes, workloads and all other objects, plugins, events."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from sandbox.panels.model.world import World
from sandbox.words.amounts import short_clock, short_name
from sandbox.words.say import say

MOST = 40
MOST_OF_A_KIND = 12
MOST_EVENTS = 1000
"""The latest that are looked at."""
IN_THE_NOTE = 2
"""How well a hit fits: 0 = its name begins with what is wanted, 1 = it is in the name, 2 = only in the note."""


class Hit(NamedTuple):
    """``text`` is what is searched, ``note`` tells more, ``leads`` is the part of the view that it opens, and a tab."""

    kind: str
    text: str
    note: str
    leads: dict[str, Any]


TABLES = {"filter": "filter", "score": "scores", "postFilter": "preemption"}
"""Extension point → the tab that shows what plugins say there."""
EDIT = "edit"
"""Leads to the object's form or YAML, for those who may change it."""
OWNERS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "PodDisruptionBudget", "PriorityClass")


def find(world: World, wanted: str) -> tuple[list[Hit], int]:
    """Those whose text or note contains ``wanted``, in any case: first those that are called so;
    and how many more there are."""
    wanted = wanted.casefold().strip()
    ranked: dict[str, list[tuple[int, Hit]]] = {}
    for hit in _all(world):
        place = _place(hit, wanted)
        if place is not None:
            ranked.setdefault(hit.kind, []).append((place, hit))
    best = [item for hits in ranked.values() for item in sorted(hits, key=_first)[:MOST_OF_A_KIND]]
    found = [hit for _, hit in sorted(best, key=lambda item: item[0] == IN_THE_NOTE)[:MOST]]
    return found, sum(len(hits) for hits in ranked.values()) - len(found)


def _first(item: tuple[int, Hit]) -> int:
    return item[0]


def _place(hit: Hit, wanted: str) -> int | None:
    text = hit.text.casefold()
    if text.startswith(wanted):
        return 0
    if wanted in text:
        return 1
    return IN_THE_NOTE if wanted in hit.note.casefold() else None


def _all(world: World) -> Iterator[Hit]:
    for pod in world.pods.values():
        where = say("find.on", state=pod.state, node=pod.node) if pod.node else pod.state
        yield Hit("pod", short_name(pod.key), where, {"pod": pod.key, "node": "", "plugin": ""})
    for node in world.nodes.values():
        yield Hit("node", node.name, node.zone, {"node": node.name, "pod": "", "plugin": ""})
    for kind in OWNERS:
        for key in world.objects.get(kind, ()):
            yield Hit("workload", short_name(key), kind, {"tab": "workloads"})
    for kind, held in world.objects.items():
        if kind not in ("Pod", "Node", *OWNERS):
            for key in held:
                yield Hit("object", short_name(key), kind, {EDIT: kind, "key": key})
    yield from _plugins(world)
    for told in islice(reversed(world.kube_events), MOST_EVENTS):
        event = told.event
        leads = {"tab": "events", "pod": event.regarding} if event.regarding_kind == "Pod" else {"tab": "events"}
        about = say("find.event", at=short_clock(told.at_us), regarding=short_name(event.regarding))
        yield Hit("event", event.reason, f"{about} {event.message}", leads)


def _plugins(world: World) -> Iterator[Hit]:
    """Each with the extension points at which it runs; it opens the table that shows what it says."""
    points: dict[str, list[str]] = {}
    for _, profile in world.configured.profiles if world.configured else ():
        for point, plugins in profile:
            for plugin, _ in plugins:
                if point not in points.setdefault(plugin, []):
                    points[plugin].append(point)
    for plugin, where in points.items():
        tab = next((tab for point, tab in TABLES.items() if point in where), "configuration")
        yield Hit("plugin", plugin, ", ".join(where), {"tab": tab})
