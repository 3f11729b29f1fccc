"""The filter matrix."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.filter.groups import FEW_ZONES
from sandbox.panels.filter.panel import stats
from scheduler_engine import commands
from scheduler_engine.scenario import play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace import events as ev
from tests.sandbox import traces
from tests.sandbox.scenarios import drawn, panel_html, world_of


@pytest.fixture(name="world")
def create_world() -> World:
    return World.fold(traces.web_at_filter().entries)


def row(data: dict[str, Any], node: str) -> str:
    return str(data["rows"]).partition(f'<tr data-node="{node}"')[2].partition("</tr>")[0]


def test_rows_are_in_visiting_order_and_columns_in_running_order(world: World) -> None:
    panel = drawn("filter", world, View())
    places = [panel["rows"].index(f'<tr data-node="{name}"') for name in traces.WEB_REFUSED]
    by_order = sorted(traces.WEB_REFUSED, key=lambda name: panel["rows"].index(f'<tr data-node="{name}"'))
    assert by_order == list(world.cache.order)
    assert len(places) == 8
    assert [column["name"] for column in panel["columns"]] == list(traces.FILTERS)
    assert [column["name"] for column in panel["columns"] if column["skipped"]] == list(traces.SKIPPED)


def test_a_row_passes_up_to_the_first_no_and_the_rest_is_not_run(world: World) -> None:
    text = row(drawn("filter", world, View()), "node-b2")
    assert (text.count('class="y"'), text.count('class="n"'), text.count('class="z"')) == (3, 1, 3)
    assert text.count('class="s"') == len(traces.SKIPPED)
    assert "selector" in text


@pytest.mark.parametrize(
    ("node", "words"),
    [("node-a1", "eviction may help"), ("node-c2", "eviction cannot help")],
    ids=["Unschedulable may be helped", "UnschedulableAndUnresolvable cannot"],
)
def test_the_end_of_a_row_says_whether_eviction_may_help(world: World, node: str, words: str) -> None:
    assert words in row(drawn("filter", world, View()), node)


def test_each_phrase_of_the_message_knows_its_nodes(world: World) -> None:
    message = drawn("filter", world, View())["message"]
    by_reason = {phrase["reason"]: (phrase["count"], phrase["nodes"]) for phrase in message["phrases"]}
    assert message["head"] == "0/8 nodes are available:"
    assert by_reason["Insufficient cpu"] == ("2", "node-a1 node-a2")
    assert by_reason["node(s) had untolerated taint {dedicated: gpu}"] == ("1", "node-a3")
    assert message["sums"]


def refused() -> World:
    """web-1 wants cpu and a fast disk; vip-1 is nominated to "full", and waits for low-1 to leave it."""
    nodes = [
        make_node("full").label("disk", "ssd").obj(),
        make_node("slow").label("disk", "hdd").obj(),
        make_node("gpu").label("disk", "ssd").taint("dedicated", "gpu").obj(),
    ]
    low = make_pod("low-1").cpu("3").node("full").grace_period(30)
    vip = make_pod("vip-1").cpu("2500m").priority(100).node_selector({"disk": "ssd"})
    web = make_pod("web-1").cpu("1").priority(5).node_selector({"disk": "ssd"})
    simulation = Simulation()
    for manifests in ((*nodes, low.obj()), (vip.obj(),), (web.obj(),)):
        simulation.execute(commands.Apply(manifests))
        simulation.execute(commands.Settle())
    return world_of(simulation)


@pytest.mark.parametrize(
    ("node", "plugin", "words"),
    [
        ("full", "NodeResourcesFit", "3000m used + 2500m nominated (vip-1) + 1000m requested = 6500m &gt; 4000m"),
        ("slow", "NodeAffinity", "needs disk ssd; slow has disk hdd"),
        ("gpu", "TaintToleration", "has the taint dedicated=gpu:NoSchedule"),
    ],
)
def test_an_open_cell_shows_how_the_node_was_judged(node: str, plugin: str, words: str) -> None:
    assert words in drawn("filter", refused(), View(node=node, plugin=plugin))["rows"]


def test_a_ghost_is_shown_as_not_visited(world: World) -> None:
    assert drawn("filter", world, View())["ghosts"] == [
        {
            "name": "node-c3",
            "why": "not visited: left the nodeTree at 00:07.6; its NodeInfo stays until its last pod is gone (1 left)",
        }
    ]


def test_a_ghost_that_never_was_a_node_is_not_said_to_have_left() -> None:
    simulation = Simulation()
    lost, pod = make_pod("lost").node("nowhere"), make_pod("p")
    simulation.execute(commands.Apply((make_node("n1").obj(), lost.obj(), pod.obj())))
    simulation.execute(commands.PodCycle())
    why = "not visited: this node never existed; its NodeInfo stays until its last pod is gone (1 left)"
    assert drawn("filter", world_of(simulation), View())["ghosts"] == [{"name": "nowhere", "why": why}]


def test_nodes_that_the_search_did_not_reach_are_listed_with_the_reason() -> None:
    story = traces.Story()
    for number in range(3):
        story.add_node(traces.node(f"n{number}"))
    key = story.add_pod(traces.pod("p-1"))
    story.pop(key)
    story.snapshot(key, story.order)
    visited = (("n0", "", "Success", (), ()), ("n1", "", "Success", (), ()))
    story.say(ev.FilterRan(1, traces.FILTERS, (), visited, ("n0",), 3, 3, 1, 0, 1, ""))
    panel = drawn("filter", World.fold(story.entries), View())
    (left,) = panel["unvisited"]
    assert (left["name"], left["why"]) == ("n2", "not visited: one node that fits is enough")
    assert panel["how_many"] == (
        "2 of 3 nodes visited, place 1 (n0) to place 2 (n1): one node that fits is enough. "
        "The next search starts at place 2 (n1)."
    )
    assert "fits, not needed" in row(panel, "n1")


@pytest.mark.parametrize(
    ("node", "plugin", "kind", "words"),
    [
        pytest.param("node-b2", "NodeName", "y is-open", "<b>NodeName</b>", id="a node that passes"),
        pytest.param("node-b2", "PodTopologySpread", "z is-open", "Asked alone: ", id="not run"),
        pytest.param("node-b2", "VolumeZone", "s is-open", "is skipped: it has nothing to check", id="skipped"),
        pytest.param("node-a1", "NodeResourcesFit", "n is-open", "Insufficient cpu", id="the refusal"),
    ],
)
def test_every_cell_can_be_opened(world: World, node: str, plugin: str, kind: str, words: str) -> None:
    panel = drawn("filter", world, View(node=node, plugin=plugin))
    assert f'class="{kind}"' in row(panel, node)
    assert words in panel["rows"].partition('<tr class="why')[2].partition("</tr>")[0]
    assert panel["rows"].count('<tr class="why') == 1


def with_what_if() -> World:
    """Return one node with two more refusals behind its first."""
    story = traces.Story()
    for name in ("n0", "n1"):
        story.add_node(traces.node(name))
    key = story.add_pod(traces.pod("p-1"))
    story.pop(key)
    story.snapshot(key, story.order)
    story.pre_filter(key)
    rows = (("n0", "NodeAffinity", traces.UU, (traces.AFFINITY,), ()), ("n1", "", "Success", (), ()))
    others = (("NodeResourcesFit", traces.U, (traces.CPU,)), ("InterPodAffinity", traces.U, (traces.ANTI,)))
    story.say(
        ev.FilterRan(1, traces.FILTERS, traces.SKIPPED, rows, ("n1",), 2, 2, 2, 0, 0, "", (("n0", others),), 1),
    )
    return World.fold(story.entries)


def test_all_reasons_shows_every_other_failing_filter_beside_the_official_one() -> None:
    world = with_what_if()
    plain, full = drawn("filter", world, View()), drawn("filter", world, View(reasons="all"))
    assert (plain["also"], plain["all_reasons"]) == (2, False)
    assert row(plain, "n0").count("<button") == 2
    text = row(full, "n0")
    assert text.count('class="n"') == 1
    assert text.count('class="n also"') == 2
    assert "not reported by Kubernetes: Insufficient cpu" in text
    assert row(full, "n1") == row(plain, "n1")


def test_an_open_what_if_cell_says_that_it_was_not_asked() -> None:
    panel = drawn("filter", with_what_if(), View(node="n0", plugin="InterPodAffinity", reasons="all"))
    assert '<tr class="why is-also">' in panel["rows"]
    assert "not asked, because NodeAffinity had said no. Asked alone: " in panel["rows"]


def test_all_reasons_by_reason_come_after_the_official_ones() -> None:
    groups = drawn("filter", with_what_if(), View(group="reason", reasons="all"))["groups"]
    assert [(group["kind"], group["plugin"], group["count"]) for group in groups] == [
        ("ok", "", 1),
        ("no", "NodeAffinity", 1),
        ("also", "NodeResourcesFit", 1),
        ("also", "InterPodAffinity", 1),
    ]
    assert groups[2]["helps"] == "not reported"


def test_by_reason_a_node_is_explained_under_its_group() -> None:
    world = World.fold(traces.hundred().entries)
    spread = next(group for group in drawn("filter", world, View())["groups"] if group["plugin"] == "PodTopologySpread")
    node = spread["nodes"].split()[-1]
    groups = drawn("filter", world, View(node=node, plugin="PodTopologySpread"))["groups"]
    assert [group["plugin"] for group in groups if group["why"]] == ["PodTopologySpread"]
    opened = next(group for group in groups if group["why"])
    assert opened["tokens"][0] == {"node": node, "opened": True}


def test_many_nodes_are_grouped_by_reason_the_fitting_ones_first() -> None:
    panel = drawn("filter", World.fold(traces.hundred().entries), View())
    assert panel["grouped"]
    assert [group["count"] for group in panel["groups"]] == [36, 36, 18, 10]
    assert panel["groups"][0]["kind"] == "ok"
    spread = next(group for group in panel["groups"] if group["plugin"] == "PodTopologySpread")
    assert dict(spread["zones"]) == {"eu-a": 0, "eu-b": 18, "eu-c": 0}


def test_rows_come_a_hundred_to_a_page() -> None:
    world = World.fold(traces.hundred(250).entries)
    first, last, beyond = (stats(world, View(group="node", pages=(("filter", page),))) for page in ("1", "3", "99"))
    assert (first["pages"].pages, len(first["rows"])) == (3, 100)
    assert (len(last["rows"]), last["pages"].last) == (50, True)
    assert beyond["pages"].page == 3


def test_the_nodes_of_a_reason_are_named_when_somebody_asks_for_them() -> None:
    world = World.fold(traces.hundred().entries)
    group = stats(world, View())["groups"][0]
    assert (group["count"], len(group["tokens"]), group["pages"].more) == (36, 2, 34)
    opened = stats(world, View(pages=((group["pages"].name, "1"),)))["groups"]
    assert [len(other["tokens"]) for other in opened] == [36, 2, 2, 2]


def test_before_filter_the_answers_of_prefilter_are_shown() -> None:
    story = traces.Story()
    story.add_node(traces.node("n"))
    key = story.add_pod(traces.pod("p-1"))
    story.pop(key)
    story.snapshot(key, ("n",))
    story.pre_filter(key)
    panel = drawn("filter", World.fold(story.entries), View())
    assert not panel["has"]
    assert {row["plugin"]: row["code"] for row in panel["pre"]}["NodePorts"] == "Skip"


def test_a_refusal_at_prefilter_is_shown_without_any_node() -> None:
    story = traces.Story()
    story.add_node(traces.node("n"))
    key = story.add_pod(traces.pod("p-1"))
    story.pop(key)
    story.say(ev.PreFilterRan(1, (("VolumeRestrictions", traces.UU, ('persistentvolumeclaim "x" not found',)),), None))
    panel = drawn("filter", World.fold(story.entries), View())
    assert panel["refused"][0]["reasons"] == 'persistentvolumeclaim "x" not found'


def test_the_message_of_a_no_at_prefilter_keeps_its_reason() -> None:
    simulation = Simulation()
    claims = [{"name": "v", "persistentVolumeClaim": {"claimName": "nope"}}]
    simulation.execute(commands.Apply((make_node("n1").obj(), make_pod("p").spec(volumes=claims).obj())))
    simulation.execute(commands.Settle())
    html = panel_html("filter", world_of(simulation), pod="default/p")
    text = " ".join(unescape(re.sub("<[^>]+>", " ", html)).split())
    assert 'FailedScheduling 0/1 nodes are available: persistentvolumeclaim "nope" not found. not found' in text


def test_without_any_attempt_there_is_a_sentence_instead() -> None:
    assert "No pod has been scheduled yet" in drawn("filter", World(), View())["empty"]


def test_among_many_zones_those_with_nodes_of_the_reason_come_first() -> None:
    simulation = Simulation(seed=1)
    zones = [f"zone-{number}" for number in range(FEW_ZONES + 2)]
    nodes = [make_node(f"n-{zone}").zone(zone).capacity(cpu="8" if zone == zones[-1] else "1").obj() for zone in zones]
    play(simulation, [{"kind": "apply", "manifests": [*nodes, make_pod("p").cpu("4").obj()]}, {"kind": "run"}])
    shown = stats(world_of(simulation), View(group="reason"))["groups"]
    fit, refused = (next(group for group in shown if group["kind"] == kind) for kind in ("ok", "no"))
    assert list(fit["zones"]) == [(zones[-1], 1), *((zone, 0) for zone in zones[: FEW_ZONES - 1])]
    assert list(refused["zones"]) == [(zone, 1) for zone in zones[:FEW_ZONES]]
