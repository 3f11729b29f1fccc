"""Tolerations with the operators Lt and Gt: what the API server, the scheduler and those who evict make of them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.taints import Taint, Toleration
from scheduler_engine.errors import Rejected
from scheduler_engine.scheduler.explaining import filter_facts
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import VERSIONS
from scheduler_engine.wording import worded
from tests.engine.cells import watching
from tests.engine.versions.test_plugins import events, message_of

OLD, MIDDLE, NEW = VERSIONS
GATES = {"TaintTolerationComparisonOperators": True}


def comparing(operator: str, value: str, effect: str = "NoSchedule", name: str = "p") -> PodBuilder:
    toleration = {"key": "sla", "operator": operator, "value": value, "effect": effect}
    return make_pod(name).spec(tolerations=[toleration])


@pytest.mark.parametrize(
    ("operator", "value", "taint", "tolerates"),
    [
        pytest.param("Lt", "950", "900", True, id="the taint is below"),
        pytest.param("Lt", "950", "950", False, id="not below itself"),
        pytest.param("Lt", "950", "951", False, id="above"),
        pytest.param("Gt", "950", "951", True, id="the taint is above"),
        pytest.param("Gt", "950", "950", False, id="not above itself"),
        pytest.param("Gt", "-5", "-4", True, id="negative numbers"),
        pytest.param("Gt", "9", "10", True, id="as numbers, not as texts"),
        pytest.param("Gt", "0", "007", False, id="a taint with leading zeros is no number"),
        pytest.param("Gt", "0", "high", False, id="a taint that is no number"),
        pytest.param("Gt", "0", "", False, id="a taint without a value"),
        pytest.param("Gt", "0", "9223372036854775808", False, id="a taint over 64 bits"),
        pytest.param("Gt", "+1", "5", False, id="a toleration that is no number"),
    ],
)
def test_values_are_compared_as_whole_numbers(operator: str, value: str, taint: str, tolerates: bool) -> None:
    toleration = Toleration("sla", operator, value)
    assert toleration.tolerates(Taint("sla", taint), True) == tolerates
    assert not toleration.tolerates(Taint("sla", taint), False)


REFUSAL = 'spec.tolerations[0].operator: Unsupported value: "{operator}": supported values: {supported}'
TWO, FOUR = '"Equal", "Exists"', '"Equal", "Exists", "Lt", "Gt"'


@pytest.mark.parametrize(
    ("kubernetes", "gates", "pod", "error"),
    [
        (OLD, {}, comparing("Lt", "5"), REFUSAL.format(operator="Lt", supported=TWO)),
        (MIDDLE, {}, comparing("Lt", "5"), REFUSAL.format(operator="Lt", supported=FOUR)),
        (NEW, {}, comparing("Gt", "x"), REFUSAL.format(operator="Gt", supported=FOUR)),
        (NEW, GATES, comparing("Ge", "5"), REFUSAL.format(operator="Ge", supported=TWO)),
        (MIDDLE, GATES, comparing("Lt", "5"), ""),
        (
            NEW,
            GATES,
            comparing("Lt", "05"),
            'spec.tolerations[0].value: Invalid value: "05": must be a valid decimal integer in canonical form',
        ),
        (
            NEW,
            GATES,
            comparing("Lt", "-9223372036854775809"),
            'spec.tolerations[0].value: Invalid value: "-9223372036854775809": strconv.ParseInt: parsing '
            '"-9223372036854775809": value out of range',
        ),
        (
            NEW,
            GATES,
            comparing("Gt", ""),
            'spec.tolerations[0].value: Invalid value: "": must be non-empty; '
            'spec.tolerations[0].value: Invalid value: "": strconv.ParseInt: parsing "": invalid syntax',
        ),
    ],
)
def test_the_api_server_accepts_numbers_if_the_gate_is_on(
    kubernetes: str, gates: dict[str, bool], pod: PodBuilder, error: str
) -> None:
    cluster = Cluster(kubernetes=kubernetes, feature_gates=gates)
    if not error:
        cluster.apply(pod)
        return
    with pytest.raises(Rejected) as refusal:
        cluster.apply(pod)
    assert str(refusal.value) == error


def template_of(*tolerations: dict[str, Any]) -> dict[str, Any]:
    labels = {"app": "d"}
    spec = {"containers": [{"name": "c", "image": "i"}], "tolerations": [*tolerations]}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


BELOW_TEN = {"key": "sla", "operator": "Lt", "value": "10", "effect": "NoSchedule"}
CLASS = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "r"}, "handler": "r"}


def test_templates_may_compare_but_runtime_classes_may_not() -> None:
    cluster = Cluster(kubernetes=NEW, feature_gates=GATES).apply(template_of(BELOW_TEN))
    with pytest.raises(Rejected, match=r'scheduling\.tolerations\[0\]\.operator: Unsupported value: "Lt"'):
        cluster.apply({**CLASS, "scheduling": {"tolerations": [BELOW_TEN]}})
    with pytest.raises(Rejected, match='Unsupported value: "Lt"'):
        Cluster(kubernetes=NEW).apply(template_of(BELOW_TEN))


def test_a_pod_keeps_its_toleration_when_the_gate_is_switched_off_but_it_matches_nothing() -> None:
    node = make_node("n1").taint("sla", "9")
    cluster = Cluster(kubernetes=NEW, feature_gates=GATES).apply(node, comparing("Lt", "10").cpu("64")).settle()
    assert "Insufficient cpu" in message_of(cluster, "p")
    cluster.execute({"kind": "kubernetes", "version": NEW, "feature_gates": {}})
    changes = {"metadata": {"labels": {"a": "b"}}}
    cluster.execute({"kind": "patch", "object_kind": "Pod", "key": "default/p", "changes": changes})
    cluster.settle().advance(400).settle()
    assert "untolerated taint" in message_of(cluster, "p")
    facts = filter_facts(cluster.simulation.scheduler, len(cluster.attempts("p")), "n1", "TaintToleration")
    assert facts is not None
    text = worded(facts.shown[0], "formula")
    assert "“sla < 10:NoSchedule” compares values, and its feature gate is off" in text


@pytest.mark.parametrize("kubernetes", [MIDDLE, NEW])
def test_the_scheduler_compares(kubernetes: str) -> None:
    nodes = [make_node(name).taint("sla", value) for name, value in (("n1", "950"), ("n2", "970"), ("n3", "soon"))]
    cluster = Cluster(kubernetes=kubernetes, feature_gates=GATES).apply(*nodes)
    with watching(late=False) as cells:
        cluster.apply(comparing("Gt", "960"), comparing("Lt", "100", name="q")).settle()
    assert (cells.wrong, dict(cells.silent)) == ([], {})
    assert (cluster.node_of("p"), cluster.node_of("q")) == ("n2", "")
    assert message_of(cluster, "q").startswith("0/3 nodes are available: 3 node(s) had untolerated taint(s).")
    verdicts = [filter_facts(cluster.simulation.scheduler, 2, name, "TaintToleration") for name in ("n1", "n3")]
    assert [worded(facts.shown[0], "formula") for facts in verdicts if facts is not None] == [
        "not tolerated: “sla < 100:NoSchedule” does not hold: the taint has “950”",
        "not tolerated: “sla < 100:NoSchedule” compares whole numbers; the taint has “soon”",
    ]


def test_preferred_taints_are_compared_for_the_score() -> None:
    nodes = (
        make_node("n1").taint("sla", "5", "PreferNoSchedule"),
        make_node("n2").taint("sla", "50", "PreferNoSchedule"),
    )
    cluster = Cluster(kubernetes=NEW, feature_gates=GATES).apply(*nodes)
    cluster.apply(comparing("Gt", "10", "PreferNoSchedule")).settle()
    [scored] = events(cluster, ev.ScoreRan)
    assert dict(dict(scored.raw)["TaintToleration"]) == {"n1": 1, "n2": 0}


@pytest.mark.parametrize(("gates", "attempts"), [(GATES, 2), ({}, 1)])
def test_a_pod_is_queued_again_when_a_taint_gets_a_value_that_it_tolerates(
    gates: dict[str, bool], attempts: int
) -> None:
    cluster = Cluster(kubernetes=NEW, feature_gates=GATES).apply(make_node("n1").taint("sla", "50"))
    cluster.apply(comparing("Lt", "10")).settle().advance(20)
    cluster.execute({"kind": "kubernetes", "version": NEW, "feature_gates": gates})
    cluster.apply(make_node("n1").taint("sla", "5")).settle()
    assert len(cluster.attempts("p")) == attempts


@pytest.mark.parametrize(("value", "stays"), [("5", True), ("50", False)])
def test_pods_are_evicted_by_taints_that_they_do_not_tolerate(value: str, stays: bool) -> None:
    cluster = Cluster(kubernetes=NEW, feature_gates=GATES).apply(make_node("n1"))
    cluster.apply(comparing("Lt", "10", "NoExecute")).settle()
    cluster.apply(make_node("n1").taint("sla", value, "NoExecute")).settle()
    assert cluster.pod("p").terminating is not stays


@pytest.mark.parametrize(("value", "phase"), [("5", "Running"), ("50", "Failed")])
def test_a_kubelet_admits_by_comparing(value: str, phase: str) -> None:
    cluster = Cluster(kubernetes=NEW, feature_gates=GATES).apply(make_node("n1").taint("sla", value, "NoExecute"))
    pod = comparing("Lt", "10", "NoExecute").node("n1")
    cluster.simulation.execute(commands.Apply((pod.obj(),)))
    phases = [
        event.manifest["status"].get("phase")
        for event in events(cluster.settle(), ev.ObjectModified)
        if event.key == "default/p"
    ]
    assert phase in phases


@pytest.mark.parametrize(("gates", "nodes"), [(GATES, ["n1"]), ({}, [])])
def test_a_daemon_set_starts_pods_where_they_are_tolerated(gates: dict[str, bool], nodes: list[str]) -> None:
    cluster = Cluster(kubernetes=NEW, feature_gates=GATES).apply(template_of(BELOW_TEN))
    cluster.execute({"kind": "kubernetes", "version": NEW, "feature_gates": gates})
    cluster.apply(make_node("n1").taint("sla", "5"), make_node("n2").taint("sla", "50")).settle()
    pods = [pod.node_name for pod in cluster.simulation.api.list("Pod")]  # type: ignore[attr-defined]
    assert pods == nodes


def test_a_spread_constraint_counts_nodes_whose_taints_are_tolerated() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "nodeTaintsPolicy": "Honor",
        "labelSelector": {"matchLabels": {"app": "a"}},
    }
    nodes = make_node("n1").taint("sla", "5"), make_node("n2").taint("sla", "50")
    pods = [comparing("Lt", "10", name=name).label("app", "a") for name in ("p", "q")]
    for pod in pods:
        pod.manifest["spec"]["topologySpreadConstraints"] = [constraint]
    cluster = Cluster(kubernetes=NEW, feature_gates=GATES).apply(*nodes, *pods).settle()
    assert [cluster.node_of(name) for name in ("p", "q")] == ["n1", "n1"]
