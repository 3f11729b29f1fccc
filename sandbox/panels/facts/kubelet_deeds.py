"""What a kubelet did to protect its node: removals, evictions, rejections, and why."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from sandbox.panels.facts.node_gauges import amount
from sandbox.panels.model.node_health import Deed
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_clock, short_name
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.api.node_stats import reclaims
from scheduler_engine.trace import events as ev

EVICTED = {
    (False, False): "nodes.evicted-at-once",
    (False, True): "nodes.evicted-at-once-to-reclaim",
    (True, False): "nodes.evicted",
    (True, True): "nodes.evicted-to-reclaim",
}
"""(the pod has time to end, the signal is above its threshold again) → key of how it was evicted."""
REMOVED = {"dead containers": "nodes.containers-removed", "unused images": "nodes.images-removed"}
THINGS = {"dead containers": "nodes.containers-of", "unused images": "nodes.images"}


def deeds_of_all(world: World) -> list[Deed]:
    """Return the evictions and removals of all kubelets, the oldest first."""
    deeds = [deed for health in world.health.nodes.values() for deed in health.deeds]
    return sorted((deed for deed in deeds if not isinstance(deed.event, ev.PodRejected)), key=attrgetter("at_us"))


def deed_row(deed: Deed, number: int = 0) -> dict[str, Any]:
    """Return a line of the list of deeds. ``number``: its place among the deeds of all kubelets."""
    event = deed.event
    row: dict[str, Any] = {"at": short_clock(deed.at_us), "node": event.node, "number": number, "first": ""}
    if isinstance(event, ev.NodeResourcesReclaimed):
        return row | {
            "kind": "reclaimed",
            "title": say(REMOVED[event.what], count=len(event.names)),
            "note": event.threshold,
            "text": say("nodes.freed", names=_names(event), amount=freed((event,))),
            "first": say("nodes.enough") if deed.enough else "",
            "pod": "",
        }
    row |= {"kind": "evicted", "title": short_name(event.pod), "text": event.message, "pod": event.pod}
    if isinstance(event, ev.PodRejected):
        return row | {"note": say("nodes.rejected", reason=event.reason)}
    note = EVICTED[bool(event.grace_seconds), deed.above] if event.signal else "nodes.for-a-critical-pod"
    return row | {"note": say(note, signal=event.signal, seconds=event.grace_seconds), "first": removed_before(deed)}


def removed_before(deed: Deed) -> str:
    """Return why removing containers and images did not save the evicted pod; "" if kubelets remove nothing then."""
    signal = deed.event.signal if isinstance(deed.event, ev.PodEvicted) else ""
    if deed.removed:
        return say("nodes.not-enough", things=things(deed.removed), amount=freed(deed.removed))
    if deed.other_disk:
        return say("nodes.other-disk")
    return say("nodes.nothing-to-remove") if reclaims(signal, dedicated_imagefs=False) else ""


def things(removed: tuple[ev.NodeResourcesReclaimed, ...]) -> str:
    """Return the names of what was removed: containers by their pods, and images."""
    return listed([say(THINGS[event.what], names=_names(event), count=len(event.names)) for event in removed])


def freed(removed: tuple[ev.NodeResourcesReclaimed, ...]) -> str:
    """Return how much disk the removals freed."""
    return amount("nodefs.available", sum(event.freed for event in removed))


def _names(event: ev.NodeResourcesReclaimed) -> str:
    return listed([short_name(name) if event.what == "dead containers" else name for name in event.names])
