"""How many more replicas of each workload fit, each alone, and which resource of the cluster runs out first.

Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from scheduler_engine.answers.balance import ResourceUse, node_infos, uses_of
from scheduler_engine.answers.room import MOST_COPIES, Room, place_copies, result_of
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation

WITH_TEMPLATE = ("Deployment", "ReplicaSet", "StatefulSet", "Job", "ReplicationController")
"""Kinds whose template can be copied, besides pods."""
ENDED = ("Complete", "Failed")
"""Conditions of a Job that has ended."""


@dataclass(frozen=True, slots=True)
class Headroom:
    """How many more replicas of a workload fit; ``room`` is None if that cannot be counted, ``problem`` says why."""

    kind: str
    key: str
    room: Room | None
    problem: str = ""


def owners(simulation: Simulation) -> Iterator[KubeObject]:
    """Yield the workloads that may still have more pods and that no other one owns, kind by kind."""
    for kind in WITH_TEMPLATE:
        for item in simulation.api.list(kind):
            if not (item.metadata.get("ownerReferences") or item.terminating or _has_ended(item)):
                yield item


def _has_ended(item: KubeObject) -> bool:
    """Return True for a Job that makes no more pods."""
    return any(item.condition_status(kind) == "True" for kind in ENDED)


def headroom(simulation: Simulation, most: int = MOST_COPIES) -> Iterator[Headroom]:
    """Yield the headroom of each of the ``owners``."""
    for item in owners(simulation):
        yield result_of(headroom_of(simulation, item, most))


def headroom_of(simulation: Simulation, item: KubeObject, most: int) -> Generator[str, None, Headroom]:
    """Yield the node of each replica that fits, one after the other, and return the headroom of a workload.

    Each replica of a StatefulSet gets new claims by its claim templates. A real one takes those that an earlier replica
    with its number has left, if there are some.
    """
    try:
        found = yield from place_copies(simulation, item.manifest, most)
    except Rejected as problem:
        # Nobody schedules its pods, for example. The others still have an answer.
        return Headroom(item.kind, item.key, None, str(problem))
    return Headroom(item.kind, item.key, found)


def idle(simulation: Simulation, item: KubeObject) -> str:
    """Return why a workload makes no pods, whatever its number says: ``paused`` or ``suspended``; "" if it makes some.

    A paused Deployment still scales the ReplicaSets that it has.
    """
    if item.kind == "Job" and item.spec.get("suspend"):
        return "suspended"
    sets = simulation.api.list("ReplicaSet", item.namespace)
    is_paused = item.kind == "Deployment" and item.spec.get("paused")
    return "paused" if is_paused and not any(_owner(held) == item.uid for held in sets) else ""


def _owner(item: KubeObject) -> str:
    return str((item.controller_ref or {}).get("uid", ""))


def scarcest(simulation: Simulation) -> list[ResourceUse]:
    """Return the resources of the cluster, the scarcest first: those of which the largest part is requested."""
    return sorted(uses_of(node_infos(simulation)), key=lambda use: -use.whole.share)
