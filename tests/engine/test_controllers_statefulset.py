"""Stateful sets: ordinals, order, claims, updates from the highest ordinal down."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.simulation import Simulation
from tests.engine import controllers as world

OLD, NEW = "registry.example/app:1", "registry.example/app:2"


def names(simulation: Simulation, gone: bool = True) -> list[str]:
    return sorted(pod.name for pod in world.pods(simulation, "db", gone))


def images(simulation: Simulation) -> dict[str, str]:
    return {pod.name: pod.containers[0]["image"] for pod in world.pods(simulation, "db")}


def claims(name: str = "data") -> list[dict[str, Any]]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return [{"metadata": {"name": name}, "spec": spec}]


def test_each_pod_waits_for_the_one_before() -> None:
    simulation = world.cluster(world.stateful_set("db", 3))
    assert names(simulation) == ["db-0"]
    stages = [names(simulation)]
    while simulation.step():
        if names(simulation) != stages[-1]:
            stages.append(names(simulation))
    world.run(simulation)
    assert stages[:2] == [["db-0"], ["db-0", "db-1"]] or stages == [["db-0"]]
    assert names(simulation) == ["db-0", "db-1", "db-2"]
    created = [pod.key for pod in world.pods(simulation, "db")]
    assert created == ["default/db-0", "default/db-1", "default/db-2"]
    assert world.events(simulation, "StatefulSet", "db") == [
        f"SuccessfulCreate: create Pod db-{number} in StatefulSet db successful" for number in range(3)
    ]


def test_a_pod_that_fits_nowhere_holds_up_those_after_it_unless_they_are_parallel() -> None:
    simulation = world.cluster(world.stateful_set("db", 3, cpu="64"))
    world.run(simulation)
    assert names(simulation) == ["db-0"]
    parallel = world.cluster(world.stateful_set("db", 3, cpu="64", podManagementPolicy="Parallel"))
    assert names(parallel) == ["db-0", "db-1", "db-2"]


def test_pods_carry_their_number_and_the_revision() -> None:
    simulation = world.cluster(world.stateful_set("db", 1, ordinals={"start": 5}))
    (pod,) = world.pods(simulation, "db")
    owner = world.find(simulation, "StatefulSet", "db")
    assert pod.name == "db-5"
    assert pod.labels == {
        "app": "db",
        "statefulset.kubernetes.io/pod-name": "db-5",
        "apps.kubernetes.io/pod-index": "5",
        "controller-revision-hash": owner.status["updateRevision"],
    }
    assert (pod.spec["hostname"], pod.spec["subdomain"]) == ("db-5", "db")


def test_scaling_down_ends_the_highest_numbers_one_after_the_other() -> None:
    simulation = world.cluster(world.stateful_set("db", 3))
    world.run(simulation)
    world.scale(simulation, "StatefulSet", "db", 1)
    assert names(simulation, gone=False) == ["db-0", "db-1"]
    world.advance(simulation, 29)
    assert names(simulation, gone=False) == ["db-0", "db-1"]
    world.advance(simulation, 10)
    assert names(simulation, gone=False) == ["db-0"]
    world.advance(simulation, 60)
    status = world.find(simulation, "StatefulSet", "db").status
    assert (status["replicas"], status["readyReplicas"], status["availableReplicas"]) == (1, 1, 1)


def test_a_deleted_pod_comes_back_under_its_name() -> None:
    simulation = world.cluster(world.stateful_set("db", 2))
    world.run(simulation)
    before = world.find(simulation, "Pod", "db-0").uid
    world.delete(simulation, "Pod", "default/db-0")
    world.advance(simulation, 60)
    assert names(simulation) == ["db-0", "db-1"]
    assert world.find(simulation, "Pod", "db-0").uid != before


def test_a_failed_pod_is_replaced() -> None:
    simulation = world.cluster(world.stateful_set("db", 1))
    world.run(simulation)
    (pod,) = world.pods(simulation, "db")
    world.end(simulation, pod, "Failed")
    world.run(simulation)
    assert [item.phase for item in world.pods(simulation, "db")] == ["Running"]
    text = "RecreatingFailedPod: StatefulSet default/db is recreating failed Pod db-0"
    assert text in world.events(simulation, "StatefulSet", "db")


def test_every_pod_gets_its_own_claims_which_stay() -> None:
    simulation = world.cluster(
        world.stateful_set("db", 2, podManagementPolicy="Parallel", volumeClaimTemplates=claims())
    )
    held = [item.name for item in simulation.api.list("PersistentVolumeClaim")]
    assert held == ["data-db-0", "data-db-1"]
    assert [pod.claim_names for pod in world.pods(simulation, "db")] == [("data-db-0",), ("data-db-1",)]
    assert world.find(simulation, "PersistentVolumeClaim", "data-db-0").labels == {"app": "db"}
    world.delete(simulation, "StatefulSet", "default/db")
    world.advance(simulation, 60)
    assert names(simulation) == []
    assert [item.name for item in simulation.api.list("PersistentVolumeClaim")] == held


def test_an_update_goes_from_the_highest_number_down() -> None:
    simulation = world.cluster(world.stateful_set("db", 3, image=OLD))
    world.run(simulation)
    world.apply(simulation, world.stateful_set("db", 3, image=NEW))
    assert names(simulation, gone=False) == ["db-0", "db-1"]
    world.advance(simulation, 31)
    assert images(simulation)["db-2"] == NEW
    assert images(simulation)["db-0"] == OLD
    world.advance(simulation, 200)
    assert set(images(simulation).values()) == {NEW}
    status = world.find(simulation, "StatefulSet", "db").status
    assert status["currentRevision"] == status["updateRevision"]


def test_below_the_partition_pods_stay_and_come_back_as_they_were() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    simulation = world.cluster(world.stateful_set("db", 3, image=OLD, updateStrategy=strategy))
    world.run(simulation)
    world.apply(simulation, world.stateful_set("db", 3, image=NEW, updateStrategy=strategy))
    world.advance(simulation, 200)
    world.delete(simulation, "Pod", "default/db-0")
    world.advance(simulation, 200)
    assert images(simulation) == {"db-0": OLD, "db-1": OLD, "db-2": NEW}


def test_a_taken_name_is_reported_and_retried() -> None:
    simulation = world.cluster()
    taken = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "db-0"}, "spec": world.template("x")["spec"]}
    world.apply(simulation, taken, world.stateful_set("db", 1))
    assert world.events(simulation, "StatefulSet", "db") == [
        'FailedCreate: create Pod db-0 in StatefulSet db failed error: pods "db-0" already exists'
    ]
    world.delete(simulation, "Pod", "default/db-0")
    assert names(simulation) == ["db-0"]


@pytest.mark.parametrize(("start", "updated"), [(5, {"db-7"}), (1, {"db-3"})])
def test_a_partition_counts_from_the_first_ordinal(start: int, updated: set[str]) -> None:
    fields = {
        "ordinals": {"start": start},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
    }
    simulation = world.cluster(world.stateful_set("db", 3, image=OLD, **fields))
    world.run(simulation)
    world.apply(simulation, world.stateful_set("db", 3, image=NEW, **fields))
    world.advance(simulation, 300)
    assert {name for name, image in images(simulation).items() if image == NEW} == updated
