"""Kubelets: pods start, become ready, complete and end."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import Pod
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import PodBuilder, make_node, make_pod

KEY = "default/p"
JOB = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}


def cluster(*manifests: dict[str, Any]) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), *manifests)))
    simulation.execute(commands.Settle())
    return simulation


def pod(simulation: Simulation) -> Pod:
    stored = simulation.api.pod(KEY)
    assert stored is not None
    return stored


def ready(simulation: Simulation) -> dict[str, Any]:
    return next(item for item in pod(simulation).conditions if item["type"] == "Ready")


def test_a_bound_pod_runs_and_is_ready_at_once() -> None:
    simulation = cluster(make_pod("p").obj())
    assert pod(simulation).phase == "Running"
    assert pod(simulation).start_time_us == 0
    assert ready(simulation) == {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def test_a_start_delay_keeps_it_pending_on_its_node() -> None:
    simulation = cluster(make_pod("p").annotation("sandbox/start-delay", "2.5").obj())
    assert (pod(simulation).node_name, pod(simulation).phase) == ("n1", "Pending")
    assert pod(simulation).start_time_us == 0
    simulation.execute(commands.Advance(2))
    assert pod(simulation).phase == "Pending"
    simulation.execute(commands.Advance(0.5))
    assert pod(simulation).phase == "Running"
    assert ready(simulation)["lastTransitionTime"] == "2026-01-01T00:00:02Z"


def test_a_pod_deleted_while_it_starts_never_runs() -> None:
    simulation = cluster(make_pod("p").annotation("sandbox/start-delay", "5").grace_period(10).obj())
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Advance(9))
    assert pod(simulation).phase == "Pending"
    simulation.execute(commands.Advance(1))
    assert simulation.api.pod(KEY) is None


def test_an_annotation_keeps_a_running_pod_from_becoming_ready() -> None:
    builder = make_pod("p")
    simulation = cluster(builder.annotation("sandbox/ready", "false").obj())
    assert pod(simulation).phase == "Running"
    assert (ready(simulation)["status"], ready(simulation)["reason"]) == ("False", "ContainersNotReady")
    simulation.execute(commands.Apply((builder.annotation("sandbox/ready", "true").obj(),)))
    assert ready(simulation)["status"] == "True"
    assert "reason" not in ready(simulation)


def test_a_pod_that_ends_without_having_been_ready_keeps_the_time_since_when_it_is_not() -> None:
    builder = make_pod("p").spec(restartPolicy="Never").annotation("sandbox/duration", "4")
    simulation = cluster(builder.annotation("sandbox/ready", "false").obj())
    simulation.execute(commands.Advance(5))
    assert pod(simulation).phase == "Succeeded"
    expected = {"type": "Ready", "status": "False", "reason": "PodCompleted"}
    assert ready(simulation) == {**expected, "lastTransitionTime": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("builder", "seconds"),
    [
        (make_pod("p").spec(restartPolicy="Never").metadata(ownerReferences=[JOB]), 10),
        (make_pod("p").spec(restartPolicy="OnFailure").metadata(ownerReferences=[JOB]), 10),
        (
            make_pod("p")
            .spec(restartPolicy="Never")
            .metadata(ownerReferences=[JOB])
            .annotation("sandbox/duration", "25"),
            25,
        ),
        (make_pod("p").spec(restartPolicy="Never").annotation("sandbox/duration", "3"), 3),
        (make_pod("p").spec(restartPolicy="Never"), None),
        (make_pod("p").annotation("sandbox/duration", "3"), None),
    ],
    ids=[
        "a pod of a Job runs for 10 s",
        "a pod of a Job that restarts on failure does not fail",
        "a pod of a Job can set its run time",
        "any pod that does not restart can set its run time",
        "a pod without a restart or a run time keeps running",
        "a pod that always restarts keeps running",
    ],
)
def test_how_long_a_pod_runs(builder: PodBuilder, seconds: int | None) -> None:
    simulation = cluster(builder.obj())
    if seconds is None:
        assert not simulation.timeline.has_work()
        return
    simulation.execute(commands.Advance(seconds - 1))
    assert pod(simulation).phase == "Running"
    simulation.execute(commands.Advance(1))
    assert pod(simulation).phase == "Succeeded"
    assert (ready(simulation)["status"], ready(simulation)["reason"]) == ("False", "PodCompleted")


@pytest.mark.parametrize(("grace", "gone_after"), [(10, 10), (0, 0)])
def test_a_deleted_pod_has_its_grace_period(grace: int, gone_after: int) -> None:
    simulation = cluster(make_pod("p").grace_period(grace).obj())
    simulation.execute(commands.Delete("Pod", KEY))
    if gone_after:
        simulation.execute(commands.Advance(gone_after - 1))
        assert pod(simulation).terminating
        simulation.execute(commands.Advance(1))
    assert simulation.api.pod(KEY) is None


def test_deleting_a_pod_before_it_completes_leaves_no_timer_behind() -> None:
    simulation = cluster(make_pod("p").spec(restartPolicy="Never").annotation("sandbox/duration", "3600").obj())
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Run())
    assert simulation.now_us == 30_000_000


def test_the_kubelet_of_an_unreachable_node_does_nothing_until_it_is_back() -> None:
    simulation = cluster(
        make_pod("p").grace_period(10).obj(),
        make_pod("new").toleration("", None).annotation("sandbox/start-delay", "1").obj(),
    )
    simulation.execute(commands.NodeCondition("n1", "Ready", "Unknown"))
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Advance(60))
    assert pod(simulation).terminating
    fresh = simulation.api.pod("default/new")
    assert fresh is not None
    assert fresh.phase == "Pending"
    simulation.execute(commands.NodeCondition("n1", "Ready", "True"))
    simulation.execute(commands.Advance(10))
    assert simulation.api.pod(KEY) is None
    started = simulation.api.pod("default/new")
    assert started is not None
    assert started.phase == "Running"


def test_pods_on_an_unreachable_node_are_deleted_after_a_while() -> None:
    simulation = cluster(make_pod("p").obj())
    simulation.execute(commands.NodeCondition("n1", "Ready", "Unknown"))
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Advance(60))
    simulation.execute(commands.Delete("Node", "n1"))
    assert simulation.api.pod(KEY) is not None
    simulation.execute(commands.Advance(60))
    assert simulation.api.pod(KEY) is None


def test_a_pod_that_waits_for_its_node_starts_when_the_node_comes() -> None:
    simulation = cluster(make_pod("p").node("n2").obj())
    assert pod(simulation).phase == "Pending"
    simulation.execute(commands.Apply((make_node("n2").obj(),)))
    assert pod(simulation).phase == "Running"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sandbox/duration", "soon"),
        ("sandbox/duration", "-1"),
        ("sandbox/start-delay", "1e12"),
        ("sandbox/usage-memory", "much"),
        ("sandbox/usage-pids", "-3"),
    ],
)
def test_an_annotation_with_an_invalid_amount_is_refused(name: str, value: str) -> None:
    with pytest.raises(Rejected, match=r"metadata\.annotations"):
        cluster(make_pod("p").annotation(name, value).obj())
    simulation = cluster(make_pod("p").obj())
    with pytest.raises(Rejected, match=r"metadata\.annotations"):
        simulation.execute(commands.Apply((make_pod("p").annotation(name, value).obj(),)))
