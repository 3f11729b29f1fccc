"""Simulated extenders on the page: what they said, and why."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import PANELS, View
from sandbox.panels.explain import explain_score
from sandbox.panels.facts.sentences import sentence
from sandbox.panels.model.world import World
from scheduler_engine.testing import Cluster, make_node, make_pod
from tests.engine.simulated_extender import URL, answering, extended, extender
from tests.sandbox.scenarios import drawn, panel_html, world_of

FULL = {"filter": "pods.size() < 1", "message": "the rack is full"}
LATE = f'Post "{URL}/filter": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'


def cluster(configuration: Any) -> Cluster:
    there = make_pod("there").node("a").cpu("1")
    return Cluster(configuration).apply(*map(make_node, "abc"), there, make_pod("web").cpu("1"))


def world_at(stage: str, configuration: Any) -> World:
    """Return the world right after a stage."""
    made = cluster(configuration)
    while True:
        made.execute({"kind": "stage"})
        world = world_of(made.simulation)
        if world.cycle is not None and world.cycle.last_stage == stage:
            return world


def test_the_filter_table_has_a_column_with_its_words() -> None:
    world = world_at("Filter", answering(**FULL))
    stats = PANELS["filter"].stats(world, View())
    assert stats["columns"][-1]["name"] == "Extender"
    assert stats["extenders"] == [f"Extender {URL} passes 2 of 3 nodes."]
    cells = {row["node"]: row["cells"][-1] for row in stats["rows"]}
    assert (cells["a"]["kind"], cells["a"]["brief"]) == ("n", "the rack is full")
    assert cells["b"]["kind"] == "y"


def test_a_pod_that_no_extender_is_interested_in_has_no_column() -> None:
    managed = extender(FULL, managedResources=[{"name": "example.com/fpga"}])
    stats = PANELS["filter"].stats(world_at("Filter", extended(managed)), View())
    assert "Extender" not in [column["name"] for column in stats["columns"]]


def test_an_open_cell_explains_by_values() -> None:
    html = panel_html("filter", world_at("Filter", answering(**FULL)), node="a", plugin="Extender")
    for shown in ("a is refused for web: the rack is full.", f"<code>{URL}</code>", "<code>1</code>"):
        assert shown in html


@pytest.mark.parametrize("ignorable", [True, False])
def test_a_call_that_fails_is_shown(ignorable: bool) -> None:
    late = extender({**FULL, "answersAfterSeconds": 6}, ignorable=ignorable)
    stats = PANELS["filter"].stats(world_at("Filter", extended(late)), View())
    ignored = ", which is ignored" if ignorable else ""
    assert stats["extenders"] == [f"Extender {URL} failed{ignored}: {LATE}"]


SCORES = {"prioritize": "10 - 3 * pods.size()"}


def test_scores_have_a_column_for_an_extender_after_it_has_scored() -> None:
    before = drawn("scores", world_at("Score", answering(**SCORES)), View())
    assert URL not in [column["name"] for column in before["columns"]]
    scores = drawn("scores", world_at("NormalizeScore", answering(**SCORES)), View())
    column = scores["columns"][-1]
    assert (column["name"], column["weight"], column["head"].label) == (URL, 2, ("racks",))
    assert '<span class="w">140</span><span class="r">7 → 70 × 2</span>' in scores["rows"]
    assert '<span class="w top">200</span><span class="r">10 → 100 × 2</span>' in scores["rows"]


def test_a_score_is_explained_by_values_and_its_weight() -> None:
    world = world_at("NormalizeScore", answering(**SCORES))
    assert world.cycle is not None
    explained = explain_score(world, world.cycle, "a", URL)
    assert (explained.raw, explained.normalized) == (7, 70)
    assert explained.sentence == "The expression gives a 7 for web."
    shown = [(line.label, line.formula) for line in explained.lines]
    assert shown[-3:] == [("Result", "7"), ("Normalized", "7 × 10 = 70"), ("Weighted", "70 × 2 = 140")]


def test_a_failed_ranking_is_named_beside_the_scores() -> None:
    world = world_at("NormalizeScore", answering(prioritize="11"))
    assert f"Extender {URL} failed, which is ignored: the score is 11, not in valid range [0, 10]" in panel_html(
        "scores", world
    )


def test_preemption_names_the_candidates_that_an_extender_drops() -> None:
    nodes = [make_node(name).capacity(cpu="4") for name in "abc"]
    lows = [make_pod(f"low-{name}").node(name).cpu("4") for name in "abc"]
    made = Cluster(answering(preempt='node.metadata.name != "a"')).apply(*nodes, *lows)
    made.apply(make_pod("web").cpu("1").priority(10)).run(1)
    world = world_of(made.simulation)
    stats = PANELS["preemption"].stats(world, View())
    assert {item["node"]: item["dropped"] for item in stats["candidates"]} == {"a": URL, "b": "", "c": ""}
    assert stats["extenders"] == [f"Extender {URL} keeps 2 of 3 candidates."]
    assert "dropped by an extender" in panel_html("preemption", world)
    assert "2 nodes could do it" in sentence(world.by_number[1])


def test_a_refused_binding_is_told_in_the_sentence() -> None:
    world = world_of(cluster(answering(bind="false")).run(1).simulation)
    cycle = world.by_number[1]
    assert (cycle.outcome, cycle.last_stage) == ("error", "Bind")
    assert sentence(cycle).startswith(f"{URL} failed: failed expression: false.")


def test_the_configuration_lists_extenders_as_they_are_asked() -> None:
    lazy = extender({"failure": "EOF"}, urlPrefix="simulated://lazy", filterVerb="f", ignorable=True)
    both = extended(lazy, extender({**FULL, "bind": "true"}, httpTimeout="1500ms"))
    made = cluster(both)
    stats = PANELS["configuration"].stats(world_of(made.simulation), View())
    assert [(item["name"], item["when"]) for item in stats["extenders"]] == [
        (URL, "asked after Filter and to bind pods"),
        ("simulated://lazy", "asked after Filter"),
    ]
    settings = dict(stats["extenders"][0]["settings"])
    assert settings == {
        "filter": "pods.size() < 1",
        "message": "the rack is full",
        "bind": "true",
        "nodeCacheCapable": "true",
        "httpTimeout": "1.5s",
    }
    assert dict(stats["extenders"][1]["settings"])["httpTimeout"] == "5s"
    [part] = stats["differs"]
    assert part.says == (
        "The scheduler asks the extender simulated://lazy.",
        f"The scheduler asks the extender {URL}.",
    )
    assert "<dd><code>pods.size() &lt; 1</code></dd>" in panel_html("configuration", world_of(made.simulation))
