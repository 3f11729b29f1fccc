"""The tab "Topology": spread constraints per domain, and who attracts or repels the pod."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.witness import Nobody
from sandbox.panels.topology.affinity import MOST_DOMAINS, MOST_GROUPS
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
        ("counted for its next attempt, now", "", []),
        ("to be counted by PreFilter", "", []),
        ("counted in attempt 1, cycle 1", "", []),
        ("counted in attempt 1, cycle 1", "1 of 1 fits", []),
        ("counted in attempt 1, cycle 1", "1 of 1 fits", ["c"]),
    ]


def test_each_domain_has_its_count_its_skew_and_whether_it_is_allowed() -> None:
    data = panel(world_of(three_zones().simulation), pod="default/new")
    assert rows(data) == {"a": (2, "no", ""), "b": (1, "no", ""), "c": (0, "yes", "")}
    (board,) = data["boards"]
    assert [row["skew"] for row in board["domains"]] == ["3, at most 1", "2, at most 1", "1, at most 1"]
    assert [(row["counted"], row["fewest"]) for row in board["domains"]] == [
        ("a: 2 pods count.", False),
        ("b: 1 pod counts.", False),
        ("c: 0 pods count.", True),
    ]
    assert [text for _, text in board["says"]] == [
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
    assert "PreScore has not run" in board["says"][-1][1]


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


def test_one_of_many_domains_is_found_by_its_name() -> None:
    nodes = [make_node(f"n{number}") for number in range(100)]
    far = make_pod("new").labels(WEB).spread(HOST, WEB).anti_affinity(HOST, WEB)
    placed = [make_pod(f"web-{number}").labels(WEB).node(f"n{number}") for number in range(100)]
    world = world_of(Cluster().apply(*nodes, *placed, far).simulation)
    finds = (("topology.spread1", "n9"), ("topology.affinity1", "n42"))
    data = panel(world, pod="default/new", finds=finds, pages=(("topology.spread1", "2"),))
    (board,), (rule,) = data["boards"], data["affinity"]["rules"]
    assert [row["name"] for row in board["domains"]] == ["n9", *(f"n9{digit}" for digit in range(10))]
    assert "new is allowed in 100 of 100." in " ".join(text for _, text in board["says"])
    assert [row["name"] for row in rule["domains"]] == ["n42"]
    html = markup(world, pod="default/new", finds=(("topology.spread1", "n9"), ("topology.affinity1", "none")))
    assert 'value="n9"' in html
    assert "No name has “none” in it." in html
    assert "It finds no pod" not in html


def test_an_empty_sandbox_says_that_no_pod_was_scheduled() -> None:
    assert "No pod has been scheduled yet" in markup(world_of(Cluster().simulation))


# --- affinity ---


def two_sides() -> Cluster:
    """Return a pod with terms of its own, and existing pods with terms that select it."""
    nodes = [make_node(f"{zone}1").zone(zone).capacity(cpu="4") for zone in "abc"]
    placed = [
        *(make_pod(f"db-{number}").label("app", "db").node("a1") for number in range(5)),
        make_pod("foe").node("b1").anti_affinity(HOST, WEB),
        make_pod("fan").node("c1").affinity(ZONE, WEB, weight=40),
    ]
    new = make_pod("new").labels(WEB).affinity(ZONE, {"app": "db"}, weight=10)
    return Cluster().apply(*nodes, *placed, new)


def test_each_rule_names_its_domains_what_it_says_there_and_the_pods() -> None:
    rules = panel(world_of(two_sides().simulation), pod="default/new")["affinity"]["rules"]
    told = [
        (rule["says"], rule["weight"], row["name"], row["verdict"], [name for _, name in row["pods"]["shown"]])
        for rule in rules
        for row in rule["domains"]
    ]
    assert told == [
        ("These pods keep new away; their rule selects", "required", "b1", "ruled out", ["foe"]),
        ("new prefers to be near", "+10", "a", "+50", ["db-0", "db-1", "db-2"]),
        ("These pods prefer new nearby; their rule selects", "+40", "c", "+40", ["fan"]),
    ]


def graph(data: dict[str, Any]) -> dict[str, Any]:
    drawn: dict[str, Any] = json.loads(data["affinity"]["graph"])
    return drawn


def test_the_graph_groups_pods_by_app_and_its_arrows_start_at_the_pod_with_the_rule() -> None:
    found = graph(panel(world_of(two_sides().simulation), pod="default/new"))
    labels = {node["id"]: (node["label"], node.get("more", "")) for node in found["nodes"]}
    assert labels["pod"] == ("new", "")
    arrows = [
        (labels[edge["from"]][0], labels[edge["to"]][0], edge["label"], edge["strong"], edge["said"], edge["back"])
        for edge in found["edges"]
    ]
    assert arrows == [
        ("new", "on b1", "−", True, "no", True),
        ("on b1", "foe", "", True, "no", True),
        ("new", "in zone a", "+50", False, "yes", False),
        ("in zone a", "db", "", False, "yes", False),
        ("new", "in zone c", "+40", False, "yes", True),
        ("in zone c", "fan", "", False, "yes", True),
    ]
    assert ("db", "5 pods") in labels.values()
    assert ("on b1", "ruled out") in labels.values()


def test_a_graph_of_many_domains_and_apps_is_cut() -> None:
    nodes = [make_node(f"n{number:02}") for number in range(20)]
    homes = [f"n{number % 20:02}" for number in range(60)] + ["n00"] * 4
    placed = [
        make_pod(f"p{number}").labels({"team": "1", "app": f"app{number}"}).node(home)
        for number, home in enumerate(homes)
    ]
    new = make_pod("new").anti_affinity(HOST, {"team": "1"})
    found = graph(panel(world_of(Cluster().apply(*nodes, *placed, new).simulation), pod="default/new"))
    kinds = [node["kind"] for node in found["nodes"]]
    assert kinds.count("domain") == MOST_DOMAINS
    assert kinds.count("group") == MOST_DOMAINS * MOST_GROUPS
    assert [node["label"] for node in found["nodes"] if node["kind"] == "more"] == ["… 4 more", "… 12 more"]


def test_the_graph_has_lists_that_say_the_same() -> None:
    html = markup(world_of(two_sides().simulation), pod="default/new")
    assert 'id="affinity-graph"' in html
    assert 'aria-hidden="true"' in html
    for key in ("default/foe", "default/fan", "default/db-0"):
        assert f'data-pod="{key}"' in html


def test_a_pod_without_rules_has_no_graph_and_says_what_to_add() -> None:
    html = markup(world_of(Cluster().apply(make_node("n1"), make_pod("new")).simulation), pod="default/new")
    assert "affinity-graph" not in html
    assert "Nobody attracts or repels new." in html
    assert "podAntiAffinity" in html


# --- whose ---


def test_a_placed_pod_shows_its_attempt_and_a_chosen_attempt_that_attempt() -> None:
    cluster = three_zones().run()
    world = world_of(cluster.simulation)
    assert panel(world, pod="default/new")["when"] == "counted in attempt 1, cycle 1"
    assert panel(world, cycle=1)["when"] == "counted in attempt 1, cycle 1"
    assert panel(world, pod="default/web-0")["when"] == "counted now, without the pod itself"


def test_a_waiting_pod_shows_its_next_attempt_unless_an_attempt_is_chosen() -> None:
    cluster = three_zones()
    cluster.execute({"kind": "cordon", "node": "c1"}).run()
    world = world_of(cluster.simulation)
    assert panel(world, pod="default/new")["when"] == "counted for its next attempt, now"
    assert panel(world, pod="default/new", cycle=1)["when"] == "counted in attempt 1, cycle 1"


def test_a_deleted_pod_shows_its_last_attempt() -> None:
    cluster = three_zones().run().delete("Pod", "new").advance(60)
    assert panel(world_of(cluster.simulation), cycle=1)["when"] == "counted in attempt 1, cycle 1"


def test_without_a_witness_the_counts_are_not_at_hand() -> None:
    world = world_of(three_zones().simulation)
    world.witness = Nobody()
    assert "not at hand" in markup(world, pod="default/new")


def test_an_attempt_of_long_ago_in_a_large_cluster_is_not_counted_again() -> None:
    world = world_of(three_zones().run().simulation)
    world.witness = Busy()
    assert "too large to count again" in markup(world, cycle=1)


class Busy(Nobody):
    """A witness that would have to replay a large cluster."""

    def at_hand(self, cycle: Cycle) -> bool:
        return False


def test_nodes_with_nominated_pods_are_named() -> None:
    victim = make_pod("victim").cpu("1").node("n1").grace_period(60)
    nodes = [make_node("n1").capacity(cpu="1"), make_node("n2").capacity(cpu="500m")]
    cluster = Cluster().apply(*nodes, victim, make_pod("first").cpu("1").priority(5)).run(1)
    cluster.apply(make_pod("new").labels(WEB).spread(HOST, WEB))
    data = panel(world_of(cluster.run(1).simulation), pod="default/new")
    assert data["nominated"] == "On n1, Filter also counted the pods that are nominated there."


def test_a_rule_on_a_node_without_the_label_is_listed_with_the_reason() -> None:
    foe = make_pod("foe").node("lost").anti_affinity(ZONE, WEB)
    cluster = Cluster().apply(make_node("lost"), make_node("a1").zone("a"), foe, make_pod("new").labels(WEB))
    data = panel(world_of(cluster.simulation), pod="default/new")["affinity"]
    (line,) = data["left_out"]
    assert line["why"] == f"the rule not to be near pods with app=web has no effect: lost has no label {ZONE}"
    assert (line["kind"], line["shown"]) == ("pod", [("default/foe", "foe")])
    assert (data["rules"], data["graph"]) == ([], "")
    assert line["why"] in markup(world_of(cluster.simulation), pod="default/new")
