"""The tab "Topology": spread constraints per domain, and who attracts or repels the pod."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.topology.panel import stats
from scheduler_engine.testing import Cluster, make_node, make_pod
from tests.sandbox.scenarios import panel_html, world_of

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WEB = {"app": "web"}
markup = partial(panel_html, "topology")


def panel(world: World, **view: Any) -> dict[str, Any]:
    return stats(world, View(**view))


def three_zones(when: str = "DoNotSchedule") -> Cluster:
    """Return two pods in zone a, one in b, none in c, and one that waits, with the spread constraint."""
    nodes = [make_node(f"{zone}1").zone(zone).capacity(cpu="4") for zone in "abc"]
    placed = [make_pod(f"web-{number}").labels(WEB).node(node) for number, node in enumerate(("a1", "a1", "b1"))]
    return Cluster().apply(*nodes, *placed, make_pod("new").labels(WEB).spread(ZONE, WEB, when=when))


def rows(data: dict[str, Any]) -> dict[str, tuple[int, str, str]]:
    """Return domain → count, verdict, nodes that fit."""
    (board,) = data["boards"]
    return {row["name"]: (row["there"], row["said"], row["fits"]) for row in board["domains"]}


def test_the_board_follows_the_stages_of_the_attempt() -> None:
    cluster = three_zones()
    moments = []
    while not moments or not moments[-1][2]:
        data = panel(world_of(cluster.simulation), pod="default/new")
        (board,) = data["boards"]
        landed = [row["name"] for row in board["domains"] if row["landed"]]
        moments.append((data["when"], rows(data)["c"][2], landed))
        cluster.stage()
    assert [moment for place, moment in enumerate(moments) if moment not in moments[:place]] == [
        ("as its next attempt would count now", "", []),
        ("as PreFilter will count", "", []),
        ("as attempt 1 counted (cycle 1)", "", []),
        ("as attempt 1 counted (cycle 1)", "1 of 1 fits", []),
        ("as attempt 1 counted (cycle 1)", "1 of 1 fits", ["c"]),
    ]


def test_each_domain_has_its_count_its_skew_and_whether_it_is_allowed() -> None:
    data = panel(world_of(three_zones().simulation), pod="default/new")
    assert rows(data) == {"a": (2, "no", ""), "b": (1, "no", ""), "c": (0, "yes", "")}
    (board,) = data["boards"]
    assert [row["skew"] for row in board["domains"]] == ["3, at most 1", "2, at most 1", "1, at most 1"]
    assert board["says"] == [
        "The fewest pods in a domain: 0 (the global minimum).",
        "A domain may have 0 + 1 = 1.",
        "new is allowed in 1 of 3.",
    ]


def test_a_stack_has_the_pods_the_pod_itself_and_the_limit() -> None:
    (board,) = panel(world_of(three_zones().simulation), pod="default/new")["boards"]
    kinds = [[shape.classes.split()[0] for shape in row["drawing"].shapes[1:]] for row in board["domains"]]
    assert kinds == [
        ["sk-pod", "sk-pod", "sk-over", "sk-limit"],
        ["sk-pod", "sk-over", "sk-limit"],
        ["sk-would", "sk-limit"],
    ]


def test_a_node_that_joins_a_domain_counts_at_once() -> None:
    cluster = three_zones().apply(make_node("d1").zone("d").capacity(cpu="4"))
    assert rows(panel(world_of(cluster.simulation), pod="default/new"))["d"] == (0, "yes", "")


def test_pods_and_nodes_lead_to_themselves() -> None:
    html = markup(world_of(three_zones().simulation), pod="default/new")
    assert 'data-pod="default/web-2"' in html
    assert 'data-node="c1"' in html


def test_a_soft_constraint_has_scores_and_no_limit() -> None:
    data = panel(world_of(three_zones("ScheduleAnyway").simulation), pod="default/new")
    assert rows(data)["a"] == (2, "score", "")
    (board,) = data["boards"]
    assert [row["added"] for row in board["domains"]] == ["+3.22", "+1.61", "+0.00"]
    assert "PreScore has not run" in board["says"][-1]


def test_a_pod_without_constraints_says_what_to_add() -> None:
    cluster = Cluster().apply(make_node("n1"), make_pod("new"))
    html = markup(world_of(cluster.simulation), pod="default/new")
    assert "new has no spread constraint." in html
    assert "topologySpreadConstraints" in html


@pytest.mark.parametrize("hosts", [pytest.param(100, id="a hundred hosts, twelve at first")])
def test_many_domains_have_pages(hosts: int) -> None:
    nodes = [make_node(f"n{number}") for number in range(hosts)]
    cluster = Cluster().apply(*nodes, make_pod("new").labels(WEB).spread(HOST, WEB))
    world = world_of(cluster.simulation)
    (board,) = panel(world, pod="default/new")["boards"]
    assert (len(board["domains"]), board["pages"].more) == (12, hosts - 12)
    (board,) = panel(world, pod="default/new", pages=(("topology.spread1", "2"),))["boards"]
    assert len(board["domains"]) == hosts - 50


def test_an_empty_sandbox_says_that_no_pod_was_scheduled() -> None:
    assert "No pod has been scheduled yet" in markup(world_of(Cluster().simulation))
