"""Pods that nobody can end any more are collected in the end, and their owners replace them."""

from __future__ import annotations

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import Pod
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import ObjectDeleted, ObjectModified
from tests.engine import controllers as world

LATER = 7
"""Seconds until the node is deleted, between two collections."""


def lost_node(*manifests: world.Manifest, nodes: int = 2) -> Simulation:
    """Run everything on n1 (n2 is cordoned until then), and delete n1 at 7 s."""
    simulation = world.cluster(nodes=nodes)
    if nodes > 1:
        simulation.execute(commands.Cordon("n2"))
    world.apply(simulation, *manifests)
    world.advance(simulation, LATER)
    world.delete(simulation, "Node", "n1")
    if nodes > 1:
        simulation.execute(commands.Cordon("n2", on=False))
    return simulation


def test_pods_of_a_lost_node_go_after_a_quarantine_of_40_s() -> None:
    simulation = lost_node(make_pod("p").obj())
    world.advance(simulation, 52.9)
    assert [pod.node_name for pod in world.pods(simulation)] == ["n1"], "known as missing since 20 s"
    world.advance(simulation, 0.1)
    assert world.pods(simulation, gone=True) == []


def test_they_end_as_failed_with_the_reason() -> None:
    simulation = lost_node(make_pod("p").obj())
    world.advance(simulation, 60)
    events = [entry.event for entry in simulation.recorder.entries]
    last = [event for event in events if isinstance(event, ObjectModified) and event.key == "default/p"][-1]
    pod = Pod(last.manifest)
    assert pod.phase == "Failed"
    (condition,) = [item for item in pod.conditions if item["type"] == "DisruptionTarget"]
    assert (condition["reason"], condition["message"]) == ("DeletionByPodGC", "PodGC: node no longer exists")


def test_their_owner_replaces_them() -> None:
    simulation = lost_node(world.deployment("web", 2))
    world.advance(simulation, 60)
    assert [pod.node_name for pod in world.pods(simulation)] == ["n2", "n2"]


def test_a_pod_of_a_job_counts_as_failed() -> None:
    simulation = lost_node(world.job("sum", annotations={"sandbox/duration": "1000"}))
    world.advance(simulation, 60)
    assert world.find(simulation, "Job", "sum").status["failed"] == 1


def test_a_node_that_comes_back_in_time_keeps_its_pods() -> None:
    simulation = lost_node(make_pod("p").obj())
    world.advance(simulation, 40)
    world.apply(simulation, make_node("n1").obj())
    world.advance(simulation, 600)
    assert [(pod.name, pod.phase) for pod in world.pods(simulation)] == [("p", "Running")]


def test_a_node_that_goes_a_second_time_has_its_quarantine_again() -> None:
    simulation = lost_node(make_pod("p").obj())
    world.advance(simulation, 40)
    world.apply(simulation, make_node("n1").obj())
    world.advance(simulation, 40)
    world.delete(simulation, "Node", "n1")
    world.advance(simulation, 40)
    assert len(world.pods(simulation)) == 1
    world.advance(simulation, 20)
    assert world.pods(simulation) == []


def test_a_pod_on_an_unknown_node_is_deleted_too() -> None:
    simulation = world.cluster(make_pod("p").node("n9").obj())
    world.advance(simulation, 59)
    assert len(world.pods(simulation)) == 1
    world.advance(simulation, 1)
    assert world.pods(simulation) == []


def test_a_pod_that_is_deleted_on_a_lost_node_waits_for_the_collector() -> None:
    simulation = lost_node(make_pod("p").obj())
    world.delete(simulation, "Pod", "default/p")
    world.advance(simulation, 31)
    (pod,) = world.pods(simulation, gone=True)
    assert pod.terminating
    world.advance(simulation, 30)
    assert world.pods(simulation, gone=True) == []


def test_finished_pods_keep_their_phase() -> None:
    done = make_pod("p").spec(restartPolicy="Never").annotation("sandbox/duration", "1").obj()
    simulation = lost_node(done)
    world.advance(simulation, 60)
    events = [entry.event for entry in simulation.recorder.entries]
    phases = [
        event.manifest["status"]["phase"]
        for event in events
        if isinstance(event, ObjectModified) and event.key == "default/p"
    ]
    assert phases[-1] == "Succeeded"
    assert world.pods(simulation) == []


@pytest.mark.parametrize(
    ("status", "tainted", "left"),
    [
        pytest.param("Unknown", True, [], id="a terminating pod on a silent node out of service is deleted"),
        pytest.param("Unknown", False, ["p"], id="without the taint it waits for its kubelet"),
    ],
)
def test_nodes_out_of_service(status: str, tainted: bool, left: list[str]) -> None:
    simulation = world.cluster(make_pod("p").obj(), nodes=1)
    world.run(simulation)
    simulation.execute(commands.NodeCondition("n1", "Ready", status))
    world.delete(simulation, "Pod", "default/p")
    world.advance(simulation, 100)
    assert [pod.name for pod in world.pods(simulation, gone=True)] == ["p"]
    if tainted:
        world.apply(simulation, make_node("n1").taint("node.kubernetes.io/out-of-service", "", "NoExecute").obj())
    world.advance(simulation, 20)
    assert [pod.name for pod in world.pods(simulation, gone=True)] == left


def ticks(simulation: Simulation) -> list[bool]:
    """Return, for each coming collection, whether it is housekeeping."""
    timers = simulation.timeline.timers
    return [timer.housekeeping for timer in timers if timer.callback.__name__ == "collect"]


def test_nothing_ticks_while_there_is_nothing_to_collect() -> None:
    simulation = world.cluster(world.deployment("web", 2))
    world.run(simulation)
    assert ticks(simulation) == []
    world.delete(simulation, "Node", "n3")
    assert ticks(simulation) == [True], "the pod there must be collected"
    world.run(simulation)
    assert simulation.now_us == 0, "a run does not wait for the collector"
    world.advance(simulation, 100)
    assert ticks(simulation) == []


def test_pods_that_come_back_to_a_missing_node_have_a_quarantine_each() -> None:
    simulation = world.cluster(world.replica_set("web", 50, pod={"nodeName": "gone"}), nodes=1)
    before = len(simulation.recorder.entries)
    world.advance(simulation, 3600)
    events = [(entry.at_us, entry.event) for entry in simulation.recorder.entries]
    rounds = sorted({at_us // 10**6 for at_us, event in events if isinstance(event, ObjectDeleted)})
    assert rounds[:4] == [60, 100, 140, 180]
    assert len(simulation.recorder.entries) - before < 40_000, "one count is twice the other"
