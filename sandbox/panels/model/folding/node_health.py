"""Fold entries about kubelets: pressure, rankings, evictions, rejections, what they reclaimed."""

from __future__ import annotations

from sandbox.panels.model.base import Appliers, Models
from sandbox.panels.model.folding.eviction_log import record
from sandbox.panels.model.node_health import Deed, NodeHealth, Pressure
from scheduler_engine.api.node_stats import reclaims
from scheduler_engine.api.simulated import IMAGEFS
from scheduler_engine.trace import events as ev


def _health(world: Models, name: str) -> NodeHealth:
    """Return the health of the node; a new one if a node of the same name was created again."""
    node = world.nodes.get(name)
    health = world.health.of(name, node.node.uid if node is not None else "")
    world.health.nodes[name] = health
    return health


def observed(world: Models, entry: ev.Entry, event: ev.PressureObserved) -> None:
    health = _health(world, event.node)
    pressure = _changed(health.observation, event)
    if pressure.began or pressure.ended or pressure.waits or pressure.calmed:
        record(world, entry, "pressure", pressure)
    health.observation, health.observed_us = event, entry.at_us


def _changed(before: ev.PressureObserved | None, now: ev.PressureObserved) -> Pressure:
    """Return how pressure differs between two observations."""
    conditions_before, conditions = dict(before.conditions if before else ()), dict(now.conditions)
    waited, waits = dict(before.until if before else ()), dict(now.until)
    quiet = {text for text, _, _, _, state in now.thresholds if state == "quiet"}
    return Pressure(
        now.node,
        tuple(name for name in conditions if name not in conditions_before),
        tuple(name for name in conditions_before if name not in conditions),
        tuple((text, until) for text, until in waits.items() if text not in waited),
        tuple(text for text in waited if text in quiet),
    )


def ranked(world: Models, entry: ev.Entry, event: ev.EvictionRanked) -> None:
    health = _health(world, event.node)
    health.ranking, health.ranked_us = event, entry.at_us
    for deed in reversed(health.deeds):
        if deed.at_us != entry.at_us:
            break
        deed.enough = False


def evicted(world: Models, entry: ev.Entry, event: ev.PodEvicted) -> None:
    health = _health(world, event.node)
    thresholds = health.observation.thresholds if health.observation is not None else ()
    states = {state for _, signal, _, _, state in thresholds if signal == event.signal}
    deed = Deed(entry.at_us, event, above="reclaiming" in states and "met" not in states)
    if event.signal:
        deed.ranking, deed.removed = health.ranking, _removed(health, entry)
        node = world.nodes.get(event.node)
        dedicated = node is not None and IMAGEFS in node.node.annotations
        shared = reclaims(event.signal, dedicated_imagefs=False)
        deed.other_disk = bool(shared) and not reclaims(event.signal, dedicated)
    _add_deed(world, entry, health, deed)


def _removed(health: NodeHealth, entry: ev.Entry) -> tuple[ev.NodeResourcesReclaimed, ...]:
    """Return what the kubelet removed so far in this check."""
    last = health.deeds[-1] if health.deeds else None
    return last.removed if last is not None and last.at_us == entry.at_us else ()


def rejected(world: Models, entry: ev.Entry, event: ev.PodRejected) -> None:
    _add_deed(world, entry, _health(world, event.node), Deed(entry.at_us, event))


def reclaimed(world: Models, entry: ev.Entry, event: ev.NodeResourcesReclaimed) -> None:
    health = _health(world, event.node)
    earlier = _removed(health, entry)
    if earlier:
        health.deeds[-1].enough = False
    _add_deed(world, entry, health, Deed(entry.at_us, event, removed=(*earlier, event), enough=True))
    if event.what == "dead containers":
        pods = (world.pods.get(key) for key in event.names)
        health.collected.update({pod.key: pod.pod.uid for pod in pods if pod is not None})


def _add_deed(world: Models, entry: ev.Entry, health: NodeHealth, deed: Deed) -> None:
    health.deeds.append(deed)
    record(world, entry, "deed", deed)


APPLIERS: Appliers = {
    ev.PressureObserved: observed,
    ev.EvictionRanked: ranked,
    ev.PodEvicted: evicted,
    ev.NodeResourcesReclaimed: reclaimed,
    ev.PodRejected: rejected,
}
