"""Words, amounts and small pieces of markup."""

from __future__ import annotations

import pytest

from sandbox.panels import World
from sandbox.panels.drawing.shapes import bar
from sandbox.panels.inspector.pod_facts import facts
from sandbox.panels.model.state import PodState
from sandbox.words.amounts import clock, cores, memory, ratio, seconds
from sandbox.words.phrases import camel, listed, phrases, short_reason
from scheduler_engine.api.objects import Pod
from tests.sandbox.scenarios import hatched


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (("Insufficient cpu",), "cpu"),
        (("Insufficient cpu", "Insufficient memory"), "cpu + mem"),
        (("Insufficient nvidia.com/gpu",), "gpu"),
        (("Too many pods",), "pods"),
        (("node(s) had untolerated taint {dedicated: gpu}",), "dedicated taint"),
        (("node(s) had untolerated taint {nvidia.com/gpu: true}",), "gpu taint"),
        (("node(s) had untolerated taint {node.kubernetes.io/not-ready: }",), "not-ready taint"),
        (("node(s) didn't match pod topology spread constraints (missing required label)",), "label missing"),
        (("node(s) didn't satisfy existing pods anti-affinity rules",), "kept off"),
        (('persistentvolumeclaim "x" not found',), "claim missing"),
        (("node(s) had maintenance soon",), "had maintenance soon"),
        (("something quite new happened here",), "something quite new happened…"),
        ((), "no"),
    ],
)
def test_a_reason_in_two_words(reasons: tuple[str, ...], words: str) -> None:
    assert short_reason(reasons) == words


def test_a_message_is_cut_into_head_phrases_and_what_postfilter_added() -> None:
    text = (
        "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) had untolerated taint {a: b, c}. "
        "preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
    )
    head, parts, after = phrases(text)
    assert head == "0/4 nodes are available:"
    assert parts == [("1", "Insufficient cpu"), ("3", "node(s) had untolerated taint {a: b, c}")]
    assert after.startswith("preemption: 0/4")


@pytest.mark.parametrize(
    ("text", "reason", "added"),
    [
        (
            '0/2 nodes are available: persistentvolumeclaim "x" not found. not found',
            'persistentvolumeclaim "x" not found',
            "not found",
        ),
        ("0/2 nodes are available: a, and b. preemption: 0/2 are", "a, and b", "preemption: 0/2 are"),
        ("0/2 nodes are available: injected denial.", "injected denial", ""),
    ],
)
def test_a_reason_without_a_count_is_one_phrase(text: str, reason: str, added: str) -> None:
    assert phrases(text) == ("0/2 nodes are available:", [("", reason)], added)


def test_a_message_of_another_kind_stays_whole() -> None:
    assert phrases("no nodes available to schedule pods") == ("no nodes available to schedule pods", [], "")


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c", "d"], "a, b, c and 1 more")],
    ids=["none", "one", "two", "too many"],
)
def test_names_are_listed_as_people_do(names: list[str], text: str) -> None:
    assert listed(names) == text


def test_amounts_are_short() -> None:
    assert (cores(1500), memory(3 << 29), ratio("cpu", 2800, 4000), ratio("memory", 9 << 29, 8 << 30)) == (
        "1.5",
        "1.5Gi",
        "2.8/4",
        "4.5/8Gi",
    )
    assert (ratio("cpu", 250, 4000), ratio("cpu", 1250, 4000)) == ("0.25/4", "1.25/4")
    assert (clock(12_400_000), clock(3_600_000_000), seconds(18_000_000)) == ("00:12.4", "60:00.0", "18 s")


def test_a_bar_is_amber_up_to_the_limit_and_hatched_beyond() -> None:
    fits = [shape.classes for shape in bar(((1, 1000, "bound"),), 1000, 4000).shapes]
    over = [shape.classes for shape in bar(((1, 3000, "bound"),), 2000, 4000).shapes]
    assert ("need" in fits, "over" in fits) == (True, False)
    assert ("need" in over, "over" in over) == (True, True)


def test_a_bar_of_a_resource_that_the_node_lacks_is_all_hatched() -> None:
    assert hatched(bar((), 1, 0))


def test_a_line_may_break_between_the_words_of_a_plugins_name() -> None:
    assert [camel(name) for name in ("NodeResourcesFit", "usedPVC", "x")] == [
        ["Node", "Resources", "Fit"],
        ["used", "P", "V", "C"],
        ["x"],
    ]


def test_a_pod_with_every_kind_of_constraint_is_described() -> None:
    spec = {
        "containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 8080}]}],
        "tolerations": [
            {"key": "gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
            {"key": "sla", "operator": "Gt", "value": "950", "effect": "NoSchedule"},
        ],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]},
                        {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]},
                    ]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 50, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}
                ],
            },
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "topology.kubernetes.io/zone"}
                ]
            },
        },
        "preemptionPolicy": "Never",
    }
    pod = PodState(Pod({"metadata": {"name": "p"}, "spec": spec}), 1)
    texts = {fact["term"]: fact["text"] for fact in facts(pod, World())}
    assert texts["Requests"] == "nothing but a pod slot"
    assert texts["Wants"] == "zone in a, b or cores > 4"
    assert texts["Prefers"] == "has disk (50)"
    assert texts["Near"] == "app=db per zone"
    assert texts["Tolerates"] == "gpu:NoExecute for 60 s, sla > 950:NoSchedule"
    assert texts["Ports"] == "8080/TCP"
    assert texts["Policy"] == "Never"
