"""Generic ephemeral volumes: the claim is created for the pod, and deleted with it."""

from __future__ import annotations

from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import Builder, make_pod
from tests.engine import controllers as world

CLASS = {
    **Builder("storage.k8s.io/v1", "StorageClass", "cloud").obj(),
    "provisioner": "csi.example.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}
SPEC = {
    "accessModes": ["ReadWriteOnce"],
    "storageClassName": "cloud",
    "resources": {"requests": {"storage": "1Gi"}},
}
TEMPLATE = {"metadata": {"labels": {"kind": "scratch"}, "annotations": {"about": "cache"}}, "spec": SPEC}
POD = make_pod("p").spec(volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": TEMPLATE}}])


def claims(simulation: Simulation) -> list[str]:
    return [item.name for item in simulation.api.list("PersistentVolumeClaim")]


def test_the_claim_is_created_from_the_template_and_owned_by_the_pod() -> None:
    simulation = world.cluster(CLASS, POD.obj())
    claim = world.find(simulation, "PersistentVolumeClaim", "p-scratch")
    (pod,) = world.pods(simulation)
    assert claim.labels == {"kind": "scratch"}
    assert claim.annotations["about"] == "cache"
    assert claim.spec["storageClassName"] == "cloud"
    assert claim.metadata["ownerReferences"] == [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": "p",
            "uid": pod.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def test_the_volume_is_provisioned_where_the_pod_goes_and_all_of_it_goes_with_the_pod() -> None:
    simulation = world.cluster(CLASS, POD.obj())
    world.run(simulation)
    (pod,) = world.pods(simulation)
    assert pod.phase == "Running"
    assert world.find(simulation, "PersistentVolumeClaim", "p-scratch").status["phase"] == "Bound"
    world.delete(simulation, "Pod", "default/p")
    world.advance(simulation, 29)
    assert claims(simulation) == ["p-scratch"]
    world.advance(simulation, 1)
    assert claims(simulation) == []
    assert list(simulation.api.list("PersistentVolume")) == []


def test_a_claim_deleted_under_its_pod_is_created_again() -> None:
    simulation = world.cluster(CLASS, POD.obj())
    first = world.find(simulation, "PersistentVolumeClaim", "p-scratch").uid
    world.delete(simulation, "PersistentVolumeClaim", "default/p-scratch")
    assert world.find(simulation, "PersistentVolumeClaim", "p-scratch").uid != first


def test_a_claim_with_that_name_and_another_owner_is_not_used() -> None:
    other = Builder("v1", "PersistentVolumeClaim", "p-scratch", "default").spec(**SPEC).obj()
    simulation = world.cluster(CLASS, other, POD.obj())
    world.run(simulation)
    problem = "PVC default/p-scratch was not created for pod default/p (pod is not owner)"
    assert f"FailedBinding: ephemeral volume scratch: {problem}" in world.events(simulation, "Pod", "p")
    (pod,) = world.pods(simulation)
    assert not pod.node_name
    world.delete(simulation, "PersistentVolumeClaim", "default/p-scratch")
    world.run(simulation)
    (pod,) = world.pods(simulation)
    assert pod.node_name


def test_each_pod_of_a_workload_has_its_own_claims() -> None:
    inner = {"volumes": POD.obj()["spec"]["volumes"]}
    simulation = world.cluster(CLASS, world.deployment("web", 3, pod=inner))
    world.run(simulation)
    assert sorted(claims(simulation)) == sorted(f"{pod.name}-scratch" for pod in world.pods(simulation))
    world.scale(simulation, "Deployment", "web", 1)
    world.advance(simulation, 31)
    assert claims(simulation) == [f"{pod.name}-scratch" for pod in world.pods(simulation)]
