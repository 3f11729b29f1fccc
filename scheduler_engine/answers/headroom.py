"""How many more replicas of each workload fit, each alone, and which resource of the cluster runs out first.

Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scheduler_engine.answers.balance import ResourceUse, node_infos, uses_of
from scheduler_engine.answers.room import MOST_COPIES, Room, room
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation

WITH_TEMPLATE = ("Deployment", "ReplicaSet", "StatefulSet", "Job", "ReplicationController")
"""Kinds whose template can be copied, besides pods."""


@dataclass(frozen=True, slots=True)
class Headroom:
    """How many more replicas of a workload fit; ``room`` is None if that cannot be counted, ``problem`` says why."""

    kind: str
    key: str
    room: Room | None
    problem: str = ""


def owners(simulation: Simulation) -> Iterator[KubeObject]:
    """Yield the workloads that no other one owns, kind by kind."""
    for kind in WITH_TEMPLATE:
        for item in simulation.api.list(kind):
            if not item.metadata.get("ownerReferences") and not item.terminating:
                yield item


def headroom(simulation: Simulation, most: int = MOST_COPIES) -> Iterator[Headroom]:
    """Yield the headroom of each of the ``owners``.

    Replicas of a StatefulSet share the claims that its template names, and have none of its claim templates.
    """
    for item in owners(simulation):
        try:
            yield Headroom(item.kind, item.key, room(simulation, item.manifest, most))
        except Rejected as problem:
            # Nobody schedules its pods, for example. The others still have an answer.
            yield Headroom(item.kind, item.key, None, str(problem))


def scarcest(simulation: Simulation) -> list[ResourceUse]:
    """Return the resources of the cluster, the scarcest first: those of which the largest part is requested."""
    return sorted(uses_of(node_infos(simulation)), key=lambda use: -use.whole.share)
