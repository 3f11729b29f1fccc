"""The API server's defaults change no field that is set; quantities get their canonical form."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.fields import check_fields
from scheduler_engine.testing import make_node, make_pod

Data = dict[str, Any]


def at(manifest: Any, path: str) -> Any:
    """Return the value at a dotted path, or None. Numbers are places in lists."""
    for part in path.split("."):
        if isinstance(manifest, list):
            manifest = manifest[int(part)] if int(part) < len(manifest) else None
        else:
            manifest = (manifest or {}).get(part)
    return manifest


def of_kind(kind: str, version: str = "v1", **fields: Any) -> Data:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, **fields}


CONTAINER = "spec.containers.0"
POD_DEFAULTS: dict[str, tuple[Data, dict[str, Any]]] = {
    "an empty pod gets the defaults of every pod": (
        make_pod("p").obj(),
        {
            "metadata.namespace": "default",
            "spec.schedulerName": "default-scheduler",
            "spec.restartPolicy": "Always",
            "spec.dnsPolicy": "ClusterFirst",
            "spec.terminationGracePeriodSeconds": 30,
            "spec.enableServiceLinks": True,
            "spec.priority": None,
            "spec.tolerations": None,
            "status": None,
        },
    ),
    "set fields stay": (
        make_pod("p", "x").scheduler("mine").grace_period(0).spec(restartPolicy="Never").obj(),
        {
            "metadata.namespace": "x",
            "spec.schedulerName": "mine",
            "spec.restartPolicy": "Never",
            "spec.terminationGracePeriodSeconds": 0,
        },
    ),
    "requests default from limits, each resource by itself": (
        make_pod("p").cpu("1").limit(cpu="2", memory="1Gi").obj(),
        {f"{CONTAINER}.resources.requests": {"memory": "1Gi", "cpu": "1"}},
    ),
    "a request of zero is a request": (
        make_pod("p").cpu("0").limit(cpu="2").obj(),
        {f"{CONTAINER}.resources.requests": {"cpu": "0"}},
    ),
    "a port has the protocol TCP and no host port": (
        make_pod("p").spec(containers=[{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]).obj(),
        {f"{CONTAINER}.ports": [{"containerPort": 80, "protocol": "TCP"}]},
    ),
    "in the host's network the host port is the container's": (
        make_pod("p")
        .spec(hostNetwork=True, containers=[{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}])
        .obj(),
        {f"{CONTAINER}.ports.0.hostPort": 80},
    ),
    "an image without a tag is always pulled": (
        make_pod("p").image("nginx").obj(),
        {f"{CONTAINER}.imagePullPolicy": "Always"},
    ),
    "an image with a tag is pulled when it is missing": (
        make_pod("p").image("localhost:5000/a/b:1.2").obj(),
        {f"{CONTAINER}.imagePullPolicy": "IfNotPresent"},
    ),
    "an image with a digest is pulled when it is missing": (
        make_pod("p").image("nginx@sha256:" + "0" * 64).obj(),
        {f"{CONTAINER}.imagePullPolicy": "IfNotPresent"},
    ),
    "a volume without a source is an emptyDir": (
        make_pod("p").spec(volumes=[{"name": "v"}]).obj(),
        {"spec.volumes.0": {"name": "v", "emptyDir": {}}},
    ),
    "no pod-level request without a pod-level limit": (
        make_pod("p").cpu("1").spec(resources={"requests": {"memory": "1Gi"}}).obj(),
        {"spec.resources": {"requests": {"memory": "1Gi"}}},
    ),
    "a pod-level request comes from the containers first, then from the limit": (
        make_pod("p")
        .cpu("1")
        .container("b")
        .cpu("500m")
        .spec(resources={"limits": {"cpu": "4", "memory": "2Gi"}})
        .obj(),
        {"spec.resources.requests": {"cpu": "1500m", "memory": "2Gi"}},
    ),
    "the largest init container counts beside the sidecars before it": (
        make_pod("p")
        .cpu("1")
        .init_container("side", {"cpu": "500m"}, sidecar=True)
        .init_container("init", {"cpu": "3"})
        .spec(resources={"limits": {"cpu": "8"}})
        .obj(),
        {"spec.resources.requests": {"cpu": "3500m"}},
    ),
    "nulls and empty fields disappear, empty values behind pointers stay": (
        make_pod("p").spec(nodeName="", hostNetwork=False, priority=0, affinity=None, nodeSelector={}).obj(),
        {
            "spec.nodeName": None,
            "spec.hostNetwork": None,
            "spec.affinity": None,
            "spec.nodeSelector": None,
            "spec.priority": 0,
        },
    ),
}


@pytest.mark.parametrize("words", POD_DEFAULTS)
def test_pod(words: str) -> None:
    manifest, expected = POD_DEFAULTS[words]
    original = deepcopy(manifest)
    defaulted = set_defaults(manifest)
    assert {path: at(defaulted, path) for path in expected} == expected
    assert manifest == original
    assert set_defaults(defaulted) == defaulted


OTHERS: dict[str, tuple[Data, dict[str, Any]]] = {
    "a node's allocatable is its capacity": (
        make_node("n").capacity({"nvidia.com/gpu": "2"}).obj(),
        {
            "status.allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110", "nvidia.com/gpu": "2"},
            "metadata.namespace": None,
        },
    ),
    "an allocatable that is set stays": (
        make_node("n").allocatable(cpu="3").obj(),
        {"status.allocatable": {"cpu": "3"}},
    ),
    "a namespace is labelled with its name": (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a", "labels": {"a": "b"}}},
        {"metadata.labels": {"a": "b", "kubernetes.io/metadata.name": "team-a"}, "status.phase": "Active"},
    ),
    "a claim is for a file system": (of_kind("PersistentVolumeClaim"), {"spec.volumeMode": "Filesystem"}),
    "a volume is for a file system and kept": (
        of_kind("PersistentVolume", spec={"volumeMode": "Block"}),
        {"spec.volumeMode": "Block", "spec.persistentVolumeReclaimPolicy": "Retain"},
    ),
    "a storage class binds at once": (
        of_kind("StorageClass", "storage.k8s.io/v1", provisioner="p"),
        {"volumeBindingMode": "Immediate", "reclaimPolicy": "Delete"},
    ),
    "a priority class preempts": (
        of_kind("PriorityClass", "scheduling.k8s.io/v1", value=5),
        {"preemptionPolicy": "PreemptLowerPriority", "value": 5},
    ),
    "a service's port goes to the same port": (
        of_kind("Service", spec={"ports": [{"port": 80}]}),
        {"spec.ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}], "spec.type": "ClusterIP"},
    ),
    "a replication controller takes its selector from the template": (
        of_kind("ReplicationController", spec={"template": {"metadata": {"labels": {"a": "b"}}, "spec": {}}}),
        {"spec.selector": {"a": "b"}, "metadata.labels": {"a": "b"}, "spec.replicas": 1},
    ),
    "a template's pod gets the defaults of a pod spec, but no requests from limits": (
        of_kind(
            "ReplicaSet",
            "apps/v1",
            spec={
                "template": {
                    "spec": {"containers": [{"name": "c", "image": "i:1", "resources": {"limits": {"cpu": "1"}}}]}
                }
            },
        ),
        {
            "spec.template.spec.schedulerName": "default-scheduler",
            "spec.template.spec.containers.0.resources": {"limits": {"cpu": "1"}},
        },
    ),
    "a kind without a field table loses nothing": (
        {"apiVersion": "x/v1", "kind": "Gizmo", "spec": {"a": None}},
        {"spec": {"a": None}},
    ),
}


@pytest.mark.parametrize("words", OTHERS)
def test_other_kinds(words: str) -> None:
    manifest, expected = OTHERS[words]
    original = deepcopy(manifest)
    defaulted = set_defaults(manifest)
    assert {path: at(defaulted, path) for path in expected} == expected
    assert manifest == original


AMOUNTS: dict[Any, str] = {
    "1.5Gi": "1536Mi",
    "0.5Ki": "512",
    "1.1Gi": "1181116006400m",
    "0.1m": "1m",
    "1500m": "1500m",
    "2000m": "2",
    "1e4": "10e3",
    "1.5e3": "1500",
    "1E3": "1E3",
    "+1": "+1",
    " 1 ": "1",
    "1024": "1024",
    "1000": "1k",
    2: "2",
    0.5: "500m",
    1000000000: "1G",
    "0": "0",
    "0Gi": "0",
}


@pytest.mark.parametrize("written", AMOUNTS, ids=str)
def test_a_request_is_stored_in_its_canonical_form_in_whole_thousandths(written: Any) -> None:
    defaulted = set_defaults(make_pod("p").request({"cpu": written}).obj())
    assert at(defaulted, f"{CONTAINER}.resources.requests.cpu") == AMOUNTS[written]


PULLED = {
    "nginx": "Always",
    "nginx:latest": "Always",
    "nginx:1.25": "IfNotPresent",
    "localhost/nginx": "Always",
    "[::1]:5000/nginx:latest": "Always",
    "index.docker.io/nginx": "Always",
    "a" * 64: "IfNotPresent",
    "x" * 300: "IfNotPresent",
    "Nginx": "IfNotPresent",
    "nginx@sha256:" + "a" * 64: "IfNotPresent",
    "nginx:latest@sha256:" + "a" * 64: "Always",
    "nginx:latest@sha256:" + "a" * 32: "IfNotPresent",
    "nginx:latest@sha256:" + "A" * 64: "IfNotPresent",
    "nginx:latest@md5:" + "a" * 32: "IfNotPresent",
}


@pytest.mark.parametrize("image", PULLED, ids=lambda image: image[:40])
def test_only_the_tag_latest_is_always_pulled(image: str) -> None:
    pod = make_pod("p").spec(containers=[{"name": "c", "image": image}]).obj()
    assert at(set_defaults(pod), f"{CONTAINER}.imagePullPolicy") == PULLED[image]


TIMES = {
    "2025-06-01T10:00:00.7+02:00": "2025-06-01T08:00:00Z",
    "2026-01-01T00:00:00+24:00": "2025-12-31T00:00:00Z",
    "2026-01-01T1:00:00,5Z": "2026-01-01T01:00:00Z",
    "0001-01-01T00:00:00Z": None,
}


@pytest.mark.parametrize("written", TIMES)
def test_a_time_is_written_in_utc_and_whole_seconds_and_the_zero_time_not_at_all(written: str) -> None:
    node = of_kind("Node", spec={"taints": [{"key": "a", "effect": "NoSchedule", "timeAdded": written}]})
    assert check_fields(node, "Node") == []
    assert at(set_defaults(node), "spec.taints.0.timeAdded") == TIMES[written]


@pytest.mark.parametrize(
    "text",
    [
        *("", "2026-01-01 00:00:00Z", "2026-01-01T00:00Z", "2026-01-01T00:00:00", "20260101T000000Z"),
        *("2026-W01-1T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00.Z"),
        *("2026-01-01T00:00:00+0000", "2026-01-01T00:00:00+05:30:15"),
    ],
)
def test_an_invalid_rfc_3339_time_is_refused(text: str) -> None:
    node = of_kind("Node", spec={"taints": [{"key": "a", "effect": "NoSchedule", "timeAdded": text}]})
    assert [error.path for error in check_fields(node, "Node")] == ["spec.taints[0].timeAdded"]


def test_a_missing_divisor_is_zero() -> None:
    source = {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}
    pod = make_pod("p").spec(containers=[{"name": "c", "image": "i", "env": [source]}]).obj()
    assert at(set_defaults(pod), f"{CONTAINER}.env.0.valueFrom.resourceFieldRef.divisor") == "0"


def test_a_claim_template_without_a_spec_has_a_volume_mode() -> None:
    pod = make_pod("p").spec(containers=[], volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}]).obj()
    assert at(set_defaults(pod), "spec.volumes.0.ephemeral.volumeClaimTemplate.spec.volumeMode") == "Filesystem"


def test_a_container_port_of_0_gets_no_host_port() -> None:
    containers = [{"name": "c", "image": "i", "ports": [{"containerPort": 0}]}]
    assert at(
        set_defaults(make_pod("p").spec(containers=containers, hostNetwork=True).obj()), f"{CONTAINER}.ports.0"
    ) == {
        "containerPort": 0,
        "protocol": "TCP",
    }
