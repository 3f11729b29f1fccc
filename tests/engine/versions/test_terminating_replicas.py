"""``terminatingReplicas``: which versions count them, and what they count."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.testing import Cluster, make_node
from scheduler_engine.versions import VERSIONS

OLD, MIDDLE, NEW = VERSIONS
GATE = "DeploymentReplicaSetTerminatingReplicas"
ABSENT = "absent"


def owner(api: str, kind: str, replicas: int) -> dict[str, Any]:
    labels = {"app": "x"}
    selector = labels if kind == "ReplicationController" else {"matchLabels": labels}
    spec = {"terminationGracePeriodSeconds": 30, "containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    parts = {"replicas": replicas, "selector": selector, "template": template}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "x"}, "spec": parts}


KINDS = {"ReplicaSet": "apps/v1", "Deployment": "apps/v1", "ReplicationController": "v1"}


def counted(cluster: Cluster, kind: str) -> Any:
    return cluster.simulation.api.existing(kind, "default/x").status.get("terminatingReplicas", ABSENT)


def running(kind: str, version: str, gates: dict[str, bool] | None = None) -> Cluster:
    cluster = Cluster(kubernetes=version, feature_gates=gates)
    return cluster.apply(make_node("n1"), owner(KINDS[kind], kind, 3)).settle()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("version", "gates", "counts"),
    [
        (OLD, {}, False),
        (OLD, {GATE: True}, True),
        (MIDDLE, {}, True),
        (MIDDLE, {GATE: False}, False),
        (NEW, {}, True),
        (NEW, {GATE: False}, False),
    ],
)
def test_the_status_counts_pods_until_they_are_gone(
    kind: str, version: str, gates: dict[str, bool], counts: bool
) -> None:
    counts = counts and kind != "ReplicationController"
    cluster = running(kind, version, gates)
    assert counted(cluster, kind) == (0 if counts else ABSENT)
    cluster.execute({"kind": "scale", "object_kind": kind, "key": "default/x", "replicas": 1}).settle()
    assert counted(cluster, kind) == (2 if counts else ABSENT)
    cluster.advance(60)
    assert counted(cluster, kind) == (0 if counts else ABSENT)


def test_a_pod_that_the_selector_no_longer_matches_is_not_counted() -> None:
    cluster = running("ReplicaSet", NEW)
    cluster.execute({"kind": "scale", "object_kind": "ReplicaSet", "key": "default/x", "replicas": 1}).settle()
    going = next(pod for pod in cluster.simulation.api.pods("default") if pod.terminating)
    changes = {"metadata": {"labels": {"app": "other"}}}
    cluster.execute({"kind": "patch", "object_kind": "Pod", "key": going.key, "changes": changes}).settle()
    assert counted(cluster, "ReplicaSet") == 1


def test_a_rollout_sums_over_all_sets() -> None:
    cluster = running("Deployment", NEW)
    changes = {"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}}
    cluster.execute({"kind": "patch", "object_kind": "Deployment", "key": "default/x", "changes": changes})
    cluster.settle().advance(5)
    sets = [*cluster.simulation.api.list("ReplicaSet")]
    assert len(sets) == 2
    assert counted(cluster, "Deployment") == sum(item.status["terminatingReplicas"] for item in sets) > 0


@pytest.mark.parametrize("kind", ["ReplicaSet", "Deployment"])
def test_a_change_of_the_version_counts_anew_at_once(kind: str) -> None:
    cluster = running(kind, OLD)
    cluster.execute({"kind": "scale", "object_kind": kind, "key": "default/x", "replicas": 1}).settle()
    cluster.execute({"kind": "kubernetes", "version": MIDDLE, "feature_gates": {}})
    assert counted(cluster, kind) == 2
    cluster.execute({"kind": "kubernetes", "version": OLD, "feature_gates": {}})
    assert counted(cluster, kind) == ABSENT
