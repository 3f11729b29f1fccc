"""The smallest panel."""

from __future__ import annotations

from sandbox.panels import View, World
from sandbox.panels.status import stats
from tests.sandbox import traces


def test_it_shows_the_last_action_its_author_and_the_head() -> None:
    world = World.fold(traces.web_at_filter().entries)
    world.who, world.length = "Ada", 99
    panel = stats(world, View())
    assert (panel["last"], panel["last_at"], panel["who"]) == ("one stage", "00:12.4", "Ada")
    assert panel["events"] == len(world.entries)


def test_an_empty_sandbox_has_no_last_command() -> None:
    assert stats(World(), View())["last"] == ""
