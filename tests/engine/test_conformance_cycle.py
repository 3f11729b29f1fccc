"""The cycle runner's output when a plugin fails with an error."""

from __future__ import annotations

from typing import Any

from scheduler_engine.conformance.cycle import Run
from scheduler_engine.testing import Builder, make_node, make_pod

BROKEN_DISK = make_pod("p").spec(volumes=[{"name": "d", "awsElasticBlockStore": {"volumeID": "aws://za/disk-1"}}])
BROKEN = (
    "converting volume(d) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID "
    "Invalid format for AWS volume (aws://za/disk-1)"
)


def attempt(pod: Builder, *objects: Builder, plugins: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the first attempt to place ``pod``; ``plugins`` of the profile."""
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": plugins or {}}],
    }
    case = {"config": config, "objects": [item.obj() for item in objects], "pending": [pod.obj()]}
    return Run(case).attempts()[0]


def csi_node(name: str) -> Builder:
    return Builder("storage.k8s.io/v1", "CSINode", name).spec(drivers=[])


def test_a_filter_that_is_not_reached_may_fail_when_asked_alone() -> None:
    nodes = make_node("n1").spec(unschedulable=True), make_node("n2")
    described = attempt(BROKEN_DISK, *nodes, csi_node("n1"))
    assert described["selected"] == "n2"
    assert described["filterEach"]["n1"]["NodeVolumeLimits"] == {"code": "Error", "reasons": [BROKEN]}


def test_an_attempt_that_fails_with_an_error_has_no_feasible_nodes() -> None:
    described = attempt(BROKEN_DISK, make_node("n1"), make_node("n2"), csi_node("n2"))
    assert described["error"] == f'running "NodeVolumeLimits" filter plugin: {BROKEN}'
    assert (described["feasible"], described["selected"]) == ([], None)


def test_a_reserve_that_fails_with_an_error_names_its_plugin_in_the_text_only() -> None:
    plugins = {"preFilter": {"disabled": [{"name": "DynamicResources"}]}, "filter": {"disabled": [{"name": "*"}]}}
    described = attempt(make_pod("p"), make_node("n1"), plugins=plugins)
    reason = 'running Reserve plugin "DynamicResources": not found'
    assert described["reserve"] == {"code": "Error", "reasons": [reason]}


def test_a_nomination_is_withdrawn_from_the_status_too_where_all_victims_are_leaving_already() -> None:
    leaving = make_pod("leaving").node("n1").cpu("2").priority(0).metadata(deletionTimestamp="2026-01-01T00:00:30Z")
    lower = make_pod("lower").cpu("2").priority(7).nominated("n1")
    case = {
        "config": {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"},
        "objects": [make_node("n1").capacity(cpu="2").obj(), leaving.obj()],
        "pending": [make_pod("vip").cpu("2").priority(100).obj(), lower.obj()],
        "gracefulVictims": True,
    }
    attempts = Run(case).attempts()
    assert attempts[0]["postFilter"]["clearedNominations"] == ["default/lower"]
    assert [attempt["pod"] for attempt in attempts if attempt["pod"] == "default/lower"] == ["default/lower"]
    assert "nominated" not in attempts[-1]
