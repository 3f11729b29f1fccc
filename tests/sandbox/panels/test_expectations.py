"""The panel of expectations: what stands where, what is red, and what counts."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import PANELS
from sandbox.panels.model.expected import AHEAD, BEHIND, HERE, UNDONE, Outcome
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node


class Told:
    """Outcomes that are known already."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.found = list(outcomes)

    def outcomes(self) -> list[Outcome]:
        return self.found

    def red(self) -> int:
        return sum(outcome.red for outcome in self.found)


def outcome(**changes: Any) -> Outcome:
    usual = {"key": 1, "path": "", "text": "{}", "n": 1, "moment": "1.4", "place": HERE, "wrong": ()}
    return Outcome(**(usual | changes))


@pytest.fixture(name="world")
def made_world() -> World:
    simulation = Simulation(seed=1)
    simulation.execute(commands.Apply((make_node("n1").obj(),)))
    return World.fold(simulation.recorder.entries)


def stats(world: World, *outcomes: Outcome) -> dict[str, Any]:
    world.expected = Told(*outcomes)
    return PANELS["expectations"].stats(world, View())


def test_nothing_is_expected_at_first(world: World) -> None:
    assert stats(world)["groups"] == []


@pytest.mark.parametrize(
    ("place", "counts", "wrong", "sign"),
    [
        (HERE, True, (), "yes"),
        (HERE, True, ("it is elsewhere",), "no"),
        (BEHIND, True, ("it is elsewhere",), "no"),
        (BEHIND, True, (), "yes"),
        (BEHIND, False, (), "left"),
        (UNDONE, False, (), "left"),
        (AHEAD, False, (), "later"),
    ],
)
def test_the_sign_is_the_verdict_of_the_exported_test(
    world: World, place: str, counts: bool, wrong: tuple[str, ...], sign: str
) -> None:
    (group,) = stats(world, outcome(place=place, wrong=wrong, counts=counts))["groups"]
    assert [row["sign"] for row in group["rows"]] == [sign]
    assert group["rows"][0]["wrong"] == wrong


def test_what_differs_now_is_told_and_is_not_red(world: World) -> None:
    found = stats(world, outcome(place=BEHIND, differs=("it is elsewhere now",)))
    row = found["groups"][0]["rows"][0]
    assert (row["sign"], row["differs"], found["red"]) == ("yes", ("it is elsewhere now",), 0)


def test_why_an_export_leaves_something_out_is_told_unless_it_is_undone(world: World) -> None:
    assert stats(world, outcome(place=BEHIND, counts=False))["groups"][0]["rows"][0]["left"]
    assert not stats(world, outcome(place=UNDONE, counts=False))["groups"][0]["rows"][0]["left"]


def test_what_stands_at_one_moment_stands_together(world: World) -> None:
    found = stats(
        world,
        outcome(key=1, wrong=("no",)),
        outcome(key=2),
        outcome(key=3, n=2, moment="2.3", place=AHEAD, wrong=("no",), counts=False),
        outcome(key=0, path="opened[0]", moment="1.9"),
        outcome(key=0, path="then[1].expect[0]", moment="", place=AHEAD, wrong=("no",), counts=False),
        outcome(key=0, path="expect[0]", moment="", n=0, place=AHEAD),
    )
    assert [len(group["rows"]) for group in found["groups"]] == [2, 1, 1, 1, 1]
    titles = [group["title"] for group in found["groups"]]
    assert titles == [
        "after command 1, apply Node n1",
        "at command 2",
        "scenario: when it is opened",
        "scenario: after step 2",
        "scenario: at the end",
    ]
    assert (found["own"], found["of_scenario"], found["red"]) == (3, 3, 1)
    assert found["summary"] == "One expectation fails. An exported test would fail, too."


def test_of_a_moment_that_is_undone_the_command_that_stands_there_now_is_not_named(world: World) -> None:
    (group,) = stats(world, outcome(place=UNDONE, moment=""))["groups"]
    assert group["title"] == "at command 1"
    assert "undone" in group["note"]


def test_the_headline_tells_how_many_are_red(world: World) -> None:
    world.expected = Told(outcome(wrong=("no",)), outcome(wrong=("no",), counts=False))
    assert PANELS["sentence"].stats(world, View())["red"] == 1
