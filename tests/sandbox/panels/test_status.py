"""The smallest panel."""

from __future__ import annotations

from sandbox.panels import View, World
from sandbox.panels.status import stats
from tests.sandbox import traces


def test_it_tells_who_did_what_last_and_where_the_head_stands() -> None:
    world = World.fold(traces.web_at_filter().entries)
    world.who, world.length = "Ada", 99
    found = stats(world, View())
    assert (found["last"], found["last_at"], found["who"]) == ("one stage", "00:12.4", "Ada")
    assert found["events"] == len(world.entries)


def test_an_empty_sandbox_has_no_last_command() -> None:
    assert stats(World(), View())["last"] == ""
