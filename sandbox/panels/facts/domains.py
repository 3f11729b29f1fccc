"""The label by which the map of the cluster groups its nodes: the zone, or without zones the one pods spread over."""

from __future__ import annotations

from collections import Counter

from sandbox.panels.model.state import NodeState
from sandbox.panels.model.world import World
from scheduler_engine.api.topology import BETA_ZONE, HOSTNAME, ZONE

ZONE_KEYS = (ZONE, BETA_ZONE)


def domain_key(world: World) -> str:
    """Return the label that most spread constraints name, "" if a node has a zone or if no node has such a label."""
    if any(node.zone for node in world.nodes.values()):
        return ""
    counts = Counter(
        str(constraint.get("topologyKey"))
        for pod in world.pods.values()
        for constraint in pod.pod.topology_spread_constraints
    )
    del counts[HOSTNAME]
    present = (key for key in counts if any(key in node.node.labels for node in world.nodes.values()))
    return max(present, key=lambda key: counts[key], default="")


def domain_of(node: NodeState, key: str) -> str:
    """Return the node's domain, "" if it is in none."""
    return str(node.node.labels.get(key, "")) if key else node.zone
