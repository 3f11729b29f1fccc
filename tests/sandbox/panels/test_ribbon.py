"""The ribbon of stages."""

from __future__ import annotations

import pytest

from sandbox.panels import View, World
from sandbox.panels.ribbon import stats
from scheduler_engine.framework.extension_points import STAGES
from tests.sandbox import traces


def states(world: World) -> dict[str, str]:
    return {stop["name"]: stop["state"] for stop in stats(world, View())["stages"]}


def test_done_is_full_now_is_marked_and_an_optional_next_is_dashed() -> None:
    by_stage = states(World.fold(traces.web_at_filter().entries))
    assert (by_stage["Pop"], by_stage["Filter"], by_stage["PostFilter"], by_stage["Score"]) == (
        "done",
        "now",
        "maybe",
        "todo",
    )


def test_a_stage_that_was_left_out_says_so() -> None:
    stages = {stop["name"]: stop for stop in stats(World.fold(traces.api_scored().entries), View())["stages"]}
    assert (stages["PostFilter"]["state"], stages["PostFilter"]["note"]) == ("off", "not needed")
    assert stages["SelectHost"]["note"] == "node-b3"


def test_an_attempt_that_is_over_does_not_come_to_later_stages() -> None:
    by_stage = states(World.fold(traces.payments_preempts().entries))
    assert (by_stage["PostFilter"], by_stage["Bind"]) == ("now", "never")


def test_stages_are_those_of_the_table_without_an_unneeded_wait() -> None:
    shown = [stop["name"] for stop in stats(World(), View())["stages"]]
    assert shown == [stage.name for stage in STAGES if stage.name != "WaitOnPermit"]


def test_the_binding_cycle_begins_at_one_place() -> None:
    assert [stop["name"] for stop in stats(World(), View())["stages"] if stop["binding_first"]] == ["PreBind"]


@pytest.mark.parametrize(
    ("story", "tab"),
    [
        (traces.web_at_filter, "filter"),
        (traces.api_scored, "scores"),
        (traces.payments_preempts, "preemption"),
        (traces.empty, "cache"),
    ],
    ids=["Filter opens the matrix", "Select opens the scores", "PostFilter opens preemption", "nothing yet"],
)
def test_the_stage_opens_its_tab(story: object, tab: str) -> None:
    assert callable(story)
    assert stats(World.fold(story().entries), View())["tab"] == tab
