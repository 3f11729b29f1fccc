"""What the kubelets have seen and done, as the trace tells it: pressure, rankings, evictions, what was reclaimed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scheduler_engine.trace import events as ev

if TYPE_CHECKING:
    from .world import World


@dataclass(slots=True)
class Deed:
    """What a kubelet did to get something back; ``ranking`` is the order that led to an eviction."""

    at_us: int
    event: ev.PodEvicted | ev.NodeResourcesReclaimed
    ranking: ev.EvictionRanked | None = None


@dataclass(slots=True)
class NodeHealth:
    """What one kubelet has told. ``collected``: finished pods whose containers it removed, key → uid."""

    uid: str = ""
    seen: ev.PressureObserved | None = None
    seen_us: int = 0
    ranking: ev.EvictionRanked | None = None
    ranked_us: int = 0
    deeds: list[Deed] = field(default_factory=list)
    collected: dict[str, str] = field(default_factory=dict)

    @property
    def victim(self) -> str:
        """The pod that the last ranking chose, "" when it chose none."""
        last = self.deeds[-1] if self.deeds else None
        if last is None or last.ranking is not self.ranking or not isinstance(last.event, ev.PodEvicted):
            return ""
        return last.event.pod


@dataclass
class Health:
    """Node → what its kubelet has told. A node that was made anew under the same name begins anew."""

    nodes: dict[str, NodeHealth] = field(default_factory=dict)

    def of(self, name: str, uid: str) -> NodeHealth:
        known = self.nodes.get(name)
        return known if known is not None and known.uid == uid else NodeHealth(uid)


def _health(world: World, name: str) -> NodeHealth:
    node = world.nodes.get(name)
    known = world.health.of(name, node.node.uid if node is not None else "")
    world.health.nodes[name] = known
    return known


def observed(world: World, entry: ev.Entry, event: ev.PressureObserved) -> None:
    health = _health(world, event.node)
    health.seen, health.seen_us = event, entry.at_us


def ranked(world: World, entry: ev.Entry, event: ev.EvictionRanked) -> None:
    health = _health(world, event.node)
    health.ranking, health.ranked_us = event, entry.at_us


def evicted(world: World, entry: ev.Entry, event: ev.PodEvicted) -> None:
    health = _health(world, event.node)
    health.deeds.append(Deed(entry.at_us, event, health.ranking))


def reclaimed(world: World, entry: ev.Entry, event: ev.NodeResourcesReclaimed) -> None:
    health = _health(world, event.node)
    health.deeds.append(Deed(entry.at_us, event))
    if event.what == "dead containers":
        known = (world.pods.get(key) for key in event.names)
        health.collected.update({pod.key: pod.pod.uid for pod in known if pod is not None})


APPLIERS: dict[type[ev.Event], Callable[[World, ev.Entry, Any], None]] = {
    ev.PressureObserved: observed,
    ev.EvictionRanked: ranked,
    ev.PodEvicted: evicted,
    ev.NodeResourcesReclaimed: reclaimed,
}
