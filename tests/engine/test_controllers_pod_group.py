"""The status of PodGroups: phases and counts, as the controller of scheduler-plugins keeps them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.pod_groups import LABEL
from scheduler_engine.testing import Cluster, make_node, make_pod
from tests.engine.gangs import coscheduling, make_group, member


def status(cluster: Cluster, name: str = "a") -> dict[str, Any]:
    group = cluster.simulation.api.get("PodGroup", f"default/{name}")
    assert group is not None
    return group.status


STATUSES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "too few pods": ([member("a", 0)], {"phase": "Pending"}),
    "pods that fit nowhere": (
        [member("a", 0, "9"), member("a", 1, "9")],
        {"phase": "Scheduling"},
    ),
    "pods that run": (
        [member("a", 0), member("a", 1)],
        {"phase": "Running", "running": 2},
    ),
    "a pod of the same group in another namespace": (
        [member("a", 0), make_pod("b", "kube-system").label(LABEL, "a")],
        {"phase": "Scheduling"},
    ),
}


@pytest.mark.parametrize("words", STATUSES)
def test_its_status_follows_the_pods(words: str) -> None:
    pods, expected = STATUSES[words]
    cluster = Cluster(coscheduling()).apply(make_node("n"), make_group("a", 2), *pods).advance(2)
    assert status(cluster) == expected


def test_a_finished_group_stays_finished() -> None:
    pods = [member("a", number).annotation("sandbox/duration", "5").spec(restartPolicy="Never") for number in range(2)]
    cluster = Cluster(coscheduling()).apply(make_node("n"), make_group("a", 2), *pods).advance(10)
    assert status(cluster) == {"phase": "Finished", "succeeded": 2}
    assert status(cluster.delete("Pod", "a-0").advance(60))["phase"] == "Finished"


def test_it_goes_back_to_pending_and_names_the_owner() -> None:
    template = {"metadata": {"labels": {LABEL: "a", "app": "a"}}, "spec": member("a", 0).obj()["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "a"}}, "template": template}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r"}, "spec": spec}
    cluster = Cluster(coscheduling()).apply(make_node("n"), make_group("a", 2), owner).advance(2)
    assert status(cluster) == {"phase": "Running", "running": 2, "occupiedBy": "default/r"}
    cluster.execute({"kind": "scale", "object_kind": "ReplicaSet", "key": "default/r", "replicas": 1}).advance(40)
    assert status(cluster)["phase"] == "Pending"
