"""Find: the matches of a few letters."""

from __future__ import annotations

import pytest

from sandbox.panels import World
from sandbox.panels.facts.finding import MOST_OF_A_KIND, find
from tests.sandbox import traces
from tests.sandbox.scenarios import world_after


@pytest.fixture(name="world", scope="module")
def create_world() -> World:
    return World.fold(traces.web_at_filter().entries)


def results_for(world: World, wanted: str) -> list[tuple[str, str]]:
    return [(hit.kind, hit.text) for hit in find(world, wanted)[0]]


def test_a_pod_in_a_queue_is_listed_like_one_on_a_node(world: World) -> None:
    waiting = next(pod for pod in world.pods.values() if not pod.node)
    running = next(pod for pod in world.pods.values() if pod.node)
    for pod in (waiting, running):
        hits, _ = find(world, pod.pod.name)
        assert hits[0].leads == {"pod": pod.key, "node": "", "plugin": ""}


def test_names_that_begin_with_the_letters_come_first_in_any_case(world: World) -> None:
    hits = [text for kind, text in results_for(world, "NODE-A") if kind == "node"]
    assert hits
    assert all(text.startswith("node-a") for text in hits)


def test_a_node_is_listed_by_its_zone(world: World) -> None:
    assert ("node", "node-a1") in results_for(world, "eu-a")


def test_a_plugin_opens_the_table_in_which_it_speaks() -> None:
    world = world_after("node-not-ready")
    leads = {hit.text: hit.leads["tab"] for hit in find(world, "Node")[0] if hit.kind == "plugin"}
    assert (leads["NodeName"], leads["NodeResourcesFit"]) == ("filter", "filter")
    assert {hit.leads["tab"] for hit in find(world, "ImageLocality")[0] if hit.kind == "plugin"} == {"scores"}
    assert {hit.leads["tab"] for hit in find(world, "DefaultBinder")[0] if hit.kind == "plugin"} == {"configuration"}


def test_every_other_object_is_listed_and_opens_for_editing() -> None:
    world = world_after("node-not-ready")
    leads = {hit.note: hit.leads for hit in find(world, "default")[0] if hit.kind == "object"}
    assert leads["Namespace"] == {"edit": "Namespace", "key": "default"}


def test_an_event_is_listed_by_its_message() -> None:
    world = world_after("node-not-ready")
    assert ("event", "Scheduled") in results_for(world, "Successfully assigned")


def test_some_results_of_each_kind_are_listed_and_the_rest_is_counted() -> None:
    world = World.fold(traces.hundred().entries)
    hits, more = find(world, "a")
    assert max(sum(hit.kind == kind for hit in hits) for kind in ("pod", "node")) <= MOST_OF_A_KIND
    everything = sum(1 for node in world.nodes.values() if "a" in node.name or "a" in node.zone)
    assert more >= everything - MOST_OF_A_KIND


def test_an_unused_name_has_no_results(world: World) -> None:
    assert find(world, "zzz") == ([], 0)
