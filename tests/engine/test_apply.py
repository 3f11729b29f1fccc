"""Apply a manifest again: its fields win, fields it dropped are removed, and fields written by others stay."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine import controllers as world

Manifest = dict[str, Any]


def without(manifest: Manifest, field: str) -> Manifest:
    """Return the manifest without one field of its spec."""
    return {**manifest, "spec": {name: value for name, value in manifest["spec"].items() if name != field}}


def web(**fields: Any) -> Manifest:
    return without(world.deployment("web", 0, **fields), "replicas")


def deployment(simulation: Simulation) -> KubeObject:
    return world.find(simulation, "Deployment", "web")


def test_a_scaled_deployment_keeps_its_size_when_the_manifest_does_not_name_one() -> None:
    simulation = world.cluster(web())
    world.scale(simulation, "Deployment", "web", 3)
    world.apply(simulation, web(image="registry.example/app:2"))
    assert deployment(simulation).spec["replicas"] == 3
    (container,) = deployment(simulation).spec["template"]["spec"]["containers"]
    assert container["image"] == "registry.example/app:2"


def test_a_size_that_the_manifest_names_counts_again() -> None:
    simulation = world.cluster(world.deployment("web", 2))
    world.scale(simulation, "Deployment", "web", 3)
    world.apply(simulation, world.deployment("web", 2))
    assert deployment(simulation).spec["replicas"] == 2


def test_a_size_that_the_manifest_no_longer_names_goes_back_to_the_default() -> None:
    simulation = world.cluster(world.deployment("web", 2))
    world.scale(simulation, "Deployment", "web", 3)
    world.apply(simulation, web())
    assert deployment(simulation).spec["replicas"] == 1


def test_another_strategy_does_not_inherit_the_defaults_of_the_old_one() -> None:
    simulation = world.cluster(web())
    assert deployment(simulation).spec["strategy"]["rollingUpdate"]
    world.apply(simulation, web(strategy={"type": "Recreate"}))
    assert deployment(simulation).spec["strategy"] == {"type": "Recreate"}


def test_a_field_set_to_null_is_removed() -> None:
    simulation = world.cluster(web(minReadySeconds=5))
    world.apply(simulation, web(minReadySeconds=None))
    assert "minReadySeconds" not in deployment(simulation).spec


def test_the_same_manifest_twice_writes_nothing() -> None:
    simulation = world.cluster(web(), world.stateful_set("db", 1), world.job("sum"), make_pod("p").obj())
    world.run(simulation)
    version = simulation.api.resource_version
    world.apply(simulation, web(), world.stateful_set("db", 1), world.job("sum"), make_pod("p").obj())
    assert simulation.api.resource_version == version


def test_a_node_stays_cordoned_and_keeps_other_writers_fields() -> None:
    simulation = world.cluster(nodes=1)
    simulation.execute(commands.Cordon("n1"))
    simulation.execute(commands.Usage(node="n1", memory="1Gi"))
    world.apply(simulation, make_node("n1").zone("b").label("new", "yes").obj())
    node = simulation.api.get("Node", "n1")
    assert node is not None
    assert node.spec["unschedulable"]
    assert node.annotations == {"sandbox/usage-memory": "1Gi"}
    assert (node.labels["new"], node.labels["topology.kubernetes.io/zone"]) == ("yes", "b")


def test_another_capacity_brings_another_allocatable() -> None:
    simulation = Simulation()
    world.apply(simulation, make_node("n1").capacity(cpu="2").obj())
    world.apply(simulation, make_node("n1").capacity(cpu="8").obj())
    node = simulation.api.get("Node", "n1")
    assert node is not None
    assert node.status["allocatable"]["cpu"] == "8"


def test_labels_that_were_applied_go_and_others_stay() -> None:
    simulation = world.cluster(make_pod("p").label("app", "a").label("old", "yes").obj())
    simulation.api.patch("Pod", "default/p", {"metadata": {"labels": {"by-others": "yes"}}})
    simulation.deliver()
    world.apply(simulation, make_pod("p").label("app", "b").obj())
    (pod,) = world.pods(simulation)
    assert pod.labels == {"app": "b", "by-others": "yes"}


def test_an_object_that_was_never_applied_is_replaced() -> None:
    simulation = world.cluster(world.replica_set("web", 1))
    (pod,) = world.pods(simulation)
    labels = {**pod.manifest["metadata"], "labels": {"app": "other"}}
    world.apply(simulation, {**pod.manifest, "metadata": labels})
    assert sorted(item.labels["app"] for item in world.pods(simulation)) == ["other", "web"]


def test_the_last_applied_state_of_an_earlier_object_of_that_name_is_forgotten() -> None:
    simulation = world.cluster(world.deployment("web", 2))
    world.delete(simulation, "Deployment", "default/web")
    assert len(simulation.api.applied) == 3, "the nodes remain"
    world.apply(simulation, web())
    world.scale(simulation, "Deployment", "web", 4)
    world.apply(simulation, web())
    assert deployment(simulation).spec["replicas"] == 4


def test_a_refused_apply_counts_as_none() -> None:
    simulation = world.cluster(web())
    world.scale(simulation, "Deployment", "web", 3)
    with pytest.raises(Rejected):
        world.apply(simulation, world.deployment("web", 5), make_pod("p", "nowhere").obj())
    world.apply(simulation, web())
    assert deployment(simulation).spec["replicas"] == 3


# --- generations ------------------------------------------------------------------------------------------------------


def test_a_generation_counts_changes_of_the_spec() -> None:
    simulation = world.cluster(world.deployment("web", 1))
    world.run(simulation)
    observed = []
    for command in (
        commands.Scale("Deployment", "default/web", 2),
        commands.Scale("Deployment", "default/web", 2),
        commands.Apply((world.deployment("web", 2, image="registry.example/app:2"),)),
    ):
        simulation.execute(command)
        world.run(simulation)
        observed.append(deployment(simulation).metadata["generation"])
        assert deployment(simulation).status["observedGeneration"] == observed[-1]
    assert observed == [2, 2, 3]


def test_the_end_of_an_object_is_a_generation_too() -> None:
    simulation = world.cluster(make_pod("p").obj())
    world.run(simulation)
    (pod,) = world.pods(simulation)
    assert (pod.metadata["generation"], pod.status["observedGeneration"]) == (1, 1)
    world.delete(simulation, "Pod", "default/p")
    (pod,) = world.pods(simulation, gone=True)
    assert pod.metadata["generation"] == 2


def test_a_manifests_own_generation_is_ignored() -> None:
    simulation = world.cluster(make_pod("p").metadata(generation=7).obj(), make_node("n9").metadata(generation=7).obj())
    (pod,) = world.pods(simulation)
    node = simulation.api.get("Node", "n9")
    assert node is not None
    assert pod.metadata["generation"] == 1
    assert "generation" not in node.metadata
