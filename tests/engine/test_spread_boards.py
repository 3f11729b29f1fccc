"""The board of each spread constraint, compared with a plain count of the cluster's objects."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.boards import SpreadBoard
from scheduler_engine.scheduler.explaining import spread_boards
from scheduler_engine.testing import Cluster, make_node, make_pod
from scheduler_engine.testing.builders import PodBuilder

PLUGIN, ZONE = "PodTopologySpread", "topology.kubernetes.io/zone"
WEB = {"app": "web"}


def constraint(**fields: Any) -> dict[str, Any]:
    selector = {"matchLabels": WEB}
    return {
        "topologyKey": ZONE,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
        **fields,
    }


def nodes() -> list[Any]:
    """Return two nodes in zone a, one of them tainted, one in b, one in c with another disk, and one in no zone."""
    return [
        make_node("a1").zone("a").label("disk", "ssd"),
        make_node("a2").zone("a").label("disk", "ssd").taint("gpu", "yes"),
        make_node("b1").zone("b").label("disk", "ssd"),
        make_node("c1").zone("c").label("disk", "hdd"),
        make_node("lost").label("disk", "ssd"),
    ]


def placed(name: str, node: str, namespace: str = "default", **labels: str) -> PodBuilder:
    return make_pod(name, namespace).labels({**WEB, **labels}).node(node)


def incoming(*constraints: dict[str, Any], labels: dict[str, str] | None = None) -> PodBuilder:
    return make_pod("new").labels(labels or {**WEB, "rev": "2"}).spec(topologySpreadConstraints=[*constraints])


PODS = [
    placed("w1", "a1", rev="1"),
    placed("w2", "a1", rev="2"),
    placed("w3", "a2", rev="2"),
    placed("w4", "b1", rev="1"),
    placed("w5", "c1", rev="2"),
    placed("w6", "lost", rev="2"),
    placed("elsewhere", "b1", "other"),
    placed("leaving", "b1", rev="2").grace_period(60),
    make_pod("db").label("app", "db").node("a1"),
]


def cluster(pod: PodBuilder) -> Cluster:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}
    return Cluster().apply(namespace, *nodes(), *copy.deepcopy(PODS)).delete("Pod", "leaving").apply(pod)


def boards_at_rest(pod: PodBuilder) -> tuple[SpreadBoard, ...]:
    made = cluster(pod)
    boards = spread_boards(made.simulation.scheduler, made.pod("new"), PLUGIN)
    assert boards is not None
    return boards


def names(keys: Any) -> list[str]:
    return sorted(key.rpartition("/")[2] for key in keys)


def rows(board: SpreadBoard) -> dict[str | None, tuple[int, list[str], int | None, bool | None]]:
    """Return counted domain → number, names, skew, allowed."""
    return {item.name: (item.there, names(item.pods), item.skew, item.ok) for item in board.domains if item.counted}


def left_out(board: SpreadBoard) -> dict[str, list[str]]:
    return {
        item.key.partition(".")[2]: names(item.values.get("pods") or item.values["nodes"]) for item in board.left_out
    }


@pytest.mark.parametrize(
    ("fields", "spec", "minimum", "counted", "out"),
    [
        pytest.param(
            {},
            {},
            1,
            {
                "a": (3, ["w1", "w2", "w3"], 3, False),
                "b": (1, ["w4"], 1, True),
                "c": (1, ["w5"], 1, True),
            },
            {
                "left-out-by-label": ["lost"],
                "uncounted-while-leaving": ["leaving"],
                "uncounted-by-namespace": ["elsewhere"],
                "uncounted-by-node": ["w6"],
                "uncounted-by-labels": ["db"],
            },
            id="terminating pods, other namespaces, other labels and nodes without the key do not count",
        ),
        pytest.param(
            {"minDomains": 4},
            {},
            0,
            {
                "a": (3, ["w1", "w2", "w3"], 4, False),
                "b": (1, ["w4"], 2, False),
                "c": (1, ["w5"], 2, False),
            },
            {},
            id="with fewer domains than minDomains the minimum is 0",
        ),
        pytest.param(
            {"matchLabelKeys": ["rev"]},
            {},
            0,
            {"a": (2, ["w2", "w3"], 3, False), "b": (0, [], 1, True), "c": (1, ["w5"], 2, False)},
            {"uncounted-by-labels": ["db", "w1", "w4"]},
            id="matchLabelKeys count pods of the same revision",
        ),
        pytest.param(
            {"nodeTaintsPolicy": "Honor"},
            {},
            1,
            {"a": (2, ["w1", "w2"], 2, False), "b": (1, ["w4"], 1, True), "c": (1, ["w5"], 1, True)},
            {"left-out-by-taint": ["a2"], "uncounted-by-node": ["w3", "w6"]},
            id="nodeTaintsPolicy Honor leaves out nodes whose taints are not tolerated",
        ),
        pytest.param(
            {},
            {"nodeSelector": {"disk": "ssd"}},
            1,
            {"a": (3, ["w1", "w2", "w3"], 3, False), "b": (1, ["w4"], 1, True)},
            {"left-out-by-affinity": ["c1"], "uncounted-by-node": ["w5", "w6"]},
            id="nodeAffinityPolicy Honor leaves out nodes that the node selector rules out",
        ),
        pytest.param(
            {"nodeAffinityPolicy": "Ignore"},
            {"nodeSelector": {"disk": "ssd"}},
            1,
            {
                "a": (3, ["w1", "w2", "w3"], 3, False),
                "b": (1, ["w4"], 1, True),
                "c": (1, ["w5"], 1, True),
            },
            {},
            id="nodeAffinityPolicy Ignore counts them",
        ),
    ],
)
def test_a_hard_constraint_counts_what_a_person_counts(
    fields: dict[str, Any],
    spec: dict[str, Any],
    minimum: int,
    counted: dict[str, Any],
    out: dict[str, list[str]],
) -> None:
    (board,) = boards_at_rest(incoming(constraint(**fields)).spec(**spec))
    assert board.minimum == minimum
    assert rows(board) == counted
    found = left_out(board)
    assert {key: found[key] for key in out} == out


def test_without_a_domain_that_counts_the_minimum_is_0() -> None:
    (board,) = boards_at_rest(incoming(constraint(topologyKey="no-such")))
    assert (board.minimum, board.domains) == (0, ())
    assert left_out(board)["left-out-by-label"] == ["a1", "a2", "b1", "c1", "lost"]


def test_a_pod_that_its_selector_does_not_match_adds_nothing() -> None:
    (board,) = boards_at_rest(incoming(constraint(), labels={"app": "db"}))
    assert board.itself == 0
    assert {name: row[2] for name, row in rows(board).items()} == {"a": 2, "b": 0, "c": 0}


def test_an_attempt_has_the_same_boards_as_the_pod_at_rest() -> None:
    """Also where the cycle counted with arrays: its state is replaced by an equal plain one."""
    hard, soft = constraint(maxSkew=2), constraint(whenUnsatisfiable="ScheduleAnyway")
    made = cluster(incoming(hard, soft))
    pod = made.pod("new")
    at_rest = spread_boards(made.simulation.scheduler, pod, PLUGIN)
    made.step_until(
        lambda now: (
            now.simulation.scheduler.latest
            and "PreScorePodTopologySpread" in now.simulation.scheduler.latest.state.data
        )
    )
    latest = made.simulation.scheduler.latest
    assert latest is not None
    in_cycle = spread_boards(made.simulation.scheduler, pod, PLUGIN, latest.number)
    assert at_rest is not None
    assert in_cycle is not None
    assert [rows(board) for board in at_rest[:1]] == [rows(board) for board in in_cycle[:1]]
    assert [board.assumed for board in (*at_rest, *in_cycle)] == [False, True, False, False]
    assert spread_boards(made.simulation.scheduler, pod, PLUGIN, latest.number + 1) is None


def test_a_soft_constraint_has_the_numbers_of_the_score() -> None:
    made = cluster(incoming(constraint(whenUnsatisfiable="ScheduleAnyway")))
    made.step_until(lambda now: now.simulation.scheduler.latest and now.simulation.scheduler.latest.raw)
    latest = made.simulation.scheduler.latest
    assert latest is not None
    boards = spread_boards(made.simulation.scheduler, made.pod("new"), PLUGIN, latest.number)
    assert boards is not None
    (board,) = boards
    raw = latest.raw[PLUGIN]
    for item in board.domains:
        for node in item.nodes:
            if node in raw and item.added is not None:
                assert raw[node] == int(item.added + 0.5)
    assert {item.name: item.there for item in board.domains} == {"a": 3, "b": 1, "c": 1}


def test_each_host_is_a_domain() -> None:
    (board,) = boards_at_rest(incoming(constraint(topologyKey="kubernetes.io/hostname")))
    assert {item.name: item.there for item in board.domains} == {"a1": 2, "a2": 1, "b1": 1, "c1": 1, "lost": 1}


def test_defaults_of_the_configuration_are_boards_too() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": WEB, "ports": [{"port": 80}]},
    }
    made = cluster(make_pod("new").labels(WEB)).apply(service)
    pod: Pod = made.pod("new")
    boards = spread_boards(made.simulation.scheduler, pod, PLUGIN)
    assert boards is not None
    assert [(board.default, board.assumed, board.when, board.most) for board in boards] == [
        (True, True, "ScheduleAnyway", 3),
        (True, True, "ScheduleAnyway", 5),
    ]
    assert {item.name for item in boards[1].domains} == {"a", "b", "c", None}
