"""Lists in another order than the scheduler's."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.drawing.ordering import by_name, head, ordered, own
from sandbox.panels.filter.panel import stats as filter_stats
from sandbox.panels.inspector.panel import stats as inspector_stats
from sandbox.panels.queues.panel import stats as queue_stats
from sandbox.panels.scores import PAGE
from sandbox.panels.scores import stats as score_stats
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox import traces
from tests.sandbox.scenarios import world_of

KEYS = {"size": abs}
CONFIGURATION = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def view(**orders: str) -> View:
    return View(orders=tuple(orders.items()))


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        pytest.param("", [2, -3, 1, -1], id="unsorted"),
        pytest.param("size", [1, -1, 2, -3], id="ascending; equal rows keep their order"),
        pytest.param("-size", [-3, 2, 1, -1], id="descending; equal rows keep their order"),
        pytest.param("colour", [2, -3, 1, -1], id="an unknown column sorts nothing"),
    ],
)
def test_an_order_of_a_list(order: str, expected: list[int]) -> None:
    assert ordered([2, -3, 1, -1], view(list=order, other="size"), "list", KEYS) == expected


@pytest.mark.parametrize("down", [False, True], ids=["lowest first", "highest first"])
def test_the_third_click_leads_back_to_the_own_order(down: bool) -> None:
    orders, now = [], ""
    for _ in range(3):
        now = head(view(list=now), "list", "size", ["Size"], down=down).next
        orders.append(now)
    assert orders == (["-size", "size", ""] if down else ["size", "-size", ""])


def test_the_own_order_is_pressed_until_another_is_chosen() -> None:
    assert (own(view(), "list", "as they come").sort, own(view(list="size"), "list", "").sort) == ("other", "none")
    assert head(view(list="-size"), "list", "size", ["Size"]).sort == "descending"


def test_numbers_in_names_count() -> None:
    assert sorted(["node-10", "node-9", "a", "node-9b"], key=by_name) == ["a", "node-9", "node-9b", "node-10"]


def filter_rows(order: str) -> list[tuple[str, str]]:
    world = World.fold(traces.web_at_filter().entries)
    rows = filter_stats(world, view(filter=order))["rows"]
    return [(row["node"], next((cell["plugin"] for cell in row["cells"] if cell["plugin"]), "")) for row in rows]


def test_the_filter_table_is_in_visiting_order_unless_sorted() -> None:
    usual = filter_rows("")
    assert filter_rows("name") == sorted(usual)
    assert filter_rows("-name") == sorted(usual, reverse=True)
    refusing = [plugin for _, plugin in filter_rows("NodeResourcesFit")]
    assert refusing[0] == "NodeResourcesFit"
    assert refusing == sorted(refusing, key=lambda plugin: plugin != "NodeResourcesFit")


def test_by_zone_each_row_says_its_zone() -> None:
    world = World.fold(traces.web_at_filter().entries)
    assert {row["zone"] for row in filter_stats(world, View())["rows"]} == {""}
    zones = [row["zone"] for row in filter_stats(world, view(filter="-zone"))["rows"]]
    assert (zones, len(set(zones))) == (sorted(zones, reverse=True), 3)


def test_the_first_visited_node_is_marked_wherever_it_stands() -> None:
    world = World.fold(traces.web_at_filter().entries)
    first = filter_stats(world, View())["rows"][0]["node"]
    rows = filter_stats(world, view(filter="-name"))["rows"]
    assert [row["node"] for row in rows if row["first"]] == [first]


def many_nodes() -> World:
    """Return a scored world in which the last node by name is much better than the others."""
    simulation = Simulation(configuration={**CONFIGURATION, "percentageOfNodesToScore": 100})
    nodes = [
        make_node(f"n{number:03}").capacity({"cpu": "2", "memory": "4Gi", "pods": "9"}).obj() for number in range(499)
    ]
    nodes.append(make_node("n499").capacity({"cpu": "64", "memory": "256Gi", "pods": "9"}).obj())
    simulation.execute(commands.Apply((*nodes, make_pod("web").cpu("1").obj())))
    simulation.execute(commands.Run())
    return world_of(simulation)


def test_the_winner_is_in_view_on_every_page_of_five_hundred_scores() -> None:
    world = many_nodes()
    for order, page in (("", "1"), ("", "7"), ("name", "1"), ("total", "2")):
        rows = score_stats(world, View(pages=(("scores", page),), orders=(("scores", order),)))["rows"]
        assert [row["node"] for row in rows if row["win"]] == ["n499"]
        assert len(rows) in (PAGE, PAGE + 1)


def test_scores_keep_their_rank_in_another_order() -> None:
    world = World.fold(traces.api_scored().entries)
    best = score_stats(world, View())["rows"]
    assert [row["place"] for row in best] == list(range(1, len(best) + 1))
    upwards = score_stats(world, view(scores="total"))["rows"]
    assert [row["total"] for row in upwards] == sorted(row["total"] for row in best)
    assert {row["node"]: row["place"] for row in upwards} == {row["node"]: row["place"] for row in best}


def lane(world: World, order: str) -> list[tuple[int, str]]:
    active = queue_stats(world, view(queues=order))["lanes"][1]
    return [(card["place"], card["name"]) for card in active["cards"]]


def test_a_lane_can_be_sorted_by_name_and_its_cards_keep_their_place_in_the_queue() -> None:
    story = traces.Story()
    for name, priority in (("c", 5), ("a", 1), ("b", 9)):
        story.add_pod(traces.pod(name, priority=priority))
    world = World.fold(story.entries)
    assert lane(world, "") == [(1, "b"), (2, "c"), (3, "a")]
    assert lane(world, "name") == [(3, "a"), (1, "b"), (2, "c")]
    assert lane(world, "priority") == [(3, "a"), (2, "c"), (1, "b")]


def test_attempts_are_listed_newest_first_or_oldest_first() -> None:
    world = World.fold(traces.web_at_filter().entries)

    def numbers(**orders: Any) -> list[int]:
        view = View(orders=tuple((name.replace("_", "."), order) for name, order in orders.items()))
        return [attempt["number"] for attempt in inspector_stats(world, view)["attempts"]]

    assert (numbers(), numbers(inspector_attempts="oldest")) == ([3, 2, 1], [1, 2, 3])


@pytest.mark.parametrize(("pods", "order", "offered"), [(5, "", False), (6, "", True), (2, "name", True)])
def test_orders_are_offered_where_there_is_something_to_order(pods: int, order: str, offered: bool) -> None:
    story = traces.Story()
    for number in range(pods):
        story.add_pod(traces.pod(f"a-{number}"))
    wanted = view(queues=order) if order else view()
    assert bool(queue_stats(World.fold(story.entries), wanted)["heads"]) == offered
