"""Claims in a running cluster: made from templates, given devices, freed when their pods are done."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.devices import FINALIZER, ResourceClaim
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from scheduler_engine.trace.events import CycleFinished, EventRecorded

Data = dict[str, Any]


def made(kind: str, name: str, spec: Data) -> Data:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def wanting(count: int = 1) -> Data:
    return {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpus", "count": count}}]}}


def offered(node: str, count: int) -> Data:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"gpu-{number}"} for number in range(count)]
    return made("ResourceSlice", f"{node}-gpus", {"driver": "d", "pool": pool, "nodeName": node, "devices": devices})


CLASS = made("DeviceClass", "gpus", {"selectors": [{"cel": {"expression": 'device.driver == "d"'}}]})
TEMPLATE = made("ResourceClaimTemplate", "one", {"metadata": {"labels": {"made": "here"}}, "spec": wanting()})


def own(name: str) -> PodBuilder:
    return make_pod(name).spec(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one"}])


def sharing(name: str) -> PodBuilder:
    return make_pod(name).spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "shared"}])


def cluster(*objects: Data | PodBuilder, devices: int = 1) -> Simulation:
    simulation = Simulation(seed=1)
    manifests = [item.obj() if isinstance(item, PodBuilder) else item for item in objects]
    simulation.execute(commands.Apply((make_node("n").obj(), CLASS, offered("n", devices), *manifests)))
    simulation.execute(commands.Run())
    return simulation


def claims(simulation: Simulation) -> list[ResourceClaim]:
    found = simulation.api.list("ResourceClaim")
    return [claim for claim in found if isinstance(claim, ResourceClaim)]


def place(simulation: Simulation, pod: str) -> str:
    found = simulation.api.pod(f"default/{pod}")
    assert found is not None
    return found.node_name


def test_a_pod_gets_its_own_claim_and_a_device() -> None:
    simulation = cluster(TEMPLATE, own("p"))
    [claim] = claims(simulation)
    pod = simulation.api.pod("default/p")
    assert pod is not None
    assert pod.node_name == "n"
    assert pod.status["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": claim.name}]
    assert claim.name.startswith("p-gpu-")
    assert claim.labels == {"made": "here"}
    assert claim.annotations == {"resource.kubernetes.io/pod-claim-name": "gpu"}
    assert claim.controller_ref is not None
    assert claim.controller_ref["uid"] == pod.uid
    assert claim.status["reservedFor"] == [{"resource": "pods", "name": "p", "uid": pod.uid}]
    assert claim.metadata["finalizers"] == [FINALIZER]


def test_the_claim_goes_with_its_pod_and_the_next_pod_gets_the_device() -> None:
    simulation = cluster(TEMPLATE, own("p"), own("q"))
    assert [place(simulation, name) for name in "pq"] == ["n", ""]
    simulation.execute(commands.Delete("Pod", "default/p"))
    simulation.execute(commands.Advance(60))
    assert place(simulation, "q") == "n"
    assert [claim.name[0] for claim in claims(simulation)] == ["q"]


def test_a_pod_that_ends_gives_its_device_back() -> None:
    simulation = cluster(TEMPLATE, own("p").annotation("sandbox/duration", "5").spec(restartPolicy="Never"), own("q"))
    simulation.execute(commands.Advance(60))
    assert place(simulation, "q") == "n"
    assert [claim.name[0] for claim in claims(simulation)] == ["q"]


def test_pods_share_a_claim_and_its_device_is_free_when_the_last_one_goes() -> None:
    simulation = cluster(made("ResourceClaim", "shared", wanting()), sharing("p"), sharing("q"))
    assert [place(simulation, name) for name in "pq"] == ["n", "n"]
    [claim] = claims(simulation)
    assert [consumer["name"] for consumer in claim.status["reservedFor"]] == ["p", "q"]
    for name, expected in (("p", True), ("q", False)):
        simulation.execute(commands.Delete("Pod", f"default/{name}"))
        simulation.execute(commands.Advance(60))
        [claim] = claims(simulation)
        assert ("allocation" in claim.status, FINALIZER in claim.metadata.get("finalizers", [])) == (expected, expected)


def test_a_used_claim_is_deleted_after_its_pod() -> None:
    simulation = cluster(made("ResourceClaim", "shared", wanting()), sharing("p"))
    simulation.execute(commands.Delete("ResourceClaim", "default/shared"))
    [claim] = claims(simulation)
    assert claim.terminating
    simulation.execute(commands.Delete("Pod", "default/p"))
    simulation.execute(commands.Advance(60))
    assert claims(simulation) == []


def test_a_pod_waits_for_its_template() -> None:
    simulation = cluster(own("p"))
    events = [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, EventRecorded)]
    missing = 'resource claim template "one": resourceclaimtemplate.resource.k8s.io "one" not found'
    assert [event.message for event in events if event.reason == "FailedResourceClaimCreation"] == [
        f"PodResourceClaim gpu: {missing}"
    ]
    simulation.execute(commands.Apply((TEMPLATE,)))
    simulation.execute(commands.Run())
    assert place(simulation, "p") == "n"


def test_a_pod_put_on_a_node_by_hand_uses_the_devices_that_its_claim_has() -> None:
    simulation = cluster(made("ResourceClaim", "shared", wanting()), sharing("p"), sharing("q").node("n"))
    [claim] = claims(simulation)
    assert {consumer["name"] for consumer in claim.status["reservedFor"]} == {"p", "q"}


def reserved(claim: Data) -> Simulation:
    """Return a simulation in which a pod with this claim is about to be bound."""
    simulation = Simulation(seed=1)
    simulation.execute(commands.Apply((make_node("n").obj(), CLASS, offered("n", 1), claim, sharing("p").obj())))
    while not simulation.scheduler.pending_claims:
        simulation.execute(commands.Stage())
    return simulation


def test_a_claim_that_is_made_again_meanwhile_gets_the_devices() -> None:
    shared = made("ResourceClaim", "shared", wanting())
    simulation = reserved(shared)
    [old] = claims(simulation)
    simulation.execute(commands.Delete("ResourceClaim", "default/shared"))
    simulation.execute(commands.Apply((shared,)))
    simulation.execute(commands.Run())
    [claim] = claims(simulation)
    assert claim.uid != old.uid
    assert (claim.allocation is not None, claim.metadata["finalizers"]) == (True, [FINALIZER])
    assert [consumer["name"] for consumer in claim.consumers] == ["p"]
    assert place(simulation, "p") == "n"
    assert not simulation.scheduler.pending_claims


def test_a_claim_that_is_made_again_with_other_requests_cannot_get_the_devices() -> None:
    simulation = reserved(made("ResourceClaim", "shared", wanting()))
    simulation.execute(commands.Delete("ResourceClaim", "default/shared"))
    other = {"devices": {"requests": [{"name": "nic", "exactly": {"deviceClassName": "gpus"}}]}}
    simulation.execute(commands.Apply((made("ResourceClaim", "shared", other),)))
    simulation.execute(commands.Run())
    path = "status.allocation.devices.results[0].request"
    text = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
    problem = f'ResourceClaim.resource.k8s.io "shared" is invalid: {path}: Invalid value: "gpu": {text}'
    assert first_message(simulation) == f"add allocation and reservation to claim default/shared: {problem}"


def first_message(simulation: Simulation) -> str:
    """Return the error with which PreBind ended the first attempt."""
    ended = [item.event for item in simulation.recorder.entries if isinstance(item.event, CycleFinished)]
    return ended[0].message.removeprefix('running PreBind plugin "DynamicResources": ')


MISSING = 'resourceclaims.resource.k8s.io "shared" not found'


@pytest.mark.parametrize(
    ("finalizers", "adds"), [([], "finalizer"), ([FINALIZER], "allocation and reservation")], ids=["without", "with"]
)
def test_a_claim_that_is_gone_fails_what_is_written_first(finalizers: list[str], adds: str) -> None:
    shared = made("ResourceClaim", "shared", wanting())
    shared["metadata"]["finalizers"] = finalizers
    simulation = reserved(shared)
    simulation.api.patch("ResourceClaim", "default/shared", {"metadata": {"finalizers": None}})
    simulation.execute(commands.Delete("ResourceClaim", "default/shared"))
    simulation.execute(commands.Run())
    assert first_message(simulation) == f"add {adds} to claim default/shared: {MISSING}"


def test_a_claim_has_at_most_256_users() -> None:
    simulation = cluster(made("ResourceClaim", "shared", wanting()), sharing("p"))
    [claim] = claims(simulation)
    others = [{"resource": "pods", "name": f"q{number}", "uid": f"uid-{number}"} for number in range(256)]
    with pytest.raises(ApiError) as caught:
        simulation.api.patch("ResourceClaim", claim.key, {"status": {"reservedFor": [*claim.consumers, *others]}})
    refused = "status.reservedFor: Too many: 257: must have at most 256 items"
    assert caught.value.message == f'ResourceClaim.resource.k8s.io "shared" is invalid: {refused}'


def test_a_pod_cannot_use_a_claim_twice() -> None:
    twice = [{"name": name, "resourceClaimName": "shared"} for name in "ab"]
    pod = make_pod("p").spec(resourceClaims=twice)
    simulation = cluster(made("ResourceClaim", "shared", wanting()), pod, devices=2)
    found = simulation.api.pod("default/p")
    assert found is not None
    refused = f'status.reservedFor[1].uid: Duplicate value: "{found.uid}"'
    problem = f'ResourceClaim.resource.k8s.io "shared" is invalid: {refused}'
    place, message = "PreBind plugin", f"add reservation to claim default/shared: {problem}"
    assert [item["message"] for item in found.conditions] == [f'running {place} "DynamicResources": {message}']


def test_a_claim_that_somebody_deletes_is_made_again() -> None:
    simulation = cluster(TEMPLATE, own("p"), own("q"))
    [waiting] = [claim for claim in claims(simulation) if claim.name.startswith("q")]
    simulation.execute(commands.Delete("ResourceClaim", waiting.key))
    again = [claim for claim in claims(simulation) if claim.name.startswith("q")]
    assert [claim.uid != waiting.uid for claim in again] == [True]


def test_a_slice_that_comes_later_wakes_the_pod() -> None:
    simulation = cluster(TEMPLATE, own("p"), own("q"))
    simulation.execute(commands.Apply((make_node("m").obj(), offered("m", 1))))
    simulation.execute(commands.Advance(20))
    assert place(simulation, "q") == "m"


def test_copies_and_pickles_continue_alike_in_the_middle_of_everything() -> None:
    simulation = Simulation(seed=1)
    pods = [own(name).obj() for name in "pqr"]
    simulation.execute(commands.Apply((make_node("n").obj(), CLASS, offered("n", 2), TEMPLATE, *pods)))
    ends = set()
    for _ in range(20):
        simulation.execute(commands.Stage())
        for other in (copy.deepcopy(simulation), pickle.loads(pickle.dumps(simulation))):
            other.execute(commands.Run())
            ends.add(tuple(place(other, name) for name in "pqr"))
    assert ends == {("n", "n", "")}
