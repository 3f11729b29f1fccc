"""The cluster map."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.cluster import stats
from sandbox.panels.words.phrases import zone_title
from scheduler_engine.scenario import FOLDER, command_of, load_scenario
from tests.sandbox import traces
from tests.sandbox.scenarios import hatched, panel_html, world_after


def cards(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {node["name"]: node for zone in found["zones"] for node in zone["nodes"]}


@pytest.fixture(name="found")
def made_found() -> dict[str, Any]:
    return stats(World.fold(traces.web_at_filter().entries), View())


def test_zones_are_columns_in_the_order_of_the_node_tree(found: dict[str, Any]) -> None:
    assert [zone["title"] for zone in found["zones"]] == ["eu-a", "eu-b", "eu-c"]
    assert [node["name"] for node in found["zones"][0]["nodes"]] == ["node-a1", "node-a2", "node-a3"]


def test_order_numbers_go_round_the_zones_and_the_start_is_marked(found: dict[str, Any]) -> None:
    nodes = cards(found)
    assert [nodes[name]["place"] for name in ("node-a1", "node-b1", "node-c1", "node-a2")] == [1, 2, 3, 4]
    assert [name for name, node in nodes.items() if node["start"]] == ["node-a1"]


@pytest.mark.parametrize(
    ("node", "kind", "word"),
    [
        ("node-a1", "no", "cpu"),
        ("node-a2", "no", "cpu + mem"),
        ("node-b1", "no", "skew 2 > 1"),
        ("node-c1", "no", "web here"),
        ("node-b2", "hard", "disk=hdd"),
        ("node-c2", "hard", "cordoned"),
        ("node-a3", "hard", "gpu taint"),
    ],
)
def test_a_refusal_is_two_words_on_the_card(found: dict[str, Any], node: str, kind: str, word: str) -> None:
    said = cards(found)[node]["word"]
    assert (said.kind, said.text) == (kind, word)


def test_what_is_too_much_is_marked_and_hatched(found: dict[str, Any]) -> None:
    cpu, mem, _ = cards(found)["node-a1"]["bars"]
    assert (cpu["text"], cpu["short"], hatched(cpu["drawing"])) == ("2.8/4", True, True)
    assert (mem["short"], hatched(mem["drawing"])) == (False, False)


def test_a_nominated_pod_takes_room_and_a_terminating_one_counts_down(found: dict[str, Any]) -> None:
    card = cards(found)["node-a2"]
    assert card["bars"][0]["text"] == "4.1/4"
    shown = [(pod.state, pod.note) for pod in card["pods"]]
    assert shown == [("nominated", ""), ("bound", ""), ("bound", ""), ("terminating", "18 s")]


def test_an_assumed_pod_is_drawn_on_its_node(found: dict[str, Any]) -> None:
    assert ("assumed", "default/api-2") in [(pod.state, pod.key) for pod in cards(found)["node-b1"]["pods"]]


def test_a_ghost_has_no_place_and_is_not_counted(found: dict[str, Any]) -> None:
    ghost = cards(found)["node-c3"]
    assert (ghost["ghost"], ghost["place"], found["count"]) == (True, 0, 8)


def test_zone_headers_carry_the_skew_of_the_constraint_in_question(found: dict[str, Any]) -> None:
    skews = {zone["title"]: zone["skew"] for zone in found["zones"]}
    assert (skews["eu-a"]["count"], skews["eu-a"]["said"], skews["eu-a"]["text"]) == (1, "yes", "skew 1 ≤ 1")
    assert (skews["eu-b"]["count"], skews["eu-b"]["said"], skews["eu-b"]["text"]) == (2, "no", "skew 2 > 1")


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
    ids=["a zone by its name", "no region", "a region without zone", "neither"],
)
def test_a_zone_key_is_shown_as_people_call_it(key: str, title: str) -> None:
    assert zone_title(key) == title


def after_steps(number: int, *more: dict[str, Any]) -> World:
    """The rolling update and scale-down, so many steps on, and some more."""
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


def test_names_of_pods_stay_in_folded_cards_as_long_as_they_are_few() -> None:
    world = after_steps(0)
    assert stats(world, View())["few"]
    world.pods_on["node-a1"] = dict.fromkeys(f"default/p-{number}" for number in range(5))
    assert not stats(world, View())["few"]


def test_without_zones_the_map_groups_by_the_label_that_pods_spread_over_and_shows_its_skew() -> None:
    found = stats(world_after("spread-one-constraint", {"kind": "stage"}), View())
    assert found["key"] == "zone"
    assert [(zone["title"], zone["count"]) for zone in found["zones"]] == [("zoneA", 2), ("zoneB", 2)]
    assert all(zone["skew"] for zone in found["zones"])


def test_a_node_without_the_label_stands_apart() -> None:
    found = stats(world_after("spread-node-without-label"), View())
    assert "no label zone" in [zone["title"] for zone in found["zones"]]
    assert sum(zone["count"] for zone in found["zones"]) == found["nodes"]
