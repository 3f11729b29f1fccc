"""Why a budget refuses an eviction, in the words of each version."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.apiserver.eviction import evict
from scheduler_engine.testing import make_budget, make_node, make_pod
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.versions import VERSIONS

OLD, MIDDLE, NEW = VERSIONS
BUDGET = "The disruption budget b"
COUNTED = f"{BUDGET} needs 2 healthy pods and has 3 currently"
NOT_NOW = f"{BUDGET} does not allow evicting pods currently"


@pytest.mark.parametrize("kubernetes", VERSIONS)
@pytest.mark.parametrize(
    ("status", "cause"),
    [
        pytest.param({}, NOT_NOW, id="the controller has not counted yet"),
        pytest.param(
            {"reason": "SyncFailed", "message": "found no controllers"},
            f"{NOT_NOW} because it failed sync: found no controllers",
            id="the controller failed",
        ),
        pytest.param(
            {"reason": "Paused", "message": "not today"}, f"{NOT_NOW} (Paused): not today", id="another reason"
        ),
        pytest.param({"reason": "Paused"}, NOT_NOW, id="a reason without a message"),
    ],
)
def test_newer_versions_name_the_reason(kubernetes: str, status: dict[str, str], cause: str) -> None:
    pods = [make_pod(f"p{number}").label("app", "web").node("n1") for number in range(3)]
    cluster = Cluster(kubernetes=kubernetes).apply(make_node("n1"), *pods)
    cluster.apply(make_budget("b", {"app": "web"}, minAvailable=2)).settle()
    assert evict(cluster.simulation.api, "default/p0").code == 200
    if status:
        condition: dict[str, Any] = {"type": "DisruptionAllowed", "status": "False", **status}
        cluster.simulation.api.patch("PodDisruptionBudget", "default/b", {"status": {"conditions": [condition]}})
    assert evict(cluster.simulation.api, "default/p1").cause == (COUNTED if kubernetes == OLD else cause)


@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_a_budget_without_spare_pods_counts_them_in_every_version(kubernetes: str) -> None:
    pod = make_pod("p").label("app", "web").node("n1")
    cluster = Cluster(kubernetes=kubernetes).apply(make_node("n1"), pod)
    cluster.apply(make_budget("b", {"app": "web"}, minAvailable=1)).settle()
    answer = evict(cluster.simulation.api, "default/p")
    assert answer.cause == f"{BUDGET} needs 1 healthy pods and has 1 currently"
