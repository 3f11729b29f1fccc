"""The board of pod affinity, compared with a plain count of the cluster's objects, and with Filter and Score."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import wording
from scheduler_engine.framework.boards import AffinityBoard, AffinityRule
from scheduler_engine.plugins.inter_pod_affinity.plugin import FILTER_STATE, SCORE_STATE
from scheduler_engine.scheduler.explaining import affinity_board
from scheduler_engine.testing import HOSTNAME, ZONE, Cluster, make_node, make_pod
from scheduler_engine.testing.builders import PodBuilder

PLUGIN = "InterPodAffinity"
WEB, DB = {"app": "web"}, {"app": "db"}
Rows = dict[str, tuple[list[str], bool | None, int]]


def cluster(*pods: PodBuilder, configuration: dict[str, Any] | None = None) -> Cluster:
    """Return nodes a1, a2 (zone a), b1 (zone b) and lost (no zone), with ``pods``; the last one is "new"."""
    nodes = [make_node("a1").zone("a"), make_node("a2").zone("a"), make_node("b1").zone("b"), make_node("lost")]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}
    return Cluster(configuration).apply(namespace, *nodes, *pods)


def at_rest(made: Cluster) -> AffinityBoard:
    board = affinity_board(made.simulation.scheduler, made.pod("new"), PLUGIN)
    assert board is not None
    return board


def rows(rule: AffinityRule) -> Rows:
    """Return domain → names of pods, allowed, share of the score."""
    found = ((item.name, [key.rpartition("/")[2] for key in item.pods], item.ok, item.share) for item in rule.domains)
    return {name: (sorted(pods), ok, share) for name, pods, ok, share in sorted(found)}


def new() -> PodBuilder:
    return make_pod("new").labels(WEB)


@pytest.mark.parametrize(
    ("pods", "rules"),
    [
        pytest.param(
            [make_pod("db").labels(DB).node("a1"), new().affinity(ZONE, DB)],
            [("near", 0, {"a": (["db"], True, 0), "b": ([], False, 0)})],
            id="a required term names every domain, with and without the pod it needs",
        ),
        pytest.param(
            [new().affinity(ZONE, WEB)],
            [("near", 0, {"a": ([], True, 0), "b": ([], True, 0)})],
            id="the first pod of a group may go anywhere",
        ),
        pytest.param(
            [
                make_pod("w1").labels(WEB).node("a1"),
                make_pod("w2", "other").labels(WEB).node("b1"),
                new().anti_affinity(HOSTNAME, WEB),
            ],
            [("far", 0, {"a1": (["w1"], False, 0)})],
            id="anti-affinity names the nodes of matching pods in the same namespace",
        ),
        pytest.param(
            [make_pod("lonely").labels(DB).node("a2").anti_affinity(ZONE, WEB), new()],
            [("keeps-off", 0, {"a": (["lonely"], False, 0)})],
            id="symmetry: required anti-affinity of an existing pod refuses its domain",
        ),
        pytest.param(
            [make_pod("fan").labels(DB).node("b1").affinity(ZONE, WEB), new()],
            [("they-need", 1, {"b": (["fan"], None, 1)})],
            id="symmetry: required affinity of an existing pod scores with hardPodAffinityWeight",
        ),
        pytest.param(
            [
                make_pod("fan").node("a1").affinity(ZONE, WEB, weight=10),
                make_pod("foe").node("b1").anti_affinity(ZONE, WEB, weight=7),
                make_pod("db").labels(DB).node("b1"),
                new().affinity(ZONE, DB, weight=50).anti_affinity(HOSTNAME, DB, weight=20),
            ],
            [
                ("likes", 50, {"b": (["db"], None, 50)}),
                ("dislikes", -20, {"b1": (["db"], None, -20)}),
                ("they-like", 10, {"a": (["fan"], None, 10)}),
                ("they-dislike", -7, {"b": (["foe"], None, -7)}),
            ],
            id="preferences of both sides have their signed weights",
        ),
        pytest.param([make_pod("db").labels(DB).node("a1"), new()], [], id="without terms there are no rules"),
    ],
)
def test_each_rule_finds_whom_a_person_finds(pods: list[PodBuilder], rules: list[tuple[str, int, Rows]]) -> None:
    board = at_rest(cluster(*pods))
    assert [(rule.kind, rule.weight, rows(rule)) for rule in board.rules] == rules


def test_nodes_without_the_key_of_a_required_term_are_refused() -> None:
    (rule,) = at_rest(cluster(new().affinity(ZONE, WEB))).rules
    assert (rule.unlabelled, rule.first) == (("lost",), True)


def test_pods_of_other_namespaces_and_without_a_domain_are_left_out() -> None:
    pods = [make_pod("w1", "other").labels(WEB).node("a1"), make_pod("w2").labels(WEB).node("lost")]
    board = at_rest(cluster(*pods, new().anti_affinity(ZONE, WEB)))
    assert [(item.key, item.values["pods"]) for item in board.left_out] == [
        ("pod-affinity.uncounted-by-label", ("default/w2",)),
        ("pod-affinity.uncounted-by-namespace", ("other/w1",)),
    ]


@pytest.mark.parametrize(
    ("others", "lines"),
    [
        pytest.param(
            [make_pod("w").node("lost").anti_affinity(ZONE, WEB)],
            [f"the rule not to be near pods with app=web has no effect: lost has no label {ZONE}"],
            id="a required anti-affinity",
        ),
        pytest.param(
            [
                make_pod("w").node("lost").affinity(ZONE, WEB),
                make_pod("v").node("lost").affinity(ZONE, WEB, weight=1).anti_affinity(ZONE, WEB, weight=2),
            ],
            [
                f"the wish to be near pods with app=web has no effect: lost has no label {ZONE}",
                f"the wish not to be near pods with app=web has no effect: lost has no label {ZONE}",
                f"the need to be near pods with app=web has no effect: lost has no label {ZONE}",
            ],
            id="what scores",
        ),
        pytest.param([make_pod("w").node("lost").anti_affinity(ZONE, DB)], [], id="a rule about other pods"),
        pytest.param([make_pod("w").node("a1").anti_affinity(ZONE, WEB)], [], id="a rule that has an effect"),
        pytest.param(
            [make_pod("w").node(node).anti_affinity("rack", WEB) for node in ("a1",)]
            + [make_pod("v").node("b1").anti_affinity("rack", WEB)],
            ["the rule not to be near pods with app=web has no effect: a1 and b1 have no label rack"],
            id="the same rule on two nodes",
        ),
    ],
)
def test_rules_of_others_on_nodes_without_the_key_are_left_out_and_say_so(
    others: list[PodBuilder], lines: list[str]
) -> None:
    made = cluster(*others, new())
    rest = at_rest(made)
    assert [wording.worded(item, "note") for item in rest.left_out] == lines
    made.step_until(lambda now: now.simulation.scheduler.latest and now.simulation.scheduler.latest.host)
    latest = made.simulation.scheduler.latest
    assert latest is not None
    in_cycle = affinity_board(made.simulation.scheduler, latest.pod, PLUGIN, latest.number)
    assert in_cycle is not None
    assert in_cycle.left_out == rest.left_out


def test_preferences_of_others_can_be_ignored() -> None:
    arguments = {"name": PLUGIN, "args": {"ignorePreferredTermsOfExistingPods": True}}
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [arguments]}],
    }
    fan = make_pod("fan").node("a1").affinity(ZONE, WEB, weight=10)
    assert at_rest(cluster(fan, new(), configuration=configuration)) == AffinityBoard()
    idle = make_pod("idle").node("lost").affinity(ZONE, WEB, weight=10)
    assert at_rest(cluster(idle, new(), configuration=configuration)) == AffinityBoard()


def test_shares_add_up_to_the_weights_of_the_cycle_and_verdicts_to_those_of_filter() -> None:
    made = cluster(
        make_pod("fan").labels(DB).node("a1").affinity(ZONE, WEB, weight=10).affinity(ZONE, WEB, weight=10),
        make_pod("need").labels(DB).node("b1").affinity(HOSTNAME, WEB),
        make_pod("foe").node("a2").anti_affinity(HOSTNAME, WEB),
        new().affinity(ZONE, DB, weight=5).affinity(ZONE, DB, weight=5),
    )
    before = at_rest(made)
    made.step_until(
        lambda now: now.simulation.scheduler.latest and SCORE_STATE in now.simulation.scheduler.latest.state.data
    )
    scheduler = made.simulation.scheduler
    cycle = scheduler.latest
    assert cycle is not None
    board = affinity_board(scheduler, cycle.pod, PLUGIN, cycle.number)
    assert board is not None
    assert [(rule.kind, rows(rule)) for rule in board.rules] == [(rule.kind, rows(rule)) for rule in before.rules]
    plugin = cycle.framework.plugins[PLUGIN]
    for info in scheduler.snapshot.list():
        assert info.node is not None
        labels = info.node.labels
        here = [item for rule in board.rules for item in rule.domains if labels.get(rule.key) == item.name]
        assert sum(item.share for item in here) == plugin.score(cycle.state, cycle.pod, info)  # type: ignore[attr-defined]
        refused = plugin.filter(cycle.state, cycle.pod, info) is not None  # type: ignore[attr-defined]
        assert any(item.ok is False for item in here) == refused
    assert cycle.state.read(FILTER_STATE) is not None
    assert affinity_board(scheduler, cycle.pod, PLUGIN, cycle.number + 1) is None
