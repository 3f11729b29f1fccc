"""The metrics panel: its charts, their tables, and nothing before there is data."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.metrics.panel import MOST, stats
from scheduler_engine.trace import events as ev
from tests.installed import SCENARIOS
from tests.sandbox import traces
from tests.sandbox.scenarios import panel_html, world_after
from tests.sandbox.traces import SECOND, Story, node, pod

html = partial(panel_html, "metrics")


@pytest.fixture(name="world")
def create_world() -> World:
    return World.fold(traces.web_at_filter().entries)


def chart(world: World, name: str) -> dict[str, Any]:
    shown = stats(world, View())
    return {**next(chart for chart in shown["charts"] if chart["id"] == name), "drawn": shown["data"][name]}


def table(world: World, name: str) -> dict[str, tuple[str, str]]:
    return {row["name"]: (row["now"], row["highest"]) for row in chart(world, name)["rows"]}


def test_an_empty_sandbox_has_no_charts_but_a_sentence() -> None:
    text = html(World())
    assert "Nothing to count yet." in text
    assert "<figure" not in text


def test_with_several_replicas_it_names_the_replica_of_the_counts(world: World) -> None:
    assert "replicas together" not in html(world)
    scenario = SCENARIOS["no-leader-election"]
    assert "All 3 replicas together." in html(world_after("no-leader-election", *scenario.then))


def test_each_chart_says_what_it_shows(world: World) -> None:
    charts = stats(world, View())["charts"]
    assert [(chart["id"], chart["metric"]) for chart in charts] == [
        ("pending", "scheduler_pending_pods"),
        ("incoming-active", "scheduler_queue_incoming_pods_total"),
        ("incoming-backoff", "scheduler_queue_incoming_pods_total"),
        ("incoming-unschedulable", "scheduler_queue_incoming_pods_total"),
        ("attempts", "scheduler_schedule_attempts_total"),
        ("per-pod", "scheduler_pod_scheduling_attempts"),
        ("preemption", "scheduler_preemption_attempts_total, …_victims"),
        ("cpu-zone", ""),
        ("memory-zone", ""),
        ("cpu-node", ""),
        ("memory-node", ""),
    ]


def test_pending_pods_are_those_in_the_lanes(world: World) -> None:
    pending = {name: int(now) for name, (now, _) in table(world, "pending").items()}
    assert pending == {
        "active": len(world.lane("activeQ")),
        "backoff": len(world.lane("backoffQ")) + len(world.lane("errorBackoffQ")),
        "unschedulable": len(world.lane("unschedulablePods")),
        "gated": len(world.lane("gated")),
    }


def test_arrivals_are_counted_by_event_the_most_frequent_first(world: World) -> None:
    rows = chart(world, "incoming-active")["rows"]
    totals = [int(row["now"]) for row in rows]
    assert rows[0]["name"] == "PodAdd"
    assert totals == sorted(totals, reverse=True)
    assert all(row["highest"] == "" for row in rows)


def test_a_peak_of_one_instant_is_drawn_before_the_value_that_it_went_back_to() -> None:
    story = Story()
    story.add_node(node("n"))
    story.at(2).quick(pod("web-1"), "n")
    drawn = chart(World.fold(story.entries), "pending")["drawn"]
    active = next(line for line in drawn["lines"] if line["name"] == "active")
    assert (active["x"], active["y"]) == ([0, 2, 2], [0, 1, 0])
    assert drawn["top"] == 1


def test_a_chart_ends_at_the_present_clock() -> None:
    story = Story()
    story.add_pod(pod("web-1"))
    world = World.fold(story.entries)
    world.clock_us = 90 * SECOND
    assert chart(world, "pending")["drawn"]["end"] == 90
    assert "from 00:00 to 01:30" in html(world)


def test_attempts_have_the_colours_of_yes_and_no(world: World) -> None:
    assert {row["name"]: row["look"] for row in chart(world, "attempts")["rows"]} == {
        "scheduled": "ok",
        "unschedulable": "no",
    }


def test_attempts_have_a_line_per_profile_when_there_are_several() -> None:
    story = Story()
    for number, profile in enumerate(("default-scheduler", "other"), 1):
        story.say(
            ev.CycleStarted(number, "default/web", profile, 1, ""),
            ev.CycleFinished(number, "default/web", "error", "", "broken"),
        )
    rows = chart(World.fold(story.entries), "attempts")["rows"]
    assert [(row["name"], row["note"]) for row in rows] == [("error", "default-scheduler"), ("error", "other")]
    assert len({row["look"] for row in rows}) == 2


def test_bound_pods_are_counted_by_the_attempts_it_took() -> None:
    story = Story()
    story.add_node(node("n"))
    for number, attempt in enumerate((1, 3, 4, 40), 1):
        story.say(ev.CycleStarted(number, f"default/web-{number}", "default-scheduler", attempt, ""))
        story.say(ev.StageFinished(number, f"default/web-{number}", "Bind", "n", "PostBind"))
    world = World.fold(story.entries)
    assert {name: now for name, (now, _) in table(world, "per-pod").items()} == {
        "1": "1",
        "2": "0",
        "3–4": "2",
        "5–8": "0",
        "9–16": "0",
        "over 16": "1",
    }
    assert chart(world, "per-pod")["drawn"]["counts"] == [1, 0, 2, 0, 0, 1]


def test_preemption_counts_attempts_and_victims() -> None:
    story = Story()
    story.say(
        ev.PostFilterRan(1, (("DefaultPreemption", "Success", ()),), "n", ("default/a", "default/b"), ("n",), ()),
        ev.PostFilterRan(2, (("DefaultPreemption", "Unschedulable", ("no",)),), "", (), (), ()),
        ev.PostFilterRan(3, (("DynamicResources", "Unschedulable", ("no",)),), "", (), (), ()),
    )
    rows = {name: now for name, (now, _) in table(World.fold(story.entries), "preemption").items()}
    assert rows == {"attempts": "2", "victims": "2"}


def test_nodes_are_listed_fullest_first_with_the_amounts_and_the_rest_is_on_the_next_page() -> None:
    story = Story()
    for number in range(MOST + 3):
        story.add_node(node(f"n{number:02}"))
    story.add_pod(pod("web-1", "2", "2Gi", on="n07"))
    cpu, memory = (chart(World.fold(story.entries), f"{resource}-node") for resource in ("cpu", "memory"))
    assert cpu["rows"][0] == {"look": "l1", "name": "n07", "note": "2 of 4", "now": "50%", "highest": "50%"}
    assert memory["rows"][0]["note"] == "2Gi of 8Gi"
    assert (len(cpu["rows"]), cpu["note"]) == (MOST, "requested, fullest first")
    rest = stats(World.fold(story.entries), View(pages=(("metrics.cpu-node", "2"),)))
    (second,) = (second_chart for second_chart in rest["charts"] if second_chart["id"] == "cpu-node")
    assert [row["name"] for row in second["rows"]] == [f"n{number:02}" for number in range(MOST, MOST + 3)]
    assert len(rest["data"]["cpu-node"]["lines"]) == 3
    assert len({row["look"] for row in cpu["rows"]}) == MOST


def test_the_fullest_of_very_many_nodes_leads_and_every_other_one_has_a_page() -> None:
    story, nodes = Story(), 500
    for number in range(nodes):
        story.add_node(node(f"n{number:03}", f"eu-{number % 50:02}"))
    story.add_pod(pod("web-1", "2", "2Gi", on="n499"))
    world = World.fold(story.entries)
    for resource in ("cpu", "memory"):
        assert chart(world, f"{resource}-node")["rows"][0]["name"] == "n499"
        assert chart(world, f"{resource}-zone")["rows"][0]["name"] == "eu-49"
    assert (chart(world, "cpu-node")["pages"].count, chart(world, "cpu-zone")["pages"].count) == (nodes, 50)
    last = stats(world, View(pages=(("metrics.cpu-node", "999"),)))["data"]["cpu-node"]["lines"]
    assert [line["name"] for line in last] == [f"n{number:03}" for number in range(495, 499)]


def test_a_deleted_node_is_no_longer_listed() -> None:
    story = Story()
    story.add_node(node("here", "eu-a"))
    story.add_node(node("gone", "eu-b"))
    story.ghost("gone")
    world = World.fold(story.entries)
    assert list(table(world, "cpu-node")) == ["here"]
    assert list(table(world, "cpu-zone")) == ["eu-a"]
    assert [chart(world, name)["pages"].count for name in ("cpu-node", "cpu-zone")] == [1, 1]


def test_nodes_without_a_zone_are_together() -> None:
    story = Story()
    story.add_node(node("n"))
    assert list(table(World.fold(story.entries), "cpu-zone")) == ["no zone"]


def test_every_chart_has_a_table_of_its_lines_and_its_numbers_as_page_data(world: World) -> None:
    text = html(world)
    match = re.search(r'<script id="metrics-data" type="application/json">(.*?)</script>', text, re.S)
    assert match
    data = json.loads(match[1])
    plots = re.findall(r'class="plot" data-chart="([^"]+)" aria-hidden="true"></div>\s*<table', text)
    assert plots == [chart["id"] for chart in stats(world, View())["charts"] if chart["rows"]]
    assert set(plots) <= set(data)
    assert text.count("<caption") == len(plots)


def test_a_chart_without_lines_says_so() -> None:
    story = Story()
    story.add_node(node("n"))
    text = html(World.fold(story.entries))
    assert text.count("None so far.") == 7
    assert text.count('class="plot"') == 4


def test_names_are_escaped() -> None:
    story = Story()
    story.add_node(node("<b>bold", "<i>zone"))
    text = html(World.fold(story.entries))
    assert "<b>bold" not in text
    assert "<i>zone" not in text
