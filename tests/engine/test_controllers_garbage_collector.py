"""An owner's dependents are deleted with it, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_pod
from tests.engine import controllers as world


def reference(name: str, uid: str, controller: bool = False) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": uid, "controller": controller}


def owned(name: str, *owners: tuple[str, str]) -> dict[str, Any]:
    references = [reference(*owner) for owner in owners]
    return make_pod(name).grace_period(0).metadata(ownerReferences=references).obj()


def test_dependents_are_deleted_with_the_owner() -> None:
    simulation = world.cluster(world.replica_set("a", 0))
    uid = world.find(simulation, "ReplicaSet", "a").uid
    world.apply(simulation, owned("p", ("a", uid)), make_pod("free").obj())
    world.delete(simulation, "ReplicaSet", "default/a")
    assert [pod.name for pod in world.pods(simulation)] == ["free"]


def test_with_another_owner_left_it_stays_until_that_goes() -> None:
    simulation = world.cluster(world.replica_set("a", 0), world.replica_set("b", 0))
    uids = {name: world.find(simulation, "ReplicaSet", name).uid for name in ("a", "b")}
    world.apply(simulation, owned("p", ("a", uids["a"]), ("b", uids["b"])))
    world.delete(simulation, "ReplicaSet", "default/a")
    (pod,) = world.pods(simulation)
    assert [item["name"] for item in pod.metadata["ownerReferences"]] == ["b"]
    world.delete(simulation, "ReplicaSet", "default/b")
    assert world.pods(simulation) == []


def test_an_owner_of_the_same_name_but_another_uid_is_another_owner() -> None:
    simulation = world.cluster(world.replica_set("a", 0))
    world.apply(simulation, owned("p", ("a", "some-other-uid")))
    world.delete(simulation, "ReplicaSet", "default/a")
    assert [pod.name for pod in world.pods(simulation)] == ["p"]


def test_a_released_dependent_stays() -> None:
    simulation = world.cluster(world.replica_set("a", 0))
    uid = world.find(simulation, "ReplicaSet", "a").uid
    world.apply(simulation, owned("p", ("a", uid)))
    world.apply(simulation, make_pod("p").grace_period(0).obj())
    world.delete(simulation, "ReplicaSet", "default/a")
    assert [pod.name for pod in world.pods(simulation)] == ["p"]


# --- foreground deletion, and orphans ---------------------------------------------------------------------------------


def delete(simulation: Simulation, kind: str, name: str, policy: str) -> None:
    simulation.execute(commands.Delete(kind, f"default/{name}", policy))


def there(simulation: Simulation, kind: str) -> list[str]:
    return [item.name for item in simulation.api.list(kind)]


def test_in_the_background_the_owner_goes_first() -> None:
    simulation = world.cluster(world.deployment("web", 2))
    world.run(simulation)
    delete(simulation, "Deployment", "web", "Background")
    assert there(simulation, "Deployment") == there(simulation, "ReplicaSet") == []
    assert [pod.terminating for pod in world.pods(simulation, gone=True)] == [True, True]


def test_in_the_foreground_each_owner_waits_for_its_dependents() -> None:
    simulation = world.cluster(world.deployment("web", 2))
    world.run(simulation)
    delete(simulation, "Deployment", "web", "Foreground")
    for kind in ("Deployment", "ReplicaSet"):
        (owner,) = simulation.api.list(kind)
        assert owner.terminating
        assert owner.metadata["finalizers"] == ["foregroundDeletion"]
        assert owner.status.get("readyReplicas") is None
        assert owner.status["observedGeneration"] == owner.metadata["generation"]
    assert [pod.terminating for pod in world.pods(simulation, gone=True)] == [True, True]
    world.advance(simulation, 29)
    assert there(simulation, "Deployment") == ["web"]
    world.advance(simulation, 1)
    assert there(simulation, "Deployment") == there(simulation, "ReplicaSet") == there(simulation, "Pod") == []


def test_a_stateful_set_that_waits_for_its_pods_reports_how_many_are_left() -> None:
    simulation = world.cluster(world.stateful_set("db", 2))
    world.run(simulation)
    delete(simulation, "StatefulSet", "db", "Foreground")
    status = world.find(simulation, "StatefulSet", "db").status
    assert (status["replicas"], status.get("readyReplicas"), status["availableReplicas"]) == (2, None, 0)
    world.advance(simulation, 30)
    assert there(simulation, "StatefulSet") == []


def test_an_owner_that_owns_nothing_goes_at_once_in_the_foreground_too() -> None:
    simulation = world.cluster(world.replica_set("a", 0))
    delete(simulation, "ReplicaSet", "a", "Foreground")
    assert there(simulation, "ReplicaSet") == []


def test_only_those_that_block_the_deletion_are_waited_for() -> None:
    simulation = world.cluster(world.replica_set("a", 0))
    uid = world.find(simulation, "ReplicaSet", "a").uid
    free = make_pod("free").metadata(ownerReferences=[reference("a", uid)]).obj()
    world.apply(simulation, free)
    world.run(simulation)
    delete(simulation, "ReplicaSet", "a", "Foreground")
    assert there(simulation, "ReplicaSet") == []
    (pod,) = world.pods(simulation, gone=True)
    assert pod.terminating


def test_a_dependent_with_another_owner_is_not_deleted_in_the_foreground() -> None:
    simulation = world.cluster(world.replica_set("a", 0), world.replica_set("b", 0))
    uids = {name: world.find(simulation, "ReplicaSet", name).uid for name in ("a", "b")}
    blocking = [{**reference(name, uid), "blockOwnerDeletion": True} for name, uid in uids.items()]
    world.apply(simulation, make_pod("p").metadata(ownerReferences=blocking).obj())
    delete(simulation, "ReplicaSet", "a", "Foreground")
    assert there(simulation, "ReplicaSet") == ["b"]
    (pod,) = world.pods(simulation)
    assert [item["name"] for item in pod.metadata["ownerReferences"]] == ["b"]


def test_orphans_stay_without_their_owner_until_another_one_adopts_them() -> None:
    simulation = world.cluster(world.replica_set("web", 2))
    world.run(simulation)
    names = there(simulation, "Pod")
    delete(simulation, "ReplicaSet", "web", "Orphan")
    assert there(simulation, "ReplicaSet") == []
    assert [pod.controller_ref for pod in world.pods(simulation)] == [None, None]
    world.apply(simulation, world.replica_set("web", 2))
    assert there(simulation, "Pod") == names
    uid = world.find(simulation, "ReplicaSet", "web").uid
    assert [(pod.controller_ref or {}).get("uid") for pod in world.pods(simulation)] == [uid, uid]


def test_a_second_request_may_let_it_go_at_once() -> None:
    simulation = world.cluster(world.replica_set("web", 1))
    world.run(simulation)
    delete(simulation, "ReplicaSet", "web", "Foreground")
    assert there(simulation, "ReplicaSet") == ["web"]
    delete(simulation, "ReplicaSet", "web", "Background")
    assert there(simulation, "ReplicaSet") == []


def test_an_owner_that_is_on_its_way_out_makes_nothing_new() -> None:
    simulation = world.cluster(world.replica_set("web", 1))
    world.run(simulation)
    delete(simulation, "ReplicaSet", "web", "Foreground")
    world.scale(simulation, "ReplicaSet", "web", 3)
    assert len(there(simulation, "Pod")) == 1


def test_an_unknown_policy_is_refused() -> None:
    simulation = world.cluster(world.replica_set("web", 0))
    with pytest.raises(Rejected, match="propagationPolicy: must be Background, Foreground, Orphan"):
        delete(simulation, "ReplicaSet", "web", "Sideways")


def test_the_log_and_the_summary_name_the_policy() -> None:
    command = commands.Delete("ReplicaSet", "default/web", "Orphan")
    assert commands.from_json(commands.to_json(command)) == command
    assert command.summary == "delete ReplicaSet default/web (Orphan)"
    older = commands.from_json({"kind": "delete", "object_kind": "Pod", "key": "default/p"})
    assert older.summary == "delete Pod default/p"
