"""The cache and the snapshot."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.cache import stats
from tests.sandbox import traces


@pytest.fixture(name="found")
def made_found() -> dict[str, Any]:
    return stats(World.fold(traces.web_at_filter().entries), View())


def test_the_recency_list_tells_what_was_cloned_and_where_the_walk_stopped(found: dict[str, Any]) -> None:
    cards = found["recency"]
    assert [card["name"] for card in cards if card["cloned"]] == ["node-b1", "node-a1"]
    assert [card["name"] for card in cards if card["stop"]] == ["node-b3"]
    assert (cards[0]["tag"], cards[2]["tag"], cards[-1]["tag"]) == (
        "head, highest generation",
        "first unchanged: stop here",
        "tail",
    )
    assert cards[3]["below"] == "5 more not even looked at"


def test_the_node_tree_goes_one_from_each_zone_in_turn(found: dict[str, Any]) -> None:
    assert found["order_text"] == "1 2 3, 4 5 6, 7 8"
    assert [[cell["place"] for cell in zone["cells"]] for zone in found["tree"]["zones"]] == [
        [1, 4, 7],
        [2, 5, 8],
        [3, 6],
    ]
    assert found["tree"]["ghosts"] == ["node-c3"]


def test_lists_say_whether_they_were_rebuilt(found: dict[str, Any]) -> None:
    assert {item["name"]: item["rebuilt"] for item in found["lists"]} == {
        "nodeInfoList": False,
        "havePodsWithAffinity": True,
        "havePodsWithRequiredAntiAffinity": False,
        "usedPVCSet": True,
    }


def test_assumed_pods_are_listed(found: dict[str, Any]) -> None:
    assert found["assumed_count"] == 1
    assert 'data-pod="default/api-2"' in found["assumed"]


def test_the_affinity_lists_are_those_of_the_snapshot_not_of_the_present() -> None:
    story = traces.three_zones()
    manifest = traces.pod("web-9", "100m", "1Gi", **traces.WEB)
    story.quick(manifest, "node-b2")
    lists = {item["name"]: item["tokens"] for item in stats(World.fold(story.entries), View())["lists"]}
    assert "node-b2" not in lists["havePodsWithRequiredAntiAffinity"]
    story.quick(traces.pod("other-1", "100m", "1Gi"), "node-b1")
    lists = {item["name"]: item["tokens"] for item in stats(World.fold(story.entries), View())["lists"]}
    assert "node-b2" in lists["havePodsWithRequiredAntiAffinity"]


def test_before_the_first_snapshot_the_tree_is_shown_alone() -> None:
    story = traces.Story()
    story.add_node(traces.node("n"))
    found = stats(World.fold(story.entries), View())
    assert (found["has"], found["taken"], found["recency"]) == (True, None, [])


def test_an_empty_cache_says_so() -> None:
    assert not stats(World(), View())["has"]


def test_before_a_pod_has_its_own_snapshot_the_lists_are_those_of_the_last_one() -> None:
    story = traces.three_zones()
    key = story.add_pod(traces.pod("late-1"))
    story.pop(key)
    found = stats(World.fold(story.entries), View())
    assert found["taken"]["cycle"] == 2
    assert 'data-node="node-a1"' in found["lists"][0]["tokens"]
