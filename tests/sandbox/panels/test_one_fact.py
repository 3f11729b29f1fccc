"""One verdict comes from one fact wherever it is shown: zone header, card, cell, row and inspector."""

from __future__ import annotations

from html import escape
from typing import Any

import pytest

from sandbox.panels import PANELS, View, World
from sandbox.panels.cluster import panel as cluster
from sandbox.panels.explain import explain_filter
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, ZONE, make_node, make_pod, make_priority_class
from tests.sandbox.scenarios import drawn, panel_html, world_of

SPREAD = "PodTopologySpread"
Data = dict[str, Any]


def nodes(*zones: str, **labels: str) -> list[Data]:
    """Return two nodes per zone: one named after it, and another one."""
    created = []
    for zone in zones:
        for number in (1, 2):
            builder = make_node(f"{zone}{number}").zone(zone)
            for key, value in labels.items():
                builder.label(key, value)
            created.append(builder.obj())
    return created


def web(name: str, node: str = "") -> Any:
    pod = make_pod(name).label("app", "web")
    return pod.node(node) if node else pod


def there(**counts: int) -> list[Data]:
    """Return this number of pods on the first node of each zone."""
    return [web(f"web-{zone}{n}", f"{zone}1").obj() for zone, count in counts.items() for n in range(count)]


def other_zone(taint: bool) -> list[Data]:
    """Return zone d, empty and closed to the pod by a taint or its label."""
    node = make_node("d1").zone("d").label("kind", "gpu")
    return [(node.taint("dedicated", "gpu") if taint else node).obj()]


def not_on_gpu(**more: Any) -> Data:
    pod = web("web-9").node_affinity("kind", ["gpu"], "NotIn")
    manifest: Data = pod.spread(ZONE, {"app": "web"}, 1, "DoNotSchedule", **more).obj()
    return manifest


def twice() -> Data:
    pod = web("web-9").spread(HOSTNAME, {"app": "web"}, 5, "DoNotSchedule")
    manifest: Data = pod.spread(ZONE, {"app": "web"}, 1, "DoNotSchedule").obj()
    return manifest


CASES: dict[str, tuple[list[Data], Data, str, str]] = {
    "a node that the pod's affinity excludes is not a domain": (
        [*nodes("a", "b"), *other_zone(taint=False), *there(a=2, b=1)],
        not_on_gpu(),
        "a",
        "skew 2 > 1",
    ),
    "nodeAffinityPolicy Ignore makes it one": (
        [*nodes("a", "b"), *other_zone(taint=False), *there(a=2, b=1)],
        not_on_gpu(nodeAffinityPolicy="Ignore"),
        "a",
        "skew 3 > 1",
    ),
    "a tainted node is a domain": (
        [*nodes("a", "b"), *other_zone(taint=True), *there(a=2, b=1)],
        web("web-9").spread(ZONE, {"app": "web"}).obj(),
        "a",
        "skew 3 > 1",
    ),
    "nodeTaintsPolicy Honor excludes it": (
        [*nodes("a", "b"), *other_zone(taint=True), *there(a=2, b=1)],
        web("web-9").spread(ZONE, {"app": "web"}, 1, "DoNotSchedule", nodeTaintsPolicy="Honor").obj(),
        "a",
        "skew 2 > 1",
    ),
    "with fewer domains than minDomains the fewest counts as none": (
        [*nodes("a", "b"), *there(a=2, b=2)],
        web("web-9").spread(ZONE, {"app": "web"}, 1, "DoNotSchedule", minDomains=3).obj(),
        "a",
        "skew 3 > 1",
    ),
    "the zones show the second of two constraints": (
        [*nodes("a", "b"), *there(a=1)],
        twice(),
        "a",
        "skew 2 > 1",
    ),
    "a pod that does not match its own selector does not count itself": (
        [*nodes("a", "b"), *there(a=2)],
        make_pod("db-9").label("app", "db").spread(ZONE, {"app": "web"}).obj(),
        "a",
        "skew 2 > 1",
    ),
    "pods of another namespace and terminating pods do not count": (
        [
            *nodes("a", "b"),
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "blue"}},
            *(make_pod(f"web-{n}", namespace="blue").label("app", "web").node("a1").obj() for n in range(2)),
            web("leaving", "a1").obj(),
            *there(a=1),
        ],
        web("web-9").spread(ZONE, {"app": "web"}).obj(),
        "a",
        "skew 2 > 1",
    ),
}


def refused(objects: list[Data], pod: Data) -> World:
    return world_of(refused_simulation(objects, pod))


