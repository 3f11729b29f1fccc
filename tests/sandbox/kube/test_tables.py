"""Tables of lists: durations, and the cells of pods, nodes and others, as Kubernetes prints them."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.kube import tables
from sandbox.kube.resources import RESOURCES
from scheduler_engine.testing import make_node, make_pod

HOUR, DAY = 3600, 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (600, "10m"),
        (179 * 60 + 59, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 300, "3h5m"),
        (8 * HOUR + 300, "8h"),
        (47 * HOUR, "47h"),
        (2 * DAY, "2d"),
        (2 * DAY + HOUR, "2d1h"),
        (8 * DAY + HOUR, "8d"),
        (729 * DAY, "729d"),
        (730 * DAY, "2y"),
        (731 * DAY, "2y1d"),
        (2920 * DAY, "8y"),
    ],
)
def test_a_duration_is_written_as_kubectl_writes_it(seconds: int, text: str) -> None:
    assert tables.human(seconds) == text


def cells(kind: str, manifest: dict[str, Any]) -> dict[str, Any]:
    table = tables.table(kind, [manifest], 0, "None")
    (row,) = table["rows"]
    return dict(zip([column["name"] for column in table["columnDefinitions"]], row["cells"], strict=True))


def waiting(name: str, reason: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "state": {"waiting": {"reason": reason}}, **more}


def ended(name: str, code: int, reason: str = "") -> dict[str, Any]:
    return {"name": name, "state": {"terminated": {"exitCode": code, "reason": reason}}}


RUNS = {"name": "c", "ready": True, "state": {"running": {}}}
READY = {"type": "Ready", "status": "True"}
PODS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "nothing known": ({}, {}, "", "0/1"),
    "pending": ({}, {"phase": "Pending"}, "Pending", "0/1"),
    "gated": (
        {},
        {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]},
        "SchedulingGated",
        "0/1",
    ),
    "ready by its condition": ({}, {"phase": "Running", "conditions": [READY]}, "Running", "1/1"),
    "ready by its container": ({}, {"phase": "Running", "containerStatuses": [RUNS]}, "Running", "1/1"),
    "crashing": (
        {},
        {"phase": "Running", "containerStatuses": [waiting("c", "CrashLoopBackOff", restartCount=3)]},
        "CrashLoopBackOff",
        "0/1",
    ),
    "done": ({}, {"phase": "Succeeded", "containerStatuses": [ended("c", 0, "Completed")]}, "Completed", "0/1"),
    "an exit code": ({}, {"phase": "Failed", "containerStatuses": [ended("c", 3)]}, "ExitCode:3", "0/1"),
    "evicted": ({}, {"phase": "Failed", "reason": "Evicted"}, "Evicted", "0/1"),
    "one of two done": (
        {},
        {"phase": "Running", "containerStatuses": [ended("a", 0, "Completed"), RUNS], "conditions": [READY]},
        "Running",
        "1/1",
    ),
    "an init container fails": (
        {"initContainers": [{"name": "i"}]},
        {"phase": "Pending", "initContainerStatuses": [ended("i", 1, "Error")], "containerStatuses": []},
        "Init:Error",
        "0/1",
    ),
    "the second init container": (
        {"initContainers": [{"name": "i"}, {"name": "j"}]},
        {"phase": "Pending", "initContainerStatuses": [ended("i", 0), {"name": "j", "state": {"running": {}}}]},
        "Init:1/2",
        "0/1",
    ),
    "a sidecar": (
        {"initContainers": [{"name": "i", "restartPolicy": "Always"}]},
        {
            "phase": "Running",
            "initContainerStatuses": [{"name": "i", "ready": True, "started": True, "state": {"running": {}}}],
            "containerStatuses": [RUNS],
        },
        "Running",
        "2/2",
    ),
}


@pytest.mark.parametrize("case", PODS)
def test_the_status_of_a_pod(case: str) -> None:
    spec, status, word, ready = PODS[case]
    pod = make_pod("web").obj()
    shown = cells("Pod", pod | {"spec": pod["spec"] | spec, "status": status})
    assert (shown["Status"], shown["Ready"]) == (word, ready)


@pytest.mark.parametrize(("phase", "word"), [("Running", "Terminating"), ("Succeeded", "Succeeded")])
def test_a_pod_that_is_being_deleted(phase: str, word: str) -> None:
    pod = make_pod("web").obj()
    pod = pod | {
        "metadata": pod["metadata"] | {"deletionTimestamp": "2026-01-01T00:00:00Z"},
        "status": {"phase": phase},
    }
    assert cells("Pod", pod)["Status"] == word


def test_the_status_and_roles_of_a_node() -> None:
    node = make_node("n").label("node-role.kubernetes.io/worker", "").label("kubernetes.io/role", "edge").obj()
    assert cells("Node", node)["Status"] == "Unknown"
    node |= {"spec": {"unschedulable": True}, "status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    shown = cells("Node", node)
    assert (shown["Status"], shown["Roles"]) == ("NotReady,SchedulingDisabled", "edge,worker")


OTHERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "PersistentVolumeClaim": (
        {"spec": {"storageClassName": "fast"}, "status": {"phase": "Pending", "capacity": {"storage": "1Gi"}}},
        {"Status": "Pending", "Capacity": "", "StorageClass": "fast"},
    ),
    "PersistentVolume": (
        {
            "spec": {
                "capacity": {"storage": "5Gi"},
                "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
                "claimRef": {"namespace": "a", "name": "b"},
            }
        },
        {"Capacity": "5Gi", "Access Modes": "RWO,ROX", "Claim": "a/b", "VolumeMode": "<unset>"},
    ),
    "StorageClass": (
        {"metadata": {"name": "s", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}},
        {"Name": "s (default)", "ReclaimPolicy": "Delete", "VolumeBindingMode": "Immediate"},
    ),
    "Deployment": (
        {"spec": {"replicas": 3, "selector": {"matchLabels": {"b": "2", "a": "1"}}}, "status": {"readyReplicas": 2}},
        {"Ready": "2/3", "Available": 0, "Selector": "a=1,b=2"},
    ),
    "Job": ({"spec": {"completions": 4}, "status": {"succeeded": 1}}, {"Completions": "1/4", "Status": "Running"}),
    "Service": (
        {"spec": {"type": "LoadBalancer", "ports": [{"port": 80, "nodePort": 30080}], "selector": {"a": "b"}}},
        {"External-IP": "<pending>", "Port(s)": "80:30080/TCP", "Selector": "a=b", "Cluster-IP": "<none>"},
    ),
    "PodDisruptionBudget": ({"spec": {"minAvailable": "50%"}}, {"Min Available": "50%", "Max Unavailable": "N/A"}),
    "PodGroup": (
        {"spec": {"minMember": 3}, "status": {"phase": "Running", "running": 3}},
        {"Phase": "Running", "MinMember": 3, "Running": 3, "Succeeded": None, "Failed": None},
    ),
    "ReplicaSet": (
        {"spec": {"selector": {"matchExpressions": [{"key": "k", "operator": "In", "values": ["x", "y"]}]}}},
        {"Selector": "k in (x,y)"},
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_the_cells_of_other_kinds(kind: str) -> None:
    manifest, wanted = OTHERS[kind]
    shown = cells(kind, {"metadata": {"name": "x"}} | manifest)
    assert {name: shown[name] for name in wanted} == wanted


@pytest.mark.parametrize("kind", sorted({row.kind for row in RESOURCES.values()}))
def test_an_object_with_a_name_alone_has_a_row(kind: str) -> None:
    assert cells(kind, {"metadata": {"name": "x"}})
