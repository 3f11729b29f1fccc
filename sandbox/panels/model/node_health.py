"""What the kubelets have seen and done, as the trace tells it: pressure, rankings, evictions, what was reclaimed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sandbox.panels.model.eviction_log import tell
from scheduler_engine.trace import events as ev

if TYPE_CHECKING:
    from sandbox.panels.model.world import World


@dataclass(slots=True)
class Deed:
    """What a kubelet did to get something back; ``ranking`` is the order that led to an eviction.

    ``above``: it evicts although the signal is above its threshold again, to reclaim the minimum.
    """

    at_us: int
    event: ev.PodEvicted | ev.NodeResourcesReclaimed
    ranking: ev.EvictionRanked | None = None
    above: bool = False


@dataclass(frozen=True, slots=True)
class Pressure:
    """Node conditions that a kubelet ``began`` and ceased (``ended``) to report, soft thresholds whose grace period
    began (with its end) or was cut short (``calmed``).
    """

    node: str
    began: tuple[str, ...]
    ended: tuple[str, ...]
    waits: tuple[tuple[str, int], ...]
    calmed: tuple[str, ...]


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
    pressure = _changed(health.seen, event)
    if pressure.began or pressure.ended or pressure.waits or pressure.calmed:
        tell(world, entry, "pressure", pressure)
    health.seen, health.seen_us = event, entry.at_us


def _changed(before: ev.PressureObserved | None, now: ev.PressureObserved) -> Pressure:
    held, holds = dict(before.conditions if before else ()), dict(now.conditions)
    waited, waits = dict(before.until if before else ()), dict(now.until)
    quiet = {text for text, _, _, _, state in now.thresholds if state == "quiet"}
    return Pressure(
        now.node,
        tuple(name for name in holds if name not in held),
        tuple(name for name in held if name not in holds),
        tuple((text, until) for text, until in waits.items() if text not in waited),
        tuple(text for text in waited if text in quiet),
    )


def ranked(world: World, entry: ev.Entry, event: ev.EvictionRanked) -> None:
    health = _health(world, event.node)
    health.ranking, health.ranked_us = event, entry.at_us


def evicted(world: World, entry: ev.Entry, event: ev.PodEvicted) -> None:
    health = _health(world, event.node)
    seen = health.seen.thresholds if health.seen is not None else ()
    states = {state for _, signal, _, _, state in seen if signal == event.signal}
    deed = Deed(entry.at_us, event, health.ranking, "reclaiming" in states and "met" not in states)
    health.deeds.append(deed)
    tell(world, entry, "deed", deed)


def reclaimed(world: World, entry: ev.Entry, event: ev.NodeResourcesReclaimed) -> None:
    health = _health(world, event.node)
    deed = Deed(entry.at_us, event)
    health.deeds.append(deed)
    tell(world, entry, "deed", deed)
    if event.what == "dead containers":
        known = (world.pods.get(key) for key in event.names)
        health.collected.update({pod.key: pod.pod.uid for pod in known if pod is not None})


APPLIERS: dict[type[ev.Event], Callable[[World, ev.Entry, Any], None]] = {
    ev.PressureObserved: observed,
    ev.EvictionRanked: ranked,
    ev.PodEvicted: evicted,
    ev.NodeResourcesReclaimed: reclaimed,
}
