"""Metrics that only some versions have."""

from __future__ import annotations

import pytest

from scheduler_engine.metrics import render, samples
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.versions import VERSIONS
from tests.engine.versions.test_cycles import LISTED, batch

OLD, MIDDLE, NEW = VERSIONS
AFTER_FLUSH = "scheduler_pod_scheduled_after_flush_total"
FIVE_MINUTES_AND_A_FLUSH = 5 * 60 + 40


def flushed(cluster: Cluster) -> list[float]:
    return [value for name, _, value in samples(cluster.simulation) if name == AFTER_FLUSH]


def results(cluster: Cluster, name: str, label: str) -> dict[str, float]:
    return {labels[label]: value for key, labels, value in samples(cluster.simulation) if key == name}


@pytest.mark.parametrize(("kubernetes", "counted"), [(OLD, []), (MIDDLE, []), (NEW, [1])])
def test_a_pod_that_is_bound_after_it_waited_too_long_is_counted(kubernetes: str, counted: list[float]) -> None:
    cluster = Cluster(kubernetes=kubernetes).apply(make_node("n1"))
    cluster.execute({"kind": "fault", "plugin": "NodeName", "point": "filter", "answer": "deny"})
    cluster.apply(make_pod("p")).settle()
    assert cluster.advance(FIVE_MINUTES_AND_A_FLUSH).node_of("p") == "n1"
    assert flushed(cluster) == counted


def test_a_pod_that_fails_again_or_is_helped_by_an_event_is_not_counted() -> None:
    cluster = Cluster(kubernetes=NEW).apply(make_node("n1").capacity(cpu="1", pods="9"), make_pod("p").cpu("2"))
    cluster.settle().advance(FIVE_MINUTES_AND_A_FLUSH)
    assert len(cluster.attempts("p")) == 2
    cluster.apply(make_node("n1").capacity(cpu="4", pods="9")).advance(20)
    assert (cluster.node_of("p"), flushed(cluster)) == ("n1", [0])


def test_a_gated_pod_is_marked_as_well_when_it_has_waited_long() -> None:
    cluster = Cluster(kubernetes=NEW).apply(make_node("n1"), make_pod("p").gate("closed"))
    cluster.settle().advance(FIVE_MINUTES_AND_A_FLUSH)
    changes = {"spec": {"schedulingGates": []}}
    cluster.execute({"kind": "patch", "object_kind": "Pod", "key": "default/p", "changes": changes}).settle()
    assert (cluster.node_of("p"), flushed(cluster)) == ("n1", [1])


@pytest.mark.parametrize(
    ("kubernetes", "attempts"),
    [(OLD, {}), (MIDDLE, {"hint_used": 2, "no_hint": 1}), (NEW, {"hint_used": 2, "no_hint": 1})],
)
def test_uses_of_rankings_are_counted(kubernetes: str, attempts: dict[str, float]) -> None:
    cluster = batch(kubernetes)
    assert results(cluster, "scheduler_batch_attempts_total", "result") == attempts
    assert results(cluster, "scheduler_batch_cache_flushed_total", "reason") == {}


def test_the_reasons_for_dropping_a_ranking_are_counted() -> None:
    cluster = batch(NEW, count=1).apply(make_pod("b").cpu("100m")).settle()
    assert results(cluster, "scheduler_batch_cache_flushed_total", "reason") == {"pod_incompatible": 1}
    alone = Cluster(LISTED, kubernetes=NEW).apply(make_node("n1"), make_pod("p")).settle()
    assert results(alone, "scheduler_batch_cache_flushed_total", "reason") == {"empty_list": 1}
    default = Cluster(kubernetes=NEW).apply(make_node("n1"), make_node("n2"), make_pod("p")).settle()
    assert results(default, "scheduler_batch_cache_flushed_total", "reason") == {"pod_not_batchable": 1}
    other = batch(NEW, count=1)
    other.apply(make_pod("other").cpu("2").node("n3")).apply(make_pod("p1").cpu("1500m")).settle()
    attempts = results(other, "scheduler_batch_attempts_total", "result")
    assert attempts == {"hint_not_used": 1, "no_hint": 1}


@pytest.mark.parametrize(("kubernetes", "stability"), [(OLD, "ALPHA"), (MIDDLE, "ALPHA"), (NEW, "BETA")])
def test_some_metrics_are_beta_in_v1_36(kubernetes: str, stability: str) -> None:
    text = render(Cluster(kubernetes=kubernetes).simulation)
    for name in ("scheduler_permit_wait_duration_seconds", "scheduler_unschedulable_pods"):
        assert f"# HELP {name} [{stability}]" in text
    assert "# HELP scheduler_cache_size [ALPHA]" in text
