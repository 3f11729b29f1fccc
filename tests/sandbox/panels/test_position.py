"""The position is the same wherever it is shown."""

from __future__ import annotations

import re

import pytest

from sandbox.panels import View, World, status, timeline, toolbar
from sandbox.panels.facts.position import position
from sandbox.panels.model.moment import Moment
from sandbox.panels.ribbon import stats as ribbon
from sandbox.worker.rendering import render_panel
from tests.sandbox import traces
from tests.sandbox.scenarios import looking_back


def present(head: int, length: int) -> World:
    world = World.fold(traces.web_at_filter().entries)
    world.head, world.length = head, length
    return world


@pytest.mark.parametrize(
    ("world", "text", "title"),
    [
        pytest.param(present(14, 14), "command 14", "", id="the end of the log"),
        pytest.param(
            present(12, 14),
            "command 12 of 14",
            "Commands 13 to 14 are undone. Forward redoes them. If you do something else, they become a branch.",
            id="two commands are undone",
        ),
        pytest.param(
            looking_back(whole := present(12, 14), whole.starts[3]),
            "command 2 of 14",
            "You are viewing command 2. The sandbox is at command 12.",
            id="the past, with two commands undone",
        ),
    ],
)
def test_every_panel_names_the_position_that_one_place_knows(world: World, text: str, title: str) -> None:
    here = position(world)
    assert (here.text, here.title) == (text, title)
    assert [panel.stats(world, View())["position"] for panel in (toolbar, status, timeline)] == [here] * 3
    for panel in ("toolbar", "status"):
        html = render_panel(panel, world, View(), True)
        assert re.findall(r"command \d+(?: of \d+)?", re.sub(r'title="[^"]*"', "", html)) in ([text], [])


def test_in_the_past_a_stage_leads_to_its_moment_and_says_so() -> None:
    world = World.fold(traces.web_at_filter().entries)
    cycle = world.cycles[-1]
    before = looking_back(world, cycle.stages[1].entry + 1)
    moments = ribbon(before, View())["moments"]
    assert list(moments) == [mark.stage for mark in cycle.stages]
    for mark in cycle.stages:
        at = Moment.read(moments[mark.stage])
        assert at is not None
        assert world.entry_of(at) == world.rest_at(mark.entry)
    html = render_panel("ribbon", before, View(), True)
    assert html.count("Click to show this moment and open its tab.") == html.count("data-to=") == len(moments)
    assert "Click to open its tab." in html
    assert "data-to" not in render_panel("ribbon", world, View(), True)
