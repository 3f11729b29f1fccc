"""How many more replicas of each workload fit, each alone, and which resource of the cluster runs out first.

Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scheduler_engine.answers.looking import scratch
from scheduler_engine.answers.room import MOST_COPIES, Room, room
from scheduler_engine.api.pod_resources import Resource
from scheduler_engine.framework.facts import Amount
from scheduler_engine.simulation import Simulation

WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "Job", "ReplicationController")


@dataclass(frozen=True, slots=True)
class Supply:
    """One resource of all nodes: in millicores of cpu, bytes of memory and storage, whole units otherwise."""

    requested: Amount
    allocatable: Amount

    @property
    def share(self) -> float:
        """Return the requested part, from 0."""
        return self.requested.number / self.allocatable.number


def headroom(simulation: Simulation, most: int = MOST_COPIES) -> Iterator[tuple[str, str, Room]]:
    """Yield (kind, key, room for more replicas) of each workload that no other one owns, kind by kind.

    Replicas of a StatefulSet share the claims that its template names, and have none of its claim templates.
    """
    for kind in WORKLOADS:
        for item in simulation.api.list(kind):
            if not item.metadata.get("ownerReferences") and not item.terminating:
                yield kind, item.key, room(simulation, item.manifest, most)


def supplies(simulation: Simulation) -> tuple[Supply, ...]:
    """Return the resources of the cluster, the scarcest first: those of which the largest part is requested."""
    twin = scratch(simulation)
    scheduler = twin.scheduler
    scheduler.cache.update_snapshot(scheduler.snapshot, scheduler.cycle_count)
    requested: dict[str, int] = {}
    allocatable: dict[str, int] = {}
    for info in scheduler.snapshot.list():
        _add(requested, info.requested, len(info.pods))
        _add(allocatable, info.allocatable, info.allocatable.allowed_pod_number)
    rows = [
        Supply(Amount(name, requested.get(name, 0)), Amount(name, total))
        for name, total in allocatable.items()
        if total
    ]
    return tuple(sorted(rows, key=lambda row: -row.share))


def _add(totals: dict[str, int], amounts: Resource, pods: int) -> None:
    numbers = {
        "cpu": amounts.milli_cpu,
        "memory": amounts.memory,
        "ephemeral-storage": amounts.ephemeral_storage,
        "pods": pods,
        **amounts.scalar,
    }
    for name, number in numbers.items():
        totals[name] = totals.get(name, 0) + number
