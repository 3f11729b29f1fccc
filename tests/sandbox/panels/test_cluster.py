"""The cluster map."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.cluster.heat import Scene, Zone, heat
from sandbox.panels.cluster.panel import stats
from sandbox.panels.facts.verdicts import words_for
from sandbox.words.phrases import zone_title
from scheduler_engine import commands
from scheduler_engine.scenario import FOLDER, command_of, load_scenario
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import ZONE, make_node, make_pod
from scheduler_engine.testing.builders import Builder
from tests.sandbox import traces
from tests.sandbox.scenarios import hatched, panel_html, unpacked, world_after, world_of

BETA = "failure-domain.beta.kubernetes.io/zone"


def cards(panel: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {node["name"]: node for zone in panel["zones"] for node in zone["nodes"]}


@pytest.fixture(name="filtered")
def filtered_panel() -> dict[str, Any]:
    return stats(World.fold(traces.web_at_filter().entries), View())


def test_a_pod_on_a_node_that_does_not_exist_is_drawn_on_a_ghost() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), make_pod("lost").node("nowhere").obj())))
    world = world_of(simulation)
    drawn = stats(world, View())
    assert (drawn["count"], drawn["pods"]) == (1, 1)
    assert {name: card["ghost"] for name, card in cards(drawn).items()} == {"n1": False, "nowhere": True}
    assert "This node does not exist, but it has pods." in panel_html("cluster", world)
    assert "Ghosts: they have pods, but are not in the tree:" in panel_html("cache", world)
    assert "ghost: the node does not exist, but it has pods" in panel_html("inspector", world, node="nowhere")


def test_zones_are_columns_in_the_order_of_the_node_tree(filtered: dict[str, Any]) -> None:
    assert [zone["title"] for zone in filtered["zones"]] == ["eu-a", "eu-b", "eu-c"]
    assert [node["name"] for node in filtered["zones"][0]["nodes"]] == ["node-a1", "node-a2", "node-a3"]


def test_order_numbers_go_round_the_zones_and_the_start_is_marked(filtered: dict[str, Any]) -> None:
    nodes = cards(filtered)
    assert [nodes[name]["place"] for name in ("node-a1", "node-b1", "node-c1", "node-a2")] == [1, 2, 3, 4]
    assert [name for name, node in nodes.items() if node["start"]] == ["node-a1"]


@pytest.mark.parametrize(
    ("node", "kind", "word"),
    [
        ("node-a1", "no", "cpu"),
        ("node-a2", "no", "cpu + mem"),
        ("node-b1", "no", "spread"),
        ("node-c1", "no", "anti-affinity"),
        ("node-b2", "hard", "selector"),
        ("node-c2", "hard", "cordoned"),
        ("node-a3", "hard", "dedicated taint"),
    ],
)
def test_a_refusal_is_the_recorded_reason_in_two_words_on_the_card(
    filtered: dict[str, Any], node: str, kind: str, word: str
) -> None:
    said = cards(filtered)[node]["word"]
    assert (said.kind, said.text) == (kind, word)


def test_an_excess_is_marked_and_hatched(filtered: dict[str, Any]) -> None:
    cpu, mem, _ = cards(filtered)["node-a1"]["bars"]
    assert (cpu["text"], cpu["short"], hatched(cpu["drawing"])) == ("2.8/4", True, True)
    assert (mem["short"], hatched(mem["drawing"])) == (False, False)


def test_a_nominated_pod_takes_room_and_a_terminating_one_counts_down(filtered: dict[str, Any]) -> None:
    card = cards(filtered)["node-a2"]
    assert card["bars"][0]["text"] == "4.1/4"
    shown = [(pod.state, pod.note) for pod in card["pods"]]
    assert shown == [("nominated", ""), ("bound", ""), ("bound", ""), ("terminating", "18 s")]


def test_an_assumed_pod_is_drawn_on_its_node(filtered: dict[str, Any]) -> None:
    assert ("assumed", "default/api-2") in [(pod.state, pod.key) for pod in cards(filtered)["node-b1"]["pods"]]


def test_a_ghost_has_no_place_and_is_not_counted(filtered: dict[str, Any]) -> None:
    ghost = cards(filtered)["node-c3"]
    assert (ghost["ghost"], ghost["place"], filtered["count"]) == (True, 0, 8)


def spread() -> Simulation:
    """Return a world before web-4 is placed: zone a has two of its pods, b one and c none."""
    nodes = [make_node(f"{zone}{number}").zone(zone).obj() for zone in "abc" for number in (1, 2)]
    there = [make_pod(f"web-{name}").label("app", "web").node(name).obj() for name in ("a1", "a2", "b1")]
    simulation = Simulation()
    simulation.execute(commands.Apply((*nodes, *there)))
    return simulation


def filtered(simulation: Simulation, *pods: Builder) -> World:
    simulation.execute(commands.Apply(tuple(pod.obj() for pod in pods)))
    for _ in range(4):
        simulation.execute(commands.Stage())
    return world_of(simulation)


def web(name: str = "web-4") -> Any:
    return make_pod(name).label("app", "web").spread(ZONE, {"app": "web"})


def test_zone_headers_carry_the_skew_of_the_constraint_in_question() -> None:
    skews = {title: (count, text) for title, (count, text, _) in zone_skews(filtered(spread(), web())).items()}
    assert skews == {"a": (2, "skew 3 > 1"), "b": (1, "skew 2 > 1"), "c": (0, "skew 1 ≤ 1")}


def zoned(name: str, zone: str, cpu: str = "2") -> Any:
    return make_node(name).zone(zone).label(BETA, zone).capacity(cpu=cpu, memory="4Gi", pods="10")


def test_of_two_constraints_on_zones_the_header_shows_the_one_that_refuses() -> None:
    simulation = Simulation()
    running = [make_pod(name).label("app", "web").node("a1") for name in ("w1", "w2")]
    simulation.execute(commands.Apply(tuple(item.obj() for item in (zoned("a1", "a"), zoned("b1", "b"), *running))))
    asker = web().label("tier", "x").spread(BETA, {"tier": "x"})
    skews = {title: (count, text) for title, (count, text, _) in zone_skews(filtered(simulation, asker)).items()}
    assert skews == {"a": (2, "skew 3 > 1"), "b": (0, "skew 1 ≤ 1")}


def test_the_header_names_the_constraint_if_another_one_is_about_zones() -> None:
    simulation = Simulation()
    running = [make_pod(name).label("app", "web").node("a1") for name in ("w1", "w2")]
    simulation.execute(commands.Apply(tuple(item.obj() for item in (zoned("a1", "a"), zoned("b1", "b"), *running))))
    world = filtered(simulation, web().label("tier", "x").spread(BETA, {"tier": "x"}))
    assert {zone["skew"]["constraint"] for zone in stats(world, View())["zones"]} == {ZONE}
    assert f'title="{ZONE}"' in panel_html("cluster", world)
    only = stats(filtered(spread(), web()), View())["zones"]
    assert {zone["skew"]["constraint"] for zone in only} == {""}


def test_a_zone_header_agrees_with_the_card_on_which_a_nominated_pod_counts() -> None:
    simulation = Simulation()
    nodes = [zoned("a1", "a"), zoned("a2", "a"), zoned("b1", "b")]
    full = [make_pod(f"full-{name}").cpu("2").priority(200).node(name) for name in ("a1", "b1")]
    low = make_pod("low").cpu("2").node("a2").grace_period(60)
    simulation.execute(commands.Apply(tuple(item.obj() for item in (*nodes, *full, low))))
    simulation.execute(commands.Apply((make_pod("hi").label("app", "web").cpu("2").priority(100).obj(),)))
    simulation.execute(commands.Settle())
    world = filtered(simulation, web("mid").priority(50))
    assert words_for(world, world.cycle, detailed=["a2"])["a2"].text == "skew 2 > 1"
    assert {title: text for title, (_, text, _) in zone_skews(world).items()} == {
        "a": "skew 2 > 1 on a2, with pods nominated to it",
        "b": "skew 1 ≤ 1",
    }


def test_scores_and_the_winner_replace_the_verdicts() -> None:
    nodes = cards(stats(World.fold(traces.api_scored().entries), View()))
    assert (nodes["node-b3"]["word"].kind, nodes["node-b3"]["word"].text) == ("best", "843 selected")
    assert nodes["node-c1"]["word"].text == "836"


def test_preemption_shows_victims_and_the_nominated_node() -> None:
    nodes = cards(stats(World.fold(traces.payments_preempts().entries), View()))
    assert nodes["node-a1"]["word"].text == "2 victims"
    assert nodes["node-b1"]["word"].text == "nominated"


def test_many_nodes_are_tiles_unless_cards_are_asked_for() -> None:
    world = World.fold(traces.hundred().entries)
    tiles = stats(world, View())
    assert tiles["many"]
    assert sum(zone["count"] for zone in tiles["zones"]) == 100
    assert tiles["zones"][0]["nodes"][0].kind == "hard"
    assert not stats(world, View(layout="cards"))["many"]


@pytest.mark.parametrize(
    ("count", "layout", "drawn", "offered"),
    [
        (12, "", "cards", []),
        (40, "", "cards", ["cards", "tiles"]),
        (40, "map", "cards", ["cards", "tiles"]),
        (41, "", "tiles", ["cards", "tiles", "map"]),
        (41, "map", "map", ["cards", "tiles", "map"]),
        (400, "", "tiles", ["cards", "tiles", "map"]),
        (401, "", "map", ["cards", "tiles", "map"]),
        (401, "tiles", "tiles", ["cards", "tiles", "map"]),
    ],
)
def test_the_number_of_nodes_says_how_they_are_drawn_unless_a_person_does(
    count: int, layout: str, drawn: str, offered: list[str]
) -> None:
    panel = stats(World.fold(traces.hundred(count).entries), View(layout=layout))
    assert (panel["layout"], [way["name"] for way in panel["layouts"]]) == (drawn, offered)
    assert panel["many"] == (drawn != "cards")


def heat_of(world: World, colour: str = "") -> dict[str, Any]:
    return dict(stats(world, View(layout="map", colour=colour))["heat"])


def pressed(heat: dict[str, Any]) -> list[str]:
    return [choice["name"] for choice in heat["choices"] if choice["on"]]


def test_the_map_colours_the_verdicts_of_a_pod_at_filter_and_counts_each_kind_in_its_legend() -> None:
    heat = heat_of(World.fold(traces.hundred().entries))
    counted = {item["kind"]: item["count"] for item in heat["legend"]}
    assert (heat["shown"], heat["ramp"], pressed(heat)) == ("Verdict", None, [""])
    assert counted == {"ok": 36, "no": 54, "hard": 10}
    kinds = [heat["data"]["said"][number][0] for number in unpacked(heat["data"]["zones"][0]["said"])]
    assert (len(kinds), kinds[0]) == (34, "hard")


def test_a_zone_of_the_map_is_one_sentence_for_screen_readers() -> None:
    world = World.fold(traces.hundred().entries)
    assert (
        heat_of(world)["summaries"][1]
        == "eu-b, 33 nodes. refused, eviction may help: 30; refused, eviction cannot help: 3."
    )
    assert heat_of(world, "cpu")["summaries"][1] == (
        "eu-b, 33 nodes. Share of cpu in use: from 0 % to 90 %, 40 % on average, highest on b07."
    )


def test_a_zone_of_the_map_is_a_few_short_texts() -> None:
    zone = heat_of(World.fold(traces.hundred().entries), "memory")["data"]["zones"][2]
    assert (zone["title"], zone["names"], zone["places"]) == ("eu-c", "c[2:1+1x33]", "3+3x33")
    assert unpacked(zone["values"])[:4] == [25, 0, 19, 12]


def test_before_any_pod_the_map_shows_how_full_the_nodes_are() -> None:
    story = traces.Story()
    for number in range(41):
        story.add_node(traces.node(f"n{number}", cpu="4", memory="8Gi"))
    story.tree()
    story.add_pod(traces.pod("web-1", "1", "4Gi", on="n1"))
    heat = heat_of(World.fold(story.entries))
    assert [choice["name"] for choice in heat["choices"]] == ["", "fill", "cpu", "memory"]
    assert (heat["ramp"], heat["legend"]) == ({"low": "0 %", "high": "100 %"}, [])
    assert unpacked(heat["data"]["zones"][0]["values"])[:3] == [0, 50, 0]


def test_a_colour_without_data_yet_is_that_of_the_stage() -> None:
    heat = heat_of(World.fold(traces.hundred().entries), "score")
    assert (heat["shown"], pressed(heat)) == ("Verdict", [""])
    heat = heat_of(World.fold(traces.hundred().entries), "cpu")
    assert (heat["shown"], pressed(heat)) == ("Share of cpu in use", ["cpu"])


def scored(colour: str) -> dict[str, Any]:
    world = World.fold(traces.api_scored().entries)
    cycle = world.cycle_in_view(0)
    zones = [Zone(title, list(names)) for title, names in world.cache.zones]
    scene = Scene(world, cycle, words_for(world, cycle), {}, "")
    return heat(scene, zones, colour)


def test_scores_are_coloured_as_soon_as_there_are_any_and_the_winner_is_marked() -> None:
    explanation = scored("")
    assert (explanation["shown"], explanation["ramp"]) == ("Total score", {"low": "436", "high": "843"})
    assert explanation["data"]["marks"]["best"] == ["node-b3"]
    assert "ok" not in {item["kind"] for item in explanation["legend"]}
    assert pressed(scored("verdict")) == ["verdict"]


def test_a_node_to_which_a_pod_is_nominated_and_the_start_of_the_search_are_marked(filtered: dict[str, Any]) -> None:
    world = World.fold(traces.web_at_filter().entries)
    data = heat(Scene(world, world.cycle, {}, {}, "node-a1"), [], "")
    assert (data["data"]["marks"]["nominated"], data["data"]["marks"]["start"]) == (["node-a2"], ["node-a1"])


def test_zones_without_room_for_their_names_become_one_field() -> None:
    story = traces.Story()
    for number in range(60):
        story.add_node(traces.node(f"n{number}", f"zone-{number % 30}"))
    story.tree()
    panel = stats(World.fold(story.entries), View(layout="map"))
    assert [(zone["title"], zone["count"]) for zone in panel["zones"]] == [("all nodes", 60)]


def test_the_page_of_a_thousand_nodes_is_small() -> None:
    world = World.fold(traces.hundred(1000).entries)
    assert len(panel_html("cluster", world)) < 10_000 < len(panel_html("cluster", world, layout="tiles")) / 10


def test_extended_resources_and_taints_are_named() -> None:
    story = traces.Story()
    story.add_node(
        traces.node("n", extended={"nvidia.com/gpu": "2"}, taints=[("example.com/gpu", "", "PreferNoSchedule")])
    )
    card = cards(stats(World.fold(story.entries), View()))["n"]
    assert card["extended"] == ["0/2 gpu"]
    assert card["taints"] == [{"text": "gpu", "title": "example.com/gpu:PreferNoSchedule", "soft": True}]


def test_an_empty_cluster_has_no_zone() -> None:
    assert stats(World(), View())["zones"] == []


@pytest.mark.parametrize(
    ("key", "title"),
    [("eu:\x00:eu-a", "eu-a"), (":\x00:z", "z"), ("eu:\x00:", "eu"), ("", "no zone")],
    ids=["a zone by its name", "no region", "a region without zone", "no region and no zone"],
)
def test_a_zone_key_is_shown_as_people_call_it(key: str, title: str) -> None:
    assert zone_title(key) == title


def after_steps(number: int, *more: dict[str, Any]) -> World:
    """Return the rolling update and scale-down after ``number`` steps and ``more``."""
    slug = "rolling-update-then-scale-down"
    scenario = load_scenario(next(FOLDER.glob(f"*-{slug}.yaml")))
    return world_after(slug, *(command_of(step) for step in scenario.then[:number]), *more)


def zone_skews(world: World) -> dict[str, tuple[int, str, bool]]:
    zones = stats(world, View())["zones"]
    return {zone["title"]: (zone["skew"]["count"], zone["skew"]["text"], zone["skew"]["standing"]) for zone in zones}


def test_a_pod_that_is_placed_is_counted_and_the_skew_is_that_of_all() -> None:
    assert zone_skews(after_steps(0)) == dict.fromkeys("abc", (2, "skew 0 ≤ 1", True))


def test_the_skew_of_a_scale_down_is_red_in_the_zones_that_have_too_many() -> None:
    world = after_steps(4)
    red, green = (2, "skew 2 > 1", True), (0, "skew 0 ≤ 1", True)
    assert zone_skews(world) == {"a": red, "b": red, "c": green}
    assert "pip-would" not in panel_html("cluster", world)


def test_while_the_pod_is_being_placed_one_more_is_counted() -> None:
    world = after_steps(1, *[{"kind": "stage"}] * 5)
    assert not any(standing for _, _, standing in zone_skews(world).values())


def test_without_zones_the_map_groups_by_the_label_that_pods_spread_over_and_shows_its_skew() -> None:
    panel = stats(world_after("spread-one-constraint", *[{"kind": "stage"}] * 4), View())
    assert panel["key"] == "zone"
    assert [(zone["title"], zone["count"]) for zone in panel["zones"]] == [("zoneA", 2), ("zoneB", 2)]
    assert all(zone["skew"] for zone in panel["zones"])


def test_a_node_without_the_label_is_separate() -> None:
    panel = stats(world_after("spread-node-without-label"), View())
    assert "no label zone" in [zone["title"] for zone in panel["zones"]]
    assert sum(zone["count"] for zone in panel["zones"]) == panel["nodes"]


def leaving() -> World:
    """Return two nodes: b is being deleted and has a finalizer; c is gone, because it has none."""
    simulation = Simulation()
    held = make_node("b").metadata(finalizers=["x.io/a"]).obj()
    simulation.execute(commands.Apply((make_node("a").obj(), held, make_node("c").obj())))
    for name in ("b", "c"):
        simulation.execute(commands.Delete("Node", name))
    return World.fold(simulation.recorder.entries)


def test_a_node_that_is_being_deleted_is_marked_on_its_card_and_tile() -> None:
    world = leaving()
    for layout in ("", "tiles"):
        (zone,) = stats(world, View(layout=layout))["zones"]
        marked = {
            getattr(node, "node", None) or node["name"]: node.leaving if layout else node["leaving"]
            for node in zone["nodes"]
        }
        assert marked == {"a": False, "b": True}
    titles = {tile.node: tile.title for tile in zone["nodes"]}
    assert titles["b"].endswith(", being deleted")
    assert "being deleted" not in titles["a"]


def test_a_node_that_is_being_deleted_is_marked_on_the_map() -> None:
    world = leaving()
    data = heat(Scene(world, None, {}, {}, ""), [Zone("all", ["a", "b"])], "")
    assert data["data"]["marks"]["leaving"] == ["b"]
    assert data["data"]["said"][1] == ["none", "being deleted"]
    assert data["summaries"][0].endswith(" Being deleted: b.")


def test_the_summary_of_a_zone_names_only_a_few_nodes_that_are_being_deleted() -> None:
    simulation, names = Simulation(), [f"n{number}" for number in range(9)]
    simulation.execute(commands.Apply(tuple(make_node(name).metadata(finalizers=["x.io/a"]).obj() for name in names)))
    for name in names:
        simulation.execute(commands.Delete("Node", name))
    world = World.fold(simulation.recorder.entries)
    (summary,) = heat(Scene(world, None, {}, {}, ""), [Zone("all", names)], "")["summaries"]
    assert summary.endswith(" Being deleted: n0, n1, n2 and 6 more.")


@pytest.mark.parametrize(("panel", "layout"), [("cluster", ""), ("cluster", "tiles"), ("nodes", "")])
def test_the_page_shows_which_node_is_being_deleted(panel: str, layout: str) -> None:
    shown = panel_html(panel, leaving(), layout=layout, node="b")
    assert "being deleted" in shown
    assert "is-leaving" in shown