def refused_simulation(objects: list[Data], pod: Data) -> Simulation:
    """Return a simulation with the pod refused, paused in its cycle after Filter."""
    simulation = Simulation()
    simulation.execute(commands.Apply(tuple(objects)))
    simulation.execute(commands.Settle())
    if simulation.api.pod("default/leaving") is not None:
        simulation.execute(commands.Delete("Pod", "default/leaving"))
    simulation.execute(commands.Apply((pod,)))
    for _ in range(4):
        simulation.execute(commands.Stage())
    return simulation


@pytest.mark.parametrize("case", CASES)
def test_header_card_cell_and_inspector_show_the_skew_that_the_filter_computed(case: str) -> None:
    objects, pod, zone, text = CASES[case]
    world = refused(objects, pod)
    node = f"{zone}1"
    assert world.cycle is not None
    shown = cluster.stats(world, View())["zones"]
    (header,) = [item["skew"]["text"] for item in shown if item["title"] == zone]
    (card,) = [node_card["word"].text for item in shown for node_card in item["nodes"] if node_card["name"] == node]
    cell = explain_filter(world, world.cycle, node, SPREAD)
    (formula,) = [line.formula for line in cell.lines if line.label == "zone, at most 1"]
    several = len(pod["spec"]["topologySpreadConstraints"]) > 1
    assert (header, card) == (text, f"zone {text}" if several else text)
    assert formula.endswith(f"fewest = {text.removeprefix('skew ')}")
    assert cell.sentence in drawn("filter", world, View(node=node, plugin=SPREAD))["rows"]
    assert escape(cell.sentence) in panel_html("inspector", world, node=node)


def preempting() -> Simulation:
    """Return a world without room for vip: evicting low helps on one node, one has no victims, and one is too small."""
    nodes = [make_node(name).obj() for name in ("helps", "does-not")] + [make_node("small").capacity(cpu="1").obj()]
    low = make_pod("low").cpu("3").node("helps").grace_period(30).obj()
    high = make_pod("high").cpu("3").priority(1000).node("does-not").obj()
    simulation = Simulation()
    simulation.execute(commands.Apply((*nodes, low, high)))
    simulation.execute(commands.Apply((make_pod("vip").cpu("2500m").priority(100).obj(),)))
    return simulation


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        (4, {"helps": "eviction may help", "does-not": "eviction may help", "small": "eviction cannot help"}),
        (5, {"helps": "eviction helps", "does-not": "no pod of lower priority", "small": "eviction cannot help"}),
    ],
    ids=["before the dry run", "after the dry run"],
)
@pytest.mark.parametrize("group", ["", "reason"])
def test_the_table_says_of_eviction_what_the_dry_run_has_found(
    stages: int, expected: dict[str, str], group: str
) -> None:
    simulation = preempting()
    for _ in range(stages):
        simulation.execute(commands.Stage())
    world = world_of(simulation)
    panel = PANELS["filter"].stats(world, View(group=group))
    if group:
        helped = {node: item["helps"] for item in panel["groups"] for node in item["nodes"].split()}
    else:
        rows = drawn("filter", world, View())["rows"].split('<tr data-node="')[1:]
        helped = {row.partition('"')[0]: next(word for word in expected.values() if word in row) for row in rows}
    assert helped == expected
    beside = PANELS["inspector"].stats(world, View())["not_there"]
    assert {row["helps"] for row in beside} == {*expected.values()}
    asked = {node: PANELS["inspector"].stats(world, View(node=node))["word"].eviction for node in expected}
    assert {**asked, "helps": expected["helps"]} == expected
    assert asked["does-not"] in panel_html("inspector", world, node="does-not")


def test_no_panel_says_that_eviction_may_help_a_pod_that_may_not_preempt() -> None:
    full = [web(f"full-{node}", node).cpu("2").obj() for node in ("a1", "a2")]
    simulation = refused_simulation(
        [make_priority_class("polite", 100, "Never"), *nodes("a"), *full],
        web("web-9").cpu("3").priority_class("polite").obj(),
    )
    simulation.execute(commands.Stage())
    world = world_of(simulation)
    for name in ("inspector", "filter", "cluster"):
        assert "may help" not in panel_html(name, world, node="a1"), name
    assert "may not preempt" in panel_html("inspector", world, node="a1")


def test_candidates_for_preemption_do_not_count_as_nodes_that_fit() -> None:
    simulation = preempting()
    simulation.execute(commands.Settle())
    (zone,) = cluster.stats(world_of(simulation), View())["zones"]
    assert zone["fit"] == 0


def test_the_words_of_an_attempt_that_is_over_are_dated_once_something_may_have_changed() -> None:
    simulation = refused_simulation(nodes("a", "b"), web("web-9").cpu("9").obj())
    assert cluster.stats(world_of(simulation), View())["past"] == 0
    simulation.execute(commands.PodCycle())
    simulation.execute(commands.Delete("Node", "a2"))
    assert cluster.stats(world_of(simulation), View())["past"] == 1
