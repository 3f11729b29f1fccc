"""Node conditions become taints, and pods on a failed node are not ready."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import Node
from scheduler_engine.api.taints import (
    DISK_PRESSURE,
    MEMORY_PRESSURE,
    NETWORK_UNAVAILABLE,
    NOT_READY,
    PID_PRESSURE,
    UNINITIALIZED,
    UNREACHABLE,
    UNSCHEDULABLE,
)
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

SCHEDULE, EXECUTE = "NoSchedule", "NoExecute"


def cluster(*manifests: dict[str, Any]) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply(manifests or (make_node("n1").obj(),)))
    simulation.execute(commands.Settle())
    return simulation


def condition(simulation: Simulation, kind: str, status: str) -> None:
    simulation.execute(commands.NodeCondition("n1", kind, status))


def taints(simulation: Simulation) -> list[tuple[str, str]]:
    node = simulation.api.get("Node", "n1")
    assert isinstance(node, Node)
    return [(taint.key, taint.effect) for taint in node.taints]


def ready(simulation: Simulation, key: str) -> str:
    pod = simulation.api.pod(key)
    assert pod is not None
    return next(item["status"] for item in pod.conditions if item["type"] == "Ready")


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("Ready", "False", [(NOT_READY, SCHEDULE), (NOT_READY, EXECUTE)]),
        ("Ready", "Unknown", [(UNREACHABLE, SCHEDULE), (UNREACHABLE, EXECUTE)]),
        ("Ready", "True", []),
        ("MemoryPressure", "True", [(MEMORY_PRESSURE, SCHEDULE)]),
        ("MemoryPressure", "Unknown", []),
        ("DiskPressure", "True", [(DISK_PRESSURE, SCHEDULE)]),
        ("PIDPressure", "True", [(PID_PRESSURE, SCHEDULE)]),
        ("NetworkUnavailable", "True", [(NETWORK_UNAVAILABLE, SCHEDULE)]),
        ("NetworkUnavailable", "False", []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_condition_means_a_taint_while_it_lasts(kind: str, status: str, expected: list[tuple[str, str]]) -> None:
    simulation = cluster()
    condition(simulation, kind, status)
    assert taints(simulation) == expected
    condition(simulation, kind, "True" if kind == "Ready" else "False")
    assert taints(simulation) == []


def test_a_node_that_falls_silent_changes_its_taints() -> None:
    simulation = cluster()
    condition(simulation, "Ready", "False")
    condition(simulation, "Ready", "Unknown")
    assert taints(simulation) == [(UNREACHABLE, SCHEDULE), (UNREACHABLE, EXECUTE)]


def test_a_cordoned_node_has_its_taint() -> None:
    simulation = cluster()
    simulation.execute(commands.Cordon("n1"))
    assert taints(simulation) == [(UNSCHEDULABLE, SCHEDULE)]
    simulation.execute(commands.Cordon("n1", on=False))
    assert taints(simulation) == []


def test_taints_that_are_not_built_in_or_whose_condition_is_not_reported_stay() -> None:
    node = make_node("n1").taint("dedicated").taint(UNINITIALIZED).taint(DISK_PRESSURE).taint(UNREACHABLE, "", EXECUTE)
    simulation = cluster(node.obj())
    condition(simulation, "MemoryPressure", "True")
    condition(simulation, "MemoryPressure", "False")
    held = [("dedicated", SCHEDULE), (UNINITIALIZED, SCHEDULE), (DISK_PRESSURE, SCHEDULE), (UNREACHABLE, EXECUTE)]
    assert taints(simulation) == held
    condition(simulation, "DiskPressure", "False")
    assert (DISK_PRESSURE, SCHEDULE) not in taints(simulation)


def test_a_no_execute_taint_says_since_when() -> None:
    simulation = cluster()
    simulation.execute(commands.Advance(60))
    condition(simulation, "Ready", "False")
    simulation.execute(commands.Advance(60))
    condition(simulation, "MemoryPressure", "True")
    node = simulation.api.get("Node", "n1")
    assert node is not None
    since = {(taint["key"], taint["effect"]): taint.get("timeAdded") for taint in node.spec["taints"]}
    assert since[NOT_READY, EXECUTE] == "2026-01-01T00:01:00Z"
    assert since[NOT_READY, SCHEDULE] is None


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_pods_on_a_broken_node_are_not_ready_until_it_is_back(status: str) -> None:
    simulation = cluster(make_node("n1").obj(), make_pod("p").node("n1").obj())
    assert ready(simulation, "default/p") == "True"
    condition(simulation, "Ready", status)
    assert ready(simulation, "default/p") == "False"
    condition(simulation, "Ready", "True")
    assert ready(simulation, "default/p") == "True"


def test_applying_the_node_again_keeps_its_conditions() -> None:
    simulation = cluster()
    condition(simulation, "Ready", "False")
    simulation.execute(commands.Apply((make_node("n1").label("disk", "ssd").obj(),)))
    assert taints(simulation) == [(NOT_READY, SCHEDULE), (NOT_READY, EXECUTE)]


def test_the_same_status_again_changes_nothing() -> None:
    simulation = cluster()
    condition(simulation, "Ready", "False")
    version = simulation.api.resource_version
    condition(simulation, "Ready", "False")
    assert simulation.api.resource_version == version


@pytest.mark.parametrize(
    "command",
    [
        commands.NodeCondition("n9", "Ready", "False"),
        commands.NodeCondition("n1", "Happy", "False"),
        commands.NodeCondition("n1", "Ready", "Perhaps"),
    ],
    ids=["a node that does not exist", "a condition that does not exist", "a status that does not exist"],
)
def test_a_wrong_condition_is_refused(command: commands.NodeCondition) -> None:
    with pytest.raises(Rejected):
        cluster().execute(command)
