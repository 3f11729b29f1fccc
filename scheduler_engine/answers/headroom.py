"""How many more replicas of each workload fit, each alone, and which resource of the cluster runs out first.

Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_engine.answers.balance import ResourceUse, node_infos, uses_of
from scheduler_engine.answers.room import MOST_COPIES, Room, room
from scheduler_engine.simulation import Simulation

WITH_TEMPLATE = ("Deployment", "ReplicaSet", "StatefulSet", "Job", "ReplicationController")
"""Kinds whose template can be copied, besides pods."""


def headroom(simulation: Simulation, most: int = MOST_COPIES) -> Iterator[tuple[str, str, Room]]:
    """Yield (kind, key, room for more replicas) of each workload that no other one owns, kind by kind.

    Replicas of a StatefulSet share the claims that its template names, and have none of its claim templates.
    """
    for kind in WITH_TEMPLATE:
        for item in simulation.api.list(kind):
            if not item.metadata.get("ownerReferences") and not item.terminating:
                yield kind, item.key, room(simulation, item.manifest, most)


def scarcest(simulation: Simulation) -> list[ResourceUse]:
    """Return the resources of the cluster, the scarcest first: those of which the largest part is requested."""
    return sorted(uses_of(node_infos(simulation)), key=lambda use: -use.whole.share)
