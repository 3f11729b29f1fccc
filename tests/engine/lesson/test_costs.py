"""Actions and their effects have a cost; stepping and time have none."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.lesson.costs import PRICES, cost
from scheduler_engine.scenario.executing import play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod


def _node(name: str) -> dict[str, Any]:
    return make_node(name).capacity({"cpu": "2", "memory": "4Gi", "pods": "110"}).obj()


def _pod(name: str, cpu: str = "500m", **spec: Any) -> dict[str, Any]:
    manifest: dict[str, Any] = make_pod(name).cpu(cpu).obj()
    return manifest | {"spec": manifest["spec"] | spec}


BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "guard"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "app"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "app"}},
        "template": {"metadata": {"labels": {"app": "app"}}, "spec": _pod("x", "100m")["spec"]},
    },
}
WEB_POD = _pod("web", nodeSelector={"kubernetes.io/hostname": "n1"})
WEB_POD["metadata"]["labels"] = {"app": "web"}
SHORT = _pod("short", restartPolicy="Never")
SHORT["metadata"]["annotations"] = {"sandbox/duration": "5"}
WAITING = _pod("waiting", nodeSelector={"disk": "ssd"})


@pytest.fixture(scope="module")
def opened() -> Simulation:
    simulation = Simulation(seed=1)
    manifests = (_node("n1"), _node("n2"), WEB_POD, WAITING, BUDGET, DEPLOYMENT)
    simulation.execute(commands.Apply(manifests))
    simulation.execute(commands.Settle())
    return simulation


def _apply(*manifests: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "apply", "manifests": list(manifests)}


def _delete(kind: str, key: str) -> dict[str, Any]:
    return {"kind": "delete", "object_kind": kind, "key": key}


WEB = ("pod-ended", "Pod default/web")
LABEL = {"kind": "patch", "object_kind": "Node", "key": "n1", "changes": {"metadata": {"labels": {"disk": "ssd"}}}}
CASES: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "time and stepping": ([{"kind": "settle"}, {"kind": "advance", "seconds": 400}, {"kind": "run"}], []),
    "a new node": ([_apply(_node("n3"))], [("node-added", "Node n3")]),
    "a node without pods is deleted": (
        [_apply(_node("n3")), _delete("Node", "n3")],
        [("node-added", "Node n3"), ("node-deleted", "Node n3")],
    ),
    "a running pod is deleted": ([_delete("Pod", "default/web"), {"kind": "advance", "seconds": 40}], [WEB]),
    "an eviction that a budget refuses": (
        [{"kind": "evict", "pod": "default/web"}, {"kind": "advance", "seconds": 9}],
        [],
    ),
    "a running pod is evicted": (
        [_delete("PodDisruptionBudget", "default/guard"), {"kind": "evict", "pod": "default/web"}],
        [("change", "delete PodDisruptionBudget default/guard"), WEB],
    ),
    "a pod that waits is deleted": ([_delete("Pod", "default/waiting")], [("change", "delete Pod default/waiting")]),
    "a budget is deleted": (
        [_delete("PodDisruptionBudget", "default/guard")],
        [("change", "delete PodDisruptionBudget default/guard")],
    ),
    "a new pod": ([_apply(_pod("api")), {"kind": "settle"}], [("object-added", "Pod default/api")]),
    "the same manifest once more": ([_apply(BUDGET)], []),
    "another manifest of an existing object": (
        [_apply(BUDGET | {"spec": BUDGET["spec"] | {"minAvailable": 2}})],
        [("change", "PodDisruptionBudget default/guard")],
    ),
    "a label, and a cordon": (
        [LABEL, {"kind": "cordon", "node": "n2"}],
        [("change", "edit Node n1: metadata.labels.disk=ssd"), ("change", "cordon n2")],
    ),
    "a pod is preempted": (
        [_apply(_pod("vip", "2", priority=10, nodeSelector={"kubernetes.io/hostname": "n1"})), {"kind": "run"}],
        [("object-added", "Pod default/vip"), WEB],
    ),
    "a workload is scaled": (
        [{"kind": "scale", "object_kind": "Deployment", "key": "default/app", "replicas": 3}, {"kind": "settle"}],
        [("change", "scale Deployment default/app to 3")],
    ),
    "a pod takes the place of another": (
        [{"kind": "replace", "object_kind": "Pod", "key": "default/web", "manifest": _pod("web", "1")}],
        [WEB, ("object-added", "Pod default/web")],
    ),
    "a running pod is written off as complete": (
        [{"kind": "patch", "object_kind": "Pod", "key": "default/web", "changes": {"status": {"phase": "Succeeded"}}}],
        [("change", "edit Pod default/web: status.phase=Succeeded"), WEB],
    ),
    "a running pod is written off as failed": (
        [{"kind": "patch", "object_kind": "Pod", "key": "default/web", "changes": {"status": {"phase": "Failed"}}}],
        [("change", "edit Pod default/web: status.phase=Failed"), WEB],
    ),
    "a manifest writes a running pod off": (
        [_apply(WEB_POD | {"status": {"phase": "Succeeded"}})],
        [WEB, ("change", "Pod default/web")],
    ),
    "a pod completes": (
        [_apply(SHORT), {"kind": "advance", "seconds": 30}],
        [("object-added", "Pod default/short")],
    ),
    "a drain that a budget stops": (
        [{"kind": "drain", "node": "n1"}, {"kind": "advance", "seconds": 20}],
        [("change", "drain n1")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_charged(opened: Simulation, name: str) -> None:
    steps, expected = CASES[name]
    simulation = copy.deepcopy(opened)
    play(simulation, steps)
    bill = cost(simulation, 2)
    assert [(line.charge, line.about) for line in bill.lines] == expected
    assert bill.total == sum(PRICES[charge] for charge, _ in expected)
