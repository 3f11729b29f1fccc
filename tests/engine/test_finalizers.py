"""Finalizers: an object with one stays after its deletion until the finalizer is removed."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_budget, make_node, make_pod, make_priority_class

OURS = "example.com/backup"
KEY = "default/p"


def held(*names: str, **spec: Any) -> dict[str, Any]:
    return make_pod("p").cpu("2").metadata(finalizers=list(names)).grace_period(5).spec(**spec).obj()


def cluster(*manifests: dict[str, Any]) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").capacity(cpu="2", memory="4Gi", pods="5").obj(), *manifests)))
    simulation.execute(commands.Settle())
    return simulation


def stored_object(simulation: Simulation, kind: str = "Pod", key: str = KEY) -> KubeObject:
    item = simulation.api.get(kind, key)
    assert item is not None
    return item


def take_off(simulation: Simulation, kind: str = "Pod", key: str = KEY, *left: str) -> None:
    simulation.execute(commands.Patch(kind, key, {"metadata": {"finalizers": list(left) or None}}))


def test_a_pod_ends_after_its_grace_period_and_stays_terminating() -> None:
    simulation = cluster(held(OURS))
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Advance(4))
    assert stored_object(simulation).status["phase"] == "Running"
    simulation.execute(commands.Advance(60))
    pod = stored_object(simulation)
    assert (pod.terminating, pod.status["phase"]) == (True, "Succeeded")
    assert pod.metadata["deletionGracePeriodSeconds"] == 0
    assert pod.metadata["finalizers"] == [OURS]
    take_off(simulation)
    assert simulation.api.get("Pod", KEY) is None


def test_it_leaves_its_room_when_it_has_ended() -> None:
    simulation = cluster(held(OURS))
    simulation.execute(commands.Apply((make_pod("next").cpu("2").obj(),)))
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Advance(60))
    assert stored_object(simulation, key="default/next").spec["nodeName"] == "n1"
    assert stored_object(simulation).terminating


def test_a_finalizer_removed_in_time_changes_nothing() -> None:
    simulation = cluster(held(OURS))
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Advance(2))
    take_off(simulation)
    assert stored_object(simulation).status["phase"] == "Running"
    simulation.execute(commands.Advance(3))
    assert simulation.api.get("Pod", KEY) is None


def test_each_of_several_holds() -> None:
    simulation = cluster(held(OURS, "example.com/audit"))
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Advance(10))
    take_off(simulation, "Pod", KEY, "example.com/audit")
    assert stored_object(simulation).metadata["finalizers"] == ["example.com/audit"]
    take_off(simulation)
    assert simulation.api.get("Pod", KEY) is None


def test_a_pod_without_a_node_stays_too_and_is_not_scheduled() -> None:
    simulation = cluster(held(OURS, nodeSelector={"disk": "ssd"}))
    simulation.execute(commands.Delete("Pod", KEY))
    assert stored_object(simulation).terminating
    simulation.execute(commands.Apply((make_node("n2").label("disk", "ssd").obj(),)))
    simulation.execute(commands.Advance(120))
    assert (stored_object(simulation).spec.get("nodeName"), stored_object(simulation).status["phase"]) == (
        None,
        "Failed",
    )
    take_off(simulation)
    assert simulation.api.get("Pod", KEY) is None


def test_its_owner_makes_another_one() -> None:
    simulation = cluster()
    template = {"metadata": {"labels": {"app": "web"}, "finalizers": [OURS]}, "spec": held()["spec"]}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    metadata = {"name": "web", "namespace": "default"}
    simulation.execute(
        commands.Apply(({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec},))
    )
    simulation.execute(commands.Settle())
    (first,) = simulation.api.pods()
    simulation.execute(commands.Delete("Pod", first.key))
    simulation.execute(commands.Advance(30))
    assert [(pod.terminating, pod.phase) for pod in simulation.api.pods()] == [(True, "Succeeded"), (False, "Running")]


@pytest.mark.parametrize(
    ("manifest", "kind", "key"),
    [
        (make_node("n2").obj(), "Node", "n2"),
        (make_priority_class("high", 1000), "PriorityClass", "high"),
        (make_budget("guard", {"app": "web"}, minAvailable=1), "PodDisruptionBudget", "default/guard"),
    ],
)
def test_so_do_objects_of_other_kinds(manifest: dict[str, Any], kind: str, key: str) -> None:
    changed = {**manifest, "metadata": {**manifest["metadata"], "finalizers": [OURS]}}
    simulation = cluster(changed)
    simulation.execute(commands.Delete(kind, key))
    simulation.execute(commands.Advance(60))
    assert stored_object(simulation, kind, key).terminating
    take_off(simulation, kind, key)
    assert simulation.api.get(kind, key) is None


@pytest.mark.parametrize("name", ["kubernetes.io/pvc-protection", "batch.kubernetes.io/job-tracking"])
def test_finalizers_of_missing_controllers_hold_nothing(name: str) -> None:
    simulation = cluster(held(name))
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Advance(5))
    assert simulation.api.get("Pod", KEY) is None


@pytest.mark.parametrize("kind", ["Pod", "Node"])
def test_applying_without_the_last_finalizer_deletes_the_object(kind: str) -> None:
    builder = make_pod("x") if kind == "Pod" else make_node("x")
    key = "default/x" if kind == "Pod" else "x"
    simulation = cluster(builder.obj() | {"metadata": {**builder.obj()["metadata"], "finalizers": [OURS]}})
    simulation.execute(commands.Delete(kind, key))
    simulation.execute(commands.Advance(60))
    assert stored_object(simulation, kind, key).terminating
    simulation.execute(commands.Apply((builder.obj(),)))
    assert simulation.api.get(kind, key) is None
    simulation.execute(commands.Apply((builder.obj(),)))
    assert not stored_object(simulation, kind, key).terminating


def test_a_daemon_pod_that_has_ended_and_is_held_is_replaced() -> None:
    labels = {"app": "d"}
    template = {
        "metadata": {"labels": labels, "finalizers": [OURS]},
        "spec": {"terminationGracePeriodSeconds": 5, "containers": [{"name": "main", "image": "pause"}]},
    }
    daemons = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    simulation = cluster(daemons)
    first = simulation.api.pods()[0]
    simulation.execute(commands.Delete("Pod", first.key))
    simulation.execute(commands.Advance(4))
    assert len(simulation.api.pods()) == 1
    simulation.execute(commands.Advance(6))
    assert {pod.uid == first.uid: pod.phase for pod in simulation.api.pods()} == {True: "Succeeded", False: "Running"}
    assert stored_object(simulation, "DaemonSet", "default/d").status["numberAvailable"] == 1
