"""The queue lanes."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.queues import stats
from scheduler_engine.trace import events as ev
from tests.sandbox import traces


@pytest.fixture(name="lanes")
def made_lanes() -> dict[str, dict[str, Any]]:
    found = stats(World.fold(traces.web_at_filter().entries), View())
    return {lane["id"]: lane for lane in found["lanes"]}


def names(lane: dict[str, Any]) -> list[str]:
    return [card["name"] for card in lane["cards"]]


def test_active_pods_stand_in_pop_order_by_priority_then_time(lanes: dict[str, dict[str, Any]]) -> None:
    assert names(lanes["activeQ"]) == ["payments-1", "api-5", "api-6", "batch-11", "batch-12"]
    assert [card["place"] for card in lanes["activeQ"]["cards"]] == [1, 2, 3, 4, 5]


def test_the_pod_in_question_is_marked_as_now(lanes: dict[str, dict[str, Any]]) -> None:
    assert [card["name"] for card in lanes["inFlight"]["cards"] if card["now"]] == ["web-4"]


def test_backing_off_pods_stand_by_end_of_backoff_with_what_is_left(lanes: dict[str, dict[str, Any]]) -> None:
    assert names(lanes["backoffQ"]) == ["cart-5", "search-2", "batch-9"]
    cards = {card["name"]: card for card in lanes["backoffQ"]["cards"]}
    assert (cards["cart-5"]["age"], cards["cart-5"]["ring"]) == ("1.6 s of 2 s", 80)
    assert cards["search-2"]["detail"] == "nominated to node-a2"


def test_an_unschedulable_pod_tells_who_rejected_it_and_what_could_wake_it(lanes: dict[str, dict[str, Any]]) -> None:
    card = next(card for card in lanes["unschedulable"]["cards"] if card["name"] == "ml-2")
    assert card["by"] == ["NodeResourcesFit"]
    assert card["wakes"] == ["Node/Add", "Pod/Delete", "3 more"]
    assert card["lead"] == "2×"


def test_a_gated_pod_names_its_gate(lanes: dict[str, dict[str, Any]]) -> None:
    assert lanes["gated"]["cards"][0]["detail"] == "gate example.com/quota"


def test_a_move_has_its_cause_on_it(lanes: dict[str, dict[str, Any]]) -> None:
    card = next(card for card in lanes["activeQ"]["cards"] if card["name"] == "api-6")
    assert card["moved"] == "from backoffQ, backoff over"
    assert card["title"] == "from backoffQ by BackoffComplete at 00:10"


def test_an_event_that_came_in_mid_cycle_is_noted_by_the_pod_in_flight() -> None:
    story = traces.Story()
    key = story.add_pod(traces.pod("p-1"))
    story.pop(key)
    story.say(ev.MoveRequested("NodeAdd", "n", 1, (key,), ()))
    flying = stats(World.fold(story.entries), View())["lanes"][0]
    assert flying["cards"][0]["detail"] == "noted NodeAdd"


def test_an_empty_queue_has_five_empty_lanes() -> None:
    found = stats(World(), View())
    assert [lane["count"] for lane in found["lanes"]] == [0] * 5
    assert found["pending"] == 0


def test_a_long_lane_ends_in_a_number() -> None:
    story = traces.Story()
    for number in range(70):
        story.add_pod(traces.pod(f"p-{number}"))
    lane = stats(World.fold(story.entries), View())["lanes"][1]
    assert (lane["count"], len(lane["cards"]), lane["more"]) == (70, 60, 10)
