"""Preemption: candidates, film and ladder."""

from __future__ import annotations

import pytest

from sandbox.panels import View, World
from sandbox.panels.preemption import stats
from scheduler_engine.trace import events as ev
from tests.sandbox import traces


@pytest.fixture(name="world")
def made_world() -> World:
    return World.fold(traces.payments_preempts().entries)


def test_candidates_stand_with_the_chosen_one_first_and_where_the_others_fell(world: World) -> None:
    found = stats(world, View())
    assert [(item["node"], item["fell"]) for item in found["candidates"]] == [
        ("node-b1", 0),
        ("node-a1", 5),
        ("node-b3", 3),
        ("node-a2", 2),
        ("node-c1", 1),
    ]
    assert found["not_helped"] == 3
    assert found["candidates"][4]["pdb"] == 1


def test_the_film_goes_from_as_it_is_over_all_out_and_each_reprieve_to_the_result(world: World) -> None:
    film = stats(world, View())["film"]
    assert film["node"] == "node-b1"
    assert [(frame["title"], frame["outcome"]) for frame in film["frames"]][1:-1] == [
        ("all 4 lower ones out", "fits"),
        ("back in?", "kept"),
        ("back in?", "victim"),
        ("back in?", "victim"),
        ("back in?", "kept"),
    ]
    assert film["frames"][0]["title"] == "as it is"
    assert film["frames"][-1]["title"] == "result"


def test_a_refused_reprieve_is_hatched_and_does_not_stay(world: World) -> None:
    frames = stats(world, View())["film"]["frames"]
    assert 'class="over"' in frames[3]["svg"]
    assert 'class="over"' not in frames[5]["svg"]


def test_another_candidate_can_be_looked_at(world: World) -> None:
    found = stats(world, View(node="node-c1"))
    assert found["film"]["node"] == "node-c1"
    assert found["film"]["protected"] == ["cart-2"]
    assert [item["node"] for item in found["candidates"] if item["shown"]] == ["node-c1"]


def test_the_ladder_tells_who_fell_at_which_criterion(world: World) -> None:
    ladder = stats(world, View())["ladder"]
    assert [(rung["title"], rung["change"]) for rung in ladder] == [
        ("Fewest PDB violations", "5 → 4"),
        ("Lowest top priority", "4 → 3"),
        ("Smallest sum of priorities", "3 → 2"),
        ("Fewest victims", "2, all equal"),
        ("Latest start of the top victim", "2 → 1"),
    ]
    assert 'class="tok won" data-node="node-b1"' in ladder[4]["tokens"]
    assert 'class="tok fell" data-node="node-a1"' in ladder[4]["tokens"]


def test_the_sum_of_priorities_is_shown_without_its_offset(world: World) -> None:
    tokens = stats(world, View())["ladder"][2]["tokens"]
    assert "<i>100 + 2·2³¹</i>" in tokens
    assert "<i>100 + 3·2³¹</i>" in tokens


def test_the_summary_says_who_must_go(world: World) -> None:
    assert stats(world, View())["summary"].startswith("api-2 and batch-7 must go. payments-1 is nominated to node-b1")


@pytest.mark.parametrize(
    ("story", "words"),
    [
        (traces.web_at_filter, "PostFilter comes next"),
        (traces.api_scored, "Not needed: 5 nodes can take api-4"),
        (traces.empty, "No pod has been scheduled yet"),
    ],
    ids=["before PostFilter", "not needed", "no attempt"],
)
def test_why_there_is_nothing_to_see(story: object, words: str) -> None:
    assert callable(story)
    assert words in stats(World.fold(story().entries), View())["empty"]


def test_a_node_that_cannot_help_says_why_in_plain_words_and_in_kubernetes_own() -> None:
    story = traces.Story()
    story.add_node(traces.node("n"))
    key = story.add_pod(traces.pod("p-1"))
    story.pop(key)
    precise = "No preemption victims found for incoming pod"
    story.say(ev.PreemptionNodeTried(1, "n", (), (), (), 0, precise))
    found = stats(World.fold(story.entries), View())
    assert found["others"] == [{"node": "n", "why": "no pod here has a lower priority", "precise": precise}]
    assert found["candidates"] == []
