"""The cache, which is live, and the snapshot, which is older."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from sandbox.panels import PANELS, View, World
from sandbox.panels.cache.panel import stats
from sandbox.panels.facts.sampling import start_of
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import ZONE, NodeBuilder, make_node, make_pod
from scheduler_engine.trace.events import FilterRan
from tests.engine.soundness import scheduler_views, world_agrees_on_cache
from tests.sandbox.scenarios import panel_html

TOO_LARGE = {"containers": [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "99"}}}]}


def in_zone(name: str, zone: str) -> NodeBuilder:
    return make_node(name).zone(zone).capacity(cpu="4", pods=9)


def apply(simulation: Simulation, *manifests: dict[str, Any]) -> None:
    simulation.execute(commands.Apply(manifests))


@pytest.fixture(name="simulation")
def create_simulation() -> Simulation:
    """Return five nodes in three zones, with one pod bound on a1, and no cycle in progress."""
    simulation = Simulation()
    apply(simulation, *(in_zone(name, name[0]).obj() for name in ("a1", "a2", "b1", "b2", "c1")))
    apply(simulation, make_pod("first").label("app", "first").node_selector({"kubernetes.io/hostname": "a1"}).obj())
    simulation.execute(commands.Settle())
    return simulation


def snapshot(simulation: Simulation, name: str, **spec: Any) -> None:
    """Create and pop a pod, and take its snapshot."""
    apply(simulation, make_pod(name).spec(**spec).obj())
    simulation.execute(commands.Stage())
    simulation.execute(commands.Stage())


def cache_panel(simulation: Simulation) -> dict[str, Any]:
    return stats(World.fold(simulation.recorder.entries), View())


def named(cards: list[dict[str, Any]], mark: str) -> list[str]:
    return [card["name"] for card in cards if card[mark]]


def test_changes_since_the_snapshot_are_before_its_mark(simulation: Simulation) -> None:
    shown = cache_panel(simulation)
    cards = shown["recency"]
    assert named(cards, "newer") == ["a1"]
    assert named(cards, "mark") == ["c1"]
    assert [card["generation"] for card in cards] == sorted((card["generation"] for card in cards), reverse=True)
    assert (cards[0]["what"], cards[0]["tag"], cards[-1]["tag"]) == (
        "first updated",
        "head, highest generation",
        "tail",
    )
    assert cards[1]["mark"] == shown["taken"]["generation"]
    assert shown["note"].startswith("The next UpdateSnapshot looks at it and stops")


def test_after_a_snapshot_the_list_shows_what_was_copied_and_where_the_walk_stopped(simulation: Simulation) -> None:
    snapshot(simulation, "second")
    shown = cache_panel(simulation)
    cards = shown["recency"]
    assert (named(cards, "newer"), named(cards, "cloned"), named(cards, "mark")) == ([], ["a1"], ["a1"])
    assert named(cards, "stop") == ["c1"]
    assert shown["note"] == "UpdateSnapshot copied 1 of 5 and stopped at the first one that had not changed, c1."
    assert shown["taken"]["verb"] == "sees"


def test_a_node_that_comes_in_the_middle_of_a_cycle_is_in_the_list_and_not_in_the_snapshot(
    simulation: Simulation,
) -> None:
    snapshot(simulation, "second")
    apply(simulation, in_zone("c2", "c").obj())
    shown = cache_panel(simulation)
    assert named(shown["recency"], "newer") == ["c2"]
    assert shown["recency"][0]["what"] == "node added"
    assert "c2" not in shown["lists"][0]["members"]
    assert not shown["lists"][0]["other"]


def test_when_all_have_changed_the_mark_is_at_the_end(simulation: Simulation) -> None:
    assert cache_panel(simulation)["mark_last"] == 0
    for name in ("a1", "a2", "b1", "b2", "c1"):
        simulation.execute(commands.Cordon(name))
    shown = cache_panel(simulation)
    assert shown["mark_last"] == shown["taken"]["generation"]
    assert named(shown["recency"], "mark") == []


def test_a_cordoned_node_moves_to_the_head(simulation: Simulation) -> None:
    simulation.execute(commands.Cordon("b2"))
    first = cache_panel(simulation)["recency"][0]
    assert (first["name"], first["what"], first["newer"]) == ("b2", "node updated", True)


def test_when_a_node_has_left_the_list_is_rebuilt_though_nothing_is_newer(simulation: Simulation) -> None:
    snapshot(simulation, "second", **TOO_LARGE)
    simulation.execute(commands.Settle())
    simulation.execute(commands.Delete("Node", "c1"))
    snapshot(simulation, "third", **TOO_LARGE)
    shown = cache_panel(simulation)
    assert shown["note"] == (
        "No NodeInfo was newer, but c1 had left: UpdateSnapshot dropped its copy and rebuilt the lists."
    )
    assert shown["lists"][0]["note"] == "rebuilt"


def test_when_nothing_has_changed_the_walk_stops_at_the_head(simulation: Simulation) -> None:
    snapshot(simulation, "second", **TOO_LARGE)
    simulation.execute(commands.Settle())
    snapshot(simulation, "third", **TOO_LARGE)
    shown = cache_panel(simulation)
    assert shown["note"] == "UpdateSnapshot stopped at the head: nothing had changed since the previous snapshot."
    assert {item["note"] for item in shown["lists"]} == {"unchanged"}


def test_after_a_node_has_changed_its_zone_the_list_keeps_the_old_order_and_says_so(simulation: Simulation) -> None:
    snapshot(simulation, "second")
    moved = in_zone("a2", "a").label(ZONE, "c").obj()
    apply(simulation, moved)
    shown = cache_panel(simulation)
    assert [[cell["name"] for cell in zone["cells"]] for zone in shown["tree"]["zones"]] == [
        ["a1"],
        ["b1", "b2"],
        ["c1", "a2"],
    ]
    assert shown["lists"][0]["other"]
    apply(simulation, in_zone("d1", "d").obj())
    simulation.execute(commands.Settle())
    snapshot(simulation, "third")
    assert not cache_panel(simulation)["lists"][0]["other"]


def test_zones_of_one_name_in_two_regions_are_distinct() -> None:
    simulation = Simulation()
    places = (("n1", "a", "eu"), ("n2", "a", "us"), ("n3", "b", "eu"), ("n4", "", "us"))
    nodes = [make_node(name).zone(zone) if zone else make_node(name) for name, zone, _ in places]
    apply(simulation, *(node.region(region).obj() for node, (_, _, region) in zip(nodes, places, strict=True)))
    zones = cache_panel(simulation)["tree"]["zones"]
    assert [(zone["title"], zone["region"]) for zone in zones] == [
        ("a", "eu"),
        ("a", "us"),
        ("b", "eu"),
        ("no zone", "us"),
    ]
    assert "<b>a</b><span>us, 1 node</span>" in panel_html("cache", World.fold(simulation.recorder.entries))
    columns = PANELS["cluster"].stats(World.fold(simulation.recorder.entries), View())["zones"]
    assert [column["title"] for column in columns] == ["a in eu", "a in us", "b", "us"]
    apply(simulation, make_pod("first").obj())
    simulation.execute(commands.PodCycle())
    (group, *_) = PANELS["filter"].stats(World.fold(simulation.recorder.entries), View(group="reason"))["groups"]
    assert group["zones"] == [("a in eu", 1), ("a in us", 1), ("b", 1), ("us", 1)]


def test_a_ghost_is_in_the_zone_of_its_region() -> None:
    simulation = Simulation()
    apply(simulation, *(make_node(f"n{number}").zone("a").region(region).obj() for number, region in enumerate("xyxy")))
    apply(simulation, make_pod("first").node("n1").obj())
    simulation.execute(commands.Settle())
    simulation.execute(commands.Delete("Node", "n1"))
    columns = PANELS["cluster"].stats(World.fold(simulation.recorder.entries), View())["zones"]
    assert [(column["title"], [node["name"] for node in column["nodes"]]) for column in columns] == [
        ("a in x", ["n0", "n2"]),
        ("a in y", ["n3", "n1"]),
    ]


def started(world: World) -> tuple[list[str], list[str]]:
    """Return where the next search starts, by the nodeTree and by the map."""
    tree = PANELS["cache"].stats(world, View())["tree"]["zones"]
    cards = PANELS["cluster"].stats(world, View(layout="cards"))["zones"]
    return (
        [cell["name"] for zone in tree for cell in zone["cells"] if cell["start"]],
        [node["name"] for zone in cards for node in zone["nodes"] if node["start"]],
    )


def test_nodetree_and_map_agree_on_where_the_next_search_starts_after_a_zone_has_changed() -> None:
    simulation = Simulation()
    apply(simulation, *(in_zone(name, name[0]).obj() for name in ("a1", "b1", "b2")))
    apply(simulation, make_pod("first").obj())
    simulation.execute(commands.Settle())
    apply(simulation, in_zone("a1", "b").obj())
    world = World.fold(simulation.recorder.entries)
    assert world.cache.order[0] == "b1"
    assert started(world) == (["a1"], ["a1"])
    apply(simulation, in_zone("c1", "c").obj())
    assert started(World.fold(simulation.recorder.entries)) == (["b1"], ["b1"])


def test_the_next_search_starts_where_the_panel_says() -> None:
    """Use more nodes than one search needs, while nodes are added, removed and change zones."""
    simulation, random, checked = Simulation(), Random(1), 0
    zones = {f"n{number:03}": random.choice("abc") for number in range(115)}
    apply(simulation, *(in_zone(name, zone).obj() for name, zone in zones.items()))
    for number in range(25):
        name = random.choice(sorted(zones))
        match random.randrange(4):
            case 0:
                zones[f"m{number:03}"] = "d"
                apply(simulation, in_zone(f"m{number:03}", "d").obj())
            case 1:
                del zones[name]
                simulation.execute(commands.Delete("Node", name))
            case _:
                zones[name] = random.choice("abcd")
                apply(simulation, in_zone(name, zones[name]).obj())
        said = start_of(World.fold(simulation.recorder.entries))
        before = len(simulation.recorder.entries)
        apply(simulation, make_pod(f"p{number}").obj())
        simulation.execute(commands.PodCycle())
        new = [entry.event for entry in simulation.recorder.entries[before:]]
        (ran,) = [event for event in new if isinstance(event, FilterRan)]
        order = World.fold(simulation.recorder.entries).cache.lists.nodes
        assert said == order[ran.start_index] == ran.rows[0][0]
        checked += ran.start_index > 0
    assert checked > 10


def test_a_removed_node_stays_as_a_ghost_while_pods_are_on_it(simulation: Simulation) -> None:
    simulation.execute(commands.Delete("Node", "a1"))
    shown = cache_panel(simulation)
    assert named(shown["recency"], "ghost") == shown["tree"]["ghosts"] == ["a1"]
    assert shown["recency"][0]["what"] == "node ghost"


def test_the_node_tree_takes_one_from_each_zone_in_turn(simulation: Simulation) -> None:
    shown = cache_panel(simulation)
    assert shown["order_text"] == "1 2 3, 4 5"
    assert [[cell["place"] for cell in zone["cells"]] for zone in shown["tree"]["zones"]] == [[1, 4], [2, 5], [3]]


def test_lists_say_whether_they_were_rebuilt(simulation: Simulation) -> None:
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"app": "alone"}}, "topologyKey": "kubernetes.io/hostname"}
    ]}}  # fmt: skip
    apply(simulation, make_pod("alone").label("app", "alone").spec(affinity=apart).obj())
    simulation.execute(commands.Settle())
    snapshot(simulation, "second")
    lists = {item["name"]: item for item in cache_panel(simulation)["lists"]}
    assert {name: item["rebuilt"] for name, item in lists.items()} == {
        "nodeInfoList": False,
        "havePodsWithAffinity": True,
        "havePodsWithRequiredAntiAffinity": True,
        "usedPVCSet": True,
    }
    assert lists["usedPVCSet"]["note"] == "rebuilt, the same as before"
    assert len(lists["havePodsWithRequiredAntiAffinity"]["members"]) == 1


def test_assumed_pods_are_listed(simulation: Simulation) -> None:
    apply(simulation, make_pod("second").obj())
    while not cache_panel(simulation)["assumed_count"]:
        simulation.execute(commands.Stage())
    assert [pod.key for pod in cache_panel(simulation)["assumed"]] == ["default/second"]


def test_before_the_first_snapshot_the_live_list_is_already_shown() -> None:
    simulation = Simulation()
    apply(simulation, in_zone("a1", "a").obj())
    shown = cache_panel(simulation)
    assert (shown["has"], shown["taken"]) == (True, None)
    assert [(card["name"], card["newer"], card["mark"]) for card in shown["recency"]] == [("a1", False, 0)]
    assert shown["note"] == "No snapshot has been taken yet. The first one copies every NodeInfo."


def test_an_empty_cache_says_so() -> None:
    assert not stats(World(), View())["has"]


def test_before_a_pod_has_its_own_snapshot_the_lists_are_those_of_the_last_one(simulation: Simulation) -> None:
    apply(simulation, make_pod("late").obj())
    simulation.execute(commands.Stage())
    shown = cache_panel(simulation)
    assert (shown["taken"]["cycle"], shown["taken"]["verb"]) == (1, "saw")
    assert "a1" in shown["lists"][0]["members"]


IMAGE = "registry.example/app:1"


@pytest.mark.parametrize("then", ["another node comes", "the last node is edited", "the node comes back"])
def test_images_are_counted_as_the_cache_counts_them(then: str) -> None:
    simulation = Simulation()
    others = ("b1",) if then == "the last node is edited" else ()
    with_image = {
        name: make_node(name).capacity(cpu="4", pods=9).image(IMAGE, size) for name, size in (("a1", 5), ("b1", 7))
    }
    apply(simulation, *(with_image[name].obj() for name in ("a1", *others)))
    apply(simulation, make_pod("stays").node("a1").obj())
    simulation.execute(commands.Delete("Node", "a1"))
    for step, changed in (("freed", with_image["b1"].label("disk", "ssd")), ("again", with_image["a1"])):
        if step == "freed" or then == "the node comes back":
            apply(simulation, changed.obj())
        (view,) = scheduler_views(simulation)
        world_agrees_on_cache(view, World.fold(simulation.recorder.entries))


def test_a_pod_that_is_deleted_on_its_way_counts_where_the_cache_assumes_it() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), make_pod("web").cpu("250m").obj())))
    simulation.execute(commands.Stage())
    simulation.execute(commands.Delete("Pod", "default/web"))
    for _ in range(6):
        simulation.execute(commands.Stage())
        (view,) = scheduler_views(simulation)
        world_agrees_on_cache(view, World.fold(simulation.recorder.entries))
    assert simulation.scheduler.cache.pod_count() == 1
