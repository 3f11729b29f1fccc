"""Search by a few letters: pods, nodes, workloads and all other objects, plugins, events."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from sandbox.panels.model.world import World
from sandbox.words.amounts import short_clock, short_name
from sandbox.words.say import say

MOST = 40
MOST_OF_A_KIND = 12
MOST_EVENTS = 1000
"""The latest ones, which are searched."""
IN_THE_NOTE = 2
"""How well a hit fits: 0 = its text begins with the search text, 1 = its text contains it, 2 = only its note does."""


class Hit(NamedTuple):
    """One result. ``text`` is searched first, ``note`` says more. ``leads``: the fields of the view that it opens."""

    kind: str
    text: str
    note: str
    leads: dict[str, Any]


TABLES = {"filter": "filter", "score": "scores", "postFilter": "preemption"}
"""Extension point → the tab that shows what plugins say there."""
LONGEST_WANTED = 80
"""Characters of a text to find."""
EDIT = "edit"
"""Leads to the form or the YAML of the object, for people who may change it."""
READ = "read"
"""Leads to the YAML of the object."""
OWNERS = (
    *("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"),
    *("PodDisruptionBudget", "PodGroup", "PriorityClass"),
)


def for_readers(hits: list[Hit]) -> list[Hit]:
    """Return hits that lead to the YAML of an object instead of the form, for people who may not change it."""
    return [
        hit._replace(leads={READ if name == EDIT else name: value for name, value in hit.leads.items()}) for hit in hits
    ]


def find(world: World, query: str) -> tuple[list[Hit], int]:
    """Return the hits with ``query``, in any case, in the text, then those in the note; and the number of others."""
    query = query.casefold().strip()
    ranked: dict[str, list[tuple[int, Hit]]] = {}
    for hit in _all(world):
        place = _place(hit, query)
        if place is not None:
            ranked.setdefault(hit.kind, []).append((place, hit))
    best = [item for of_kind in ranked.values() for item in sorted(of_kind, key=itemgetter(0))[:MOST_OF_A_KIND]]
    hits = [hit for _, hit in sorted(best, key=lambda item: item[0] == IN_THE_NOTE)[:MOST]]
    return hits, sum(map(len, ranked.values())) - len(hits)


def _place(hit: Hit, query: str) -> int | None:
    """Return how well a hit fits, None if it does not."""
    text = hit.text.casefold()
    if text.startswith(query):
        return 0
    if query in text:
        return 1
    return IN_THE_NOTE if query in hit.note.casefold() else None


def _all(world: World) -> Iterator[Hit]:
    for pod in world.pods.values():
        where = say("find.on", state=pod.state, node=pod.node) if pod.node else pod.state
        yield Hit("pod", short_name(pod.key), where, {"pod": pod.key, "node": "", "plugin": ""})
    for node in world.nodes.values():
        yield Hit("node", node.name, node.zone, {"node": node.name, "pod": "", "plugin": ""})
    for kind in OWNERS:
        for key in world.objects.get(kind, ()):
            yield Hit("workload", short_name(key), kind, {"tab": "workloads"})
    for kind, keys in world.objects.items():
        if kind not in ("Pod", "Node", *OWNERS):
            for key in keys:
                yield Hit("object", short_name(key), kind, {EDIT: kind, "key": key})
    yield from _plugins(world)
    for recorded in islice(reversed(world.kube_events), MOST_EVENTS):
        event = recorded.event
        leads = {"tab": "events", "pod": event.regarding} if event.regarding_kind == "Pod" else {"tab": "events"}
        row = "find.event-of-a-deleted-pod" if world.regards_namesake(recorded) else "find.event"
        about = say(row, at=short_clock(recorded.at_us), regarding=short_name(event.regarding))
        yield Hit("event", event.reason, f"{about} {event.message}", leads)


def _plugins(world: World) -> Iterator[Hit]:
    """Yield each plugin with its extension points; it opens the table that shows what it says."""
    points: dict[str, list[str]] = {}
    for _, profile in world.configured.profiles if world.configured else ():
        for point, plugins in profile:
            for plugin, _ in plugins:
                if point not in points.setdefault(plugin, []):
                    points[plugin].append(point)
    for plugin, where in points.items():
        tab = next((tab for point, tab in TABLES.items() if point in where), "configuration")
        yield Hit("plugin", plugin, ", ".join(where), {"tab": tab})
