"""The effect of a form, tried on a copy."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.worker import trial
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from tests.engine.cluster import node, pod


class Standing:
    """A live sandbox with this cluster."""

    def __init__(self, *manifests: dict[str, Any]) -> None:
        self.simulation = Simulation(full=True)
        if manifests:
            self.simulation.execute(commands.Apply(manifests))
        self.size = len(manifests)


def tried(standing: Standing, *manifests: dict[str, Any]) -> list[str]:
    before = len(standing.simulation.recorder.entries)
    live: Any = standing
    said = trial.trial(live, {"kind": "apply", "manifests": list(manifests)})
    assert len(standing.simulation.recorder.entries) == before, "nothing is stored"
    return said


def test_a_pod_that_fits_shows_where_it_would_go() -> None:
    standing = Standing(node("n1", cpu="1"), node("n2"), node("n3"))
    said = tried(standing, pod("a", "2"))
    assert said in (["2 of 3 nodes fit: it would go to n2."], ["2 of 3 nodes fit: it would go to n3."])


def test_a_pod_that_does_not_fit_gets_kubernetes_message() -> None:
    (said,) = tried(Standing(node("n1")), pod("a", "40"))
    assert said.startswith("a would not be scheduled: 0/1 nodes are available: 1 Insufficient cpu.")


def test_a_pod_without_any_node_says_so() -> None:
    said = tried(Standing(), pod("a", "1"))
    assert said == ["a would not be scheduled: no nodes available to schedule pods"]


def test_pods_that_would_be_evicted_are_named() -> None:
    standing = Standing(node("n1"), pod("low", "4", 0, nodeName="n1"))
    assert tried(standing, pod("a", "4", 10))[-1] == "It would evict low to make room on n1."


def test_several_pods_have_one_summary() -> None:
    standing = Standing(node("n1"), node("n2"))
    said = tried(standing, pod("a", "3"), pod("b", "3"), pod("c", "3"))
    assert said[0].startswith("2 of 3 pods would find a node: 1 on n")
    assert said[1].startswith("c, the first of those that would not be scheduled: 0/2 nodes are available")


def test_those_before_it_in_the_queue_come_first() -> None:
    standing = Standing(node("n1"), pod("urgent", "4", 100))
    assert tried(standing, pod("a", "4"))[0].startswith("a would not be scheduled")


def test_a_gated_pod_is_not_tried() -> None:
    gated = pod("a", "1")
    gated["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    assert tried(Standing(node("n1")), gated) == ["1 pod would not be tried now: it is gated, or others come first."]


def test_a_refusal_is_left_to_the_form() -> None:
    assert tried(Standing(), {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "A B"}}) == []


def test_a_node_alone_has_no_summary() -> None:
    assert tried(Standing(), node("n1")) == []


def test_a_large_cluster_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "MOST_OBJECTS", 0)
    assert tried(Standing(node("n1")), pod("a", "1")) == [
        "The cluster has more than 0 nodes and pods, so the outcome is not predicted."
    ]


def test_many_pods_are_not_tried() -> None:
    spec: dict[str, Any] = {"replicas": 41, "selector": {"matchLabels": {"app": "web"}}}
    many = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    assert tried(Standing(node("n1")), many) == ["The outcome is not predicted for more than 40 pods."]
