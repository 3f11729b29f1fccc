"""By which label the map of the cluster groups its nodes: their zone, or, without zones, what pods spread over."""

from __future__ import annotations

from collections import Counter

from sandbox.panels.model.state import NodeState
from sandbox.panels.model.world import World

HOSTNAME = "kubernetes.io/hostname"
ZONE_KEYS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


def domain_key(world: World) -> str:
    """The label that most constraints name, where no node has a zone. "" = the zone, or there is none."""
    if any(node.zone for node in world.nodes.values()):
        return ""
    labels = {label for node in world.nodes.values() for label in node.node.labels}
    named = Counter(
        key
        for pod in world.pods.values()
        for constraint in pod.pod.topology_spread_constraints
        if (key := str(constraint.get("topologyKey"))) in labels and key != HOSTNAME
    )
    return max(named, key=lambda key: named[key], default="")


def domain_of(node: NodeState, key: str) -> str:
    """ "" = it is in none."""
    return str(node.node.labels.get(key, "")) if key else node.zone
