"""A refusal in two words, with what the panels know of this node: ``disk=hdd``, ``skew 2 > 1``, ``web here``."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.domains import domain_key, domain_of
from sandbox.panels.facts.skew import skews
from sandbox.panels.model.state import Cycle, NodeState, PodState
from sandbox.panels.model.world import World, app_name
from sandbox.panels.words.phrases import short_reason
from sandbox.panels.words.say import say
from scheduler_engine.api.labels import selector_from
from scheduler_engine.api.topology import HOSTNAME

Row = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]


class Briefs:
    """The short words of one attempt."""

    def __init__(self, world: World, cycle: Cycle) -> None:
        self.world = world
        self.pod = world.pods.get(cycle.pod)
        self.key = domain_key(world)
        self.skews = skews(world, cycle, self.key)

    def of(self, row: Row) -> str:
        node, plugin, _, reasons, _ = row
        plain = short_reason(reasons)
        place = self.world.nodes.get(node)
        if self.pod is None or place is None:
            return plain
        if plugin == "NodeAffinity":
            return _label(self.pod, place) or plain
        if plugin == "PodTopologySpread" and plain == "spread":
            return self._skew(place) or plain
        if plugin == "InterPodAffinity" and plain == "anti-affinity":
            return _neighbour(self.world, self.pod, node) or plain
        return plain

    def _skew(self, place: NodeState) -> str:
        zone = self.skews.get(domain_of(place, self.key), {})
        return str(zone["text"]) if zone.get("above") and not zone["standing"] else ""


def _label(pod: PodState, place: NodeState) -> str:
    """The first label of the node selector that differs."""
    selector: dict[str, Any] = pod.pod.spec.get("nodeSelector") or {}
    for key, value in selector.items():
        has = place.node.labels.get(key)
        if has != value:
            short = key.rpartition("/")[2]
            return say("phrases.no-label", key=short) if has is None else f"{short}={has}"
    return ""


def _neighbour(world: World, pod: PodState, node: str) -> str:
    """The app on this very node that the pod keeps off."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    for term in (pod.pod.affinity.get("podAntiAffinity") or {}).get(required) or ():
        if term.get("topologyKey") != HOSTNAME:
            continue
        selector = selector_from(term.get("labelSelector"))
        for other in world.pods_of(node):
            if selector.matches(other.pod.labels):
                return say("phrases.neighbour", app=app_name(other.pod))
    return ""
