"""The builders of workloads and storage make objects that the API server accepts and controllers act on."""

from __future__ import annotations

import pytest

from scheduler_engine.testing import (
    Cluster,
    make_claim,
    make_daemon_set,
    make_deployment,
    make_job,
    make_node,
    make_pod,
    make_stateful_set,
    make_storage_class,
    make_volume,
)

SMALL = make_pod("any").cpu("100m").label("team", "blue")


@pytest.mark.parametrize(
    ("workload", "pods"),
    [
        (make_deployment("web", 3, SMALL), 3),
        (make_stateful_set("db", 2, SMALL), 2),
        (make_daemon_set("agent", SMALL), 2),
        (make_job("batch", completions=4, parallelism=2, pod=SMALL), 2),
    ],
    ids=lambda value: value.manifest["kind"] if hasattr(value, "manifest") else "",
)
def test_a_workload_makes_pods_like_the_one_it_was_given(workload: object, pods: int) -> None:
    cluster = Cluster()
    cluster.apply(make_node("n1"), make_node("n2"), workload)  # type: ignore[arg-type]
    cluster.settle()
    made = cluster.simulation.api.pods()
    assert len(made) == pods
    assert all(pod.node_name and pod.labels["team"] == "blue" for pod in made)
    assert {pod.manifest["spec"]["containers"][0]["resources"]["requests"]["cpu"] for pod in made} == {"100m"}


def test_a_workload_needs_no_pod() -> None:
    cluster = Cluster()
    cluster.apply(make_node("n1"), make_deployment("web")).settle()
    assert len(cluster.simulation.api.pods()) == 1


def test_a_claim_waits_for_its_pod_and_goes_where_the_disk_is() -> None:
    cluster = Cluster()
    cluster.apply(
        make_node("n1"),
        make_node("n2"),
        make_storage_class("disks"),
        make_volume("disk", "2Gi", "disks", node="n2"),
        make_claim("data", "1Gi", "disks"),
        make_pod("db").claim("data"),
    ).run()
    assert cluster.node_of("db") == "n2"


def test_a_volume_without_a_node_is_reached_from_everywhere() -> None:
    cluster = Cluster()
    claim = make_claim("data", storage_class="")
    cluster.apply(make_node("n1"), make_volume("disk"), claim, make_pod("db").claim("data")).run()
    assert cluster.node_of("db") == "n1"
