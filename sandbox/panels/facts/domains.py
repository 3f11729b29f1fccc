"""By which label the map of the cluster groups its nodes: their zone, or, without zones, what pods spread over."""

from __future__ import annotations

from collections import Counter

from sandbox.panels.model.state import NodeState
from sandbox.panels.model.world import World
from scheduler_engine.api.topology import BETA_ZONE, HOSTNAME, ZONE

ZONE_KEYS = (ZONE, BETA_ZONE)


def domain_key(world: World) -> str:
    """The label that most constraints name, where no node has a zone. "" = the zone, or there is none."""
    if any(node.zone for node in world.nodes.values()):
        return ""
    named = Counter(
        str(constraint.get("topologyKey"))
        for pod in world.pods.values()
        for constraint in pod.pod.topology_spread_constraints
    )
    del named[HOSTNAME]
    there = (key for key in named if any(key in node.node.labels for node in world.nodes.values()))
    return max(there, key=lambda key: named[key], default="")


def domain_of(node: NodeState, key: str) -> str:
    """ "" = it is in none."""
    return str(node.node.labels.get(key, "")) if key else node.zone
