"""What an owner leaves behind goes, too, and nothing else does."""

from __future__ import annotations

from typing import Any

from scheduler_engine.testing import make_pod
from tests.engine import controllers as world


def reference(name: str, uid: str, controller: bool = False) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": uid, "controller": controller}


def owned(name: str, *owners: tuple[str, str]) -> dict[str, Any]:
    references = [reference(*owner) for owner in owners]
    return make_pod(name).grace_period(0).metadata(ownerReferences=references).obj()


def test_what_names_the_owner_goes_with_it() -> None:
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


def test_who_was_let_go_stays() -> None:
    simulation = world.cluster(world.replica_set("a", 0))
    uid = world.find(simulation, "ReplicaSet", "a").uid
    world.apply(simulation, owned("p", ("a", uid)))
    world.apply(simulation, make_pod("p").grace_period(0).obj())
    world.delete(simulation, "ReplicaSet", "default/a")
    assert [pod.name for pod in world.pods(simulation)] == ["p"]
