"""The ribbon of stages."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from sandbox.panels import View, World
from sandbox.panels.ribbon import stats
from sandbox.words.say import ROWS, say
from scheduler_engine import commands
from scheduler_engine.errors import NothingToDo
from scheduler_engine.framework.extension_points import STAGES
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import PreFilterRan
from tests.engine.cluster import preemptor, tried_again
from tests.sandbox import traces
from tests.sandbox.scenarios import world_of


def states(world: World) -> dict[str, str]:
    return {stop["name"]: stop["state"] for stop in stats(world, View())["stages"]}


def labels(*before: commands.Command, steps: int = 20, cpu: str = "1") -> dict[str, str]:
    """Return stage → its label, after this number of steps with one pod."""
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), make_node("n2").obj())))
    for command in (*before, commands.Apply((make_pod("web").cpu(cpu).obj(),))):
        simulation.execute(command)
    with suppress(NothingToDo):  # the attempt is over, or waits
        for _ in range(steps):
            simulation.execute(commands.Stage())
    return {name: note for name, note in notes(simulation).items() if note}


def notes(simulation: Simulation) -> dict[str, str]:
    return {stop["name"]: stop["note"] for stop in stats(world_of(simulation), View())["stages"]}


def test_each_stage_says_in_a_few_words_what_it_came_to() -> None:
    shown = labels()
    node = shown["SelectHost"]
    assert shown == {
        "Pop": "attempt 1",
        "Snapshot": "2 cloned",
        "PreFilter": "9 skip",
        "Filter": "2 of 2 fit",
        "PostFilter": "not needed",
        "PreScore": "4 skip",
        "Score": "4 plugins",
        "NormalizeScore": "0 to 100",
        "SelectHost": node,
        "Assume": "in the cache",
        "Reserve": "reserved",
        "Permit": "allowed",
        "PreBind": "ready",
        "Bind": node,
        "PostBind": "done",
    }
    refused = labels(cpu="64")
    assert (refused["Filter"], refused["PostFilter"]) == ("0 of 2 fit", "cannot help")


def test_a_preemptor_that_waits_for_its_victim_is_not_said_to_be_helpless() -> None:
    simulation = preemptor()
    assert notes(simulation)["PostFilter"] == "nominates n1"
    tried_again(simulation)
    assert notes(simulation)["PostFilter"] == "waits for victim"


@pytest.mark.parametrize(
    ("point", "plugin", "answer", "stage", "label"),
    [
        ("preFilter", "NodeResourcesFit", "deny", "PreFilter", "NodeResourcesFit says no"),
        ("preFilter", "NodeResourcesFit", "error", "PreFilter", "NodeResourcesFit failed"),
        ("filter", "NodeResourcesFit", "error", "Filter", "failed"),
        ("preScore", "TaintToleration", "error", "PreScore", "TaintToleration failed"),
        ("score", "TaintToleration", "error", "Score", "failed"),
        ("permit", "NodeResourcesFit", "wait", "Permit", "must wait"),
        ("permit", "NodeResourcesFit", "deny", "Permit", "NodeResourcesFit says no"),
        ("preBind", "VolumeBinding", "wait", "PreBind", "waiting"),
        ("bind", "DefaultBinder", "error", "Bind", "DefaultBinder failed"),
    ],
)
def test_a_stage_says_which_plugin_stopped_the_attempt(
    point: str, plugin: str, answer: str, stage: str, label: str
) -> None:
    assert labels(commands.Fault(plugin, point, answer, seconds=5))[stage] == label


def test_a_narrowing_that_leaves_no_node_says_so() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), make_pod("web").obj())))
    for _ in range(3):
        simulation.execute(commands.Stage())
    world = World()
    for entry in simulation.recorder.entries:
        event = entry.event
        narrowed = replace(event, node_names=()) if isinstance(event, PreFilterRan) else event
        world.apply(replace(entry, event=narrowed))
    (stop,) = [stop for stop in stats(world, View())["stages"] if stop["name"] == "PreFilter"]
    assert stop["note"] == "no node left"


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


def test_every_stage_has_its_purpose_in_one_sentence() -> None:
    assert [key for key in ROWS if key.startswith("stage-purposes.")] == [
        f"stage-purposes.{one.name}" for one in STAGES
    ]
    says = {stop["name"]: stop["says"] for stop in stats(World.fold(traces.web_at_filter().entries), View())["stages"]}
    assert says["PreBind"] == "Plugins prepare what binding needs, such as volumes."
    assert say("stage-purposes.WaitOnPermit") == "The pod waits here until a plugin allows it."


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
