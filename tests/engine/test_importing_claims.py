"""Import of dumps in which pods claim devices."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.importing import Choices, Import, gather, prepare
from scheduler_engine.simulation import Simulation
from tests.engine import dumps

Manifest = dict[str, Any]

RESOURCE = "resource.k8s.io/v1"
CELL = {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
EXPRESSION = 'device.attributes["gpu.acme.com"].model == "a100"'
CONTAINERS = [{"name": "c", "image": "x:1", "resources": {"claims": [{"name": "gpu"}]}}]
ATTRIBUTES = {"model": {"string": "a100"}, "serial": {"string": "SN-4711"}}


def node(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": CELL}


def made(kind: str, name: str, spec: Manifest, status: Manifest | None = None, **metadata: Any) -> Manifest:
    place = {} if kind in ("DeviceClass", "ResourceSlice") else {"namespace": "acme"}
    result = {"apiVersion": RESOURCE, "kind": kind, "metadata": {"name": name, **place, **metadata}, "spec": spec}
    return result if status is None else {**result, "status": status}


def slice_of(name: str, devices: int) -> Manifest:
    held = [{"name": f"gpu-{index}", "attributes": ATTRIBUTES} for index in range(devices)]
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.acme.com", "nodeName": name, "pool": pool, "devices": held}
    return made("ResourceSlice", f"{name}-s", spec)


WANTED = {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "acme-gpu"}}]}}
CLASS = made("DeviceClass", "acme-gpu", {"selectors": [{"cel": {"expression": EXPRESSION}}]})
TEMPLATE = made("ResourceClaimTemplate", "acme-one", {"spec": WANTED})


def allocated(device: str) -> Manifest:
    result = {"request": "one", "driver": "gpu.acme.com", "pool": "n1", "device": device}
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    held = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [term]}}
    return {"allocation": held, "reservedFor": [{"resource": "pods", "name": "old", "uid": "u-old"}]}


def claim_of(pod: str, status: Manifest | None = None) -> Manifest:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": f"u-{pod}", "controller": True}
    marks = {"resource.kubernetes.io/pod-claim-name": "gpu"}
    return made("ResourceClaim", f"{pod}-gpu-x7", WANTED, status, ownerReferences=[owner], annotations=marks)


def pod(name: str, bound: str = "", claim: str = "") -> Manifest:
    spec: Manifest = {
        "containers": CONTAINERS,
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "acme-one"}],
    }
    status: Manifest = {"phase": "Running" if bound else "Pending"}
    if bound:
        spec["nodeName"] = bound
    if claim:
        status["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": claim}]
    metadata = {"name": name, "namespace": "acme", "uid": f"u-{name}"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


CLUSTER = (
    *(node("n1"), node("n2"), CLASS, slice_of("n1", 2), TEMPLATE),
    *(claim_of("old", allocated("gpu-0")), claim_of("gone", allocated("gpu-1"))),
    *(pod("old", "n1", "old-gpu-x7"), pod("new-a"), pod("new-b")),
)
"""Two devices, of which a running pod has one; the other was given to a pod that is not here. Two pods wait."""


def imported(**choices: Any) -> Import:
    return prepare(gather(json.dumps(dumps.as_list(list(CLUSTER))).encode()), Choices(**choices))


def simulated(result: Import) -> Simulation:
    simulation = Simulation(configuration=result.configuration)
    for command in result.commands():
        simulation.execute(commands.from_json(command))
    return simulation


@pytest.mark.parametrize("anonymous", [False, True])
def test_pods_keep_their_devices_and_others_wait_for_them(anonymous: bool) -> None:
    simulation = simulated(imported(anonymous=anonymous))
    old = next(item for item in simulation.api.pods() if item.node_name)
    simulation.execute(commands.Advance(60))
    claims = list(simulation.api.list("ResourceClaim"))
    given = [claim.allocation["devices"]["results"] for claim in claims if claim.allocation]
    assert sorted(item["device"] for results in given for item in results) == ["gpu-0", "gpu-1"]
    assert sorted(len(claim.consumers) for claim in claims) == [0, 1, 1]
    assert sum(bool(item.node_name) for item in simulation.api.pods()) == 2
    assert next(item for item in simulation.api.pods() if item.uid == old.uid).node_name == old.node_name


def test_what_happens_to_claims_is_said() -> None:
    notices = {notice.key: notice.count for notice in imported().notices}
    assert (notices["device-claim"], notices["device-claim-alone"]) == (1, 1)


def test_attributes_that_nothing_names_are_left_out() -> None:
    devices = next(item for item in imported().objects if item["kind"] == "ResourceSlice")["spec"]["devices"]
    assert [device["attributes"] for device in devices] == [{"model": {"string": "a100"}}] * 2


def test_made_up_names_replace_those_of_classes_claims_and_pools() -> None:
    text = json.dumps(imported(anonymous=True).objects)
    assert "acme-" not in text
    assert '"n1"' not in text
    assert '"one"' not in text
    assert "gpu.acme.com" in text, "drivers keep their names, since expressions contain them"
