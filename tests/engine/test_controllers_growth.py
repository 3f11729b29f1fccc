"""A change of one pod costs its owner and a copy the same, whether there are few others or many.

Cost is counted in calls, so that the machine does not matter.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from scheduler_engine import commands
from scheduler_engine.controllers import workload
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node
from tests.engine import controllers as world
from tests.engine.controllers import Manifest
from tests.engine.counting import calls
from tests.engine.soundness import pods_of_owners_are_indexed

FEW, MANY = 20, 120
MOST_GROWTH = 1.1
MOST_CALLS = 50
"""Calls of a StatefulSet for each pod that has not changed, in three checks."""

Make = Callable[[int], Manifest]
OWNERS: dict[str, Make] = {
    "a Job": lambda number: world.job("w", parallelism=number, completions=10 * number),
    "an Indexed Job": lambda number: world.job(
        "w", parallelism=number, completions=10 * number, completionMode="Indexed"
    ),
    "a ReplicaSet": lambda number: world.replica_set("w", number),
    "a Deployment": lambda number: world.deployment("w", number),
}


def parallel(number: int) -> Manifest:
    return world.stateful_set("w", number, podManagementPolicy="Parallel")


def refused(number: int) -> Manifest:
    """Return a StatefulSet that a quota keeps at ``number`` pods."""
    return world.stateful_set("w", number + 5, podManagementPolicy="Parallel")


READY: dict[str, Make] = {
    **OWNERS,
    "a StatefulSet": parallel,
    "a StatefulSet whose last pods are refused": refused,
    "a DaemonSet": lambda number: world.daemon_set("w"),
}


def running(make: Make, number: int) -> Simulation:
    """Return a simulation of ``number`` pods, each on its own node."""
    simulation = Simulation(full=False)
    nodes = [make_node(f"n{place}").capacity(cpu="150m").obj() for place in range(number)]
    world.apply(simulation, *nodes, make(number))
    simulation.execute(commands.Settle())
    assert [pod.phase for pod in world.pods(simulation)] == ["Running"] * number
    return simulation


def cost_of_an_ended_pod(make: Make, number: int) -> int:
    """Count the calls until everybody has seen that a pod has succeeded."""
    simulation = running(make, number)
    pod = world.pods(simulation)[number // 2]
    simulation.api.patch("Pod", pod.key, {"status": {"phase": "Succeeded"}})
    counted = calls(simulation.deliver)
    pods_of_owners_are_indexed(simulation)
    return counted


@pytest.mark.parametrize("make", OWNERS.values(), ids=OWNERS)
def test_the_end_of_a_pod_costs_the_same_beside_many(make: Make) -> None:
    assert cost_of_an_ended_pod(make, MANY) < MOST_GROWTH * cost_of_an_ended_pod(make, FEW)


def test_the_end_of_a_pod_of_a_stateful_set_costs_little_for_each_other_one() -> None:
    """It looks at every ordinal, but counts nothing again for its status."""
    growth = cost_of_an_ended_pod(parallel, MANY) - cost_of_an_ended_pod(parallel, FEW)
    assert growth <= MOST_CALLS * (MANY - FEW)


def cost_of_readiness(make: Make, number: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Count the calls until everybody has seen that a pod is not ready."""
    monkeypatch.setattr(workload, "MAX_PODS", number)
    simulation = running(make, number)
    pod = world.pods(simulation)[number // 2]
    conditions = [item | {"status": "False"} for item in pod.conditions if item["type"] == "Ready"]
    simulation.api.patch("Pod", pod.key, {"status": {"conditions": conditions}})
    return calls(simulation.deliver)


@pytest.mark.parametrize("make", READY.values(), ids=READY)
def test_the_readiness_of_a_pod_costs_the_same_beside_many(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (cost_of_readiness(make, number, monkeypatch) for number in (FEW, MANY))
    assert many < MOST_GROWTH * few


def test_a_copy_costs_the_same_if_an_owner_has_many_pods() -> None:
    few, many = (running(OWNERS["a Deployment"], number) for number in (FEW, MANY))
    assert calls(lambda: copy.deepcopy(many)) < MOST_GROWTH * calls(lambda: copy.deepcopy(few))
