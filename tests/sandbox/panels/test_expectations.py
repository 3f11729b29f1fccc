"""The panel of expectations: where each is listed, which are red, and the count."""

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


class FixedOutcomes:
    """Return fixed outcomes."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.fixed = list(outcomes)

    def outcomes(self) -> list[Outcome]:
        return self.fixed

    def red(self) -> int:
        return sum(outcome.red for outcome in self.fixed)


def outcome(**changes: Any) -> Outcome:
    usual = {"key": 1, "path": "", "text": "{}", "n": 1, "moment": "1.4", "place": HERE, "wrong": ()}
    return Outcome(**(usual | changes))


@pytest.fixture(name="world")
def create_world() -> World:
    simulation = Simulation(seed=1)
    simulation.execute(commands.Apply((make_node("n1").obj(),)))
    return World.fold(simulation.recorder.entries)


def stats(world: World, *outcomes: Outcome) -> dict[str, Any]:
    world.expected = FixedOutcomes(*outcomes)
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


def test_a_present_difference_is_shown_but_not_red(world: World) -> None:
    panel = stats(world, outcome(place=BEHIND, differs=("it is elsewhere now",)))
    row = panel["groups"][0]["rows"][0]
    assert (row["sign"], row["differs"], panel["red"]) == ("yes", ("it is elsewhere now",), 0)


def test_an_export_says_why_it_leaves_something_out_unless_it_is_undone(world: World) -> None:
    assert stats(world, outcome(place=BEHIND, counts=False))["groups"][0]["rows"][0]["left"]
    assert not stats(world, outcome(place=UNDONE, counts=False))["groups"][0]["rows"][0]["left"]


def test_expectations_of_one_moment_are_grouped(world: World) -> None:
    panel = stats(
        world,
        outcome(key=1, wrong=("no",)),
        outcome(key=2),
        outcome(key=3, n=2, moment="2.3", place=AHEAD, wrong=("no",), counts=False),
        outcome(key=0, path="opened[0]", moment="1.9"),
        outcome(key=0, path="then[1].expect[0]", moment="", place=AHEAD, wrong=("no",), counts=False),
        outcome(key=0, path="expect[0]", moment="", n=0, place=AHEAD),
    )
    assert [len(group["rows"]) for group in panel["groups"]] == [2, 1, 1, 1, 1]
    titles = [group["title"] for group in panel["groups"]]
    assert titles == [
        "after command 1, apply Node n1",
        "at command 2",
        "scenario: when it is opened",
        "scenario: after step 2",
        "scenario: at the end",
    ]
    assert (panel["own"], panel["of_scenario"], panel["red"]) == (3, 3, 1)
    assert panel["summary"] == "One expectation fails. An exported test would fail, too."


def test_an_expectation_of_an_undone_moment_does_not_name_the_present_command(world: World) -> None:
    (group,) = stats(world, outcome(place=UNDONE, moment=""))["groups"]
    assert group["title"] == "at command 1"
    assert "undone" in group["note"]


def test_the_sentence_counts_the_red_ones(world: World) -> None:
    world.expected = FixedOutcomes(outcome(wrong=("no",)), outcome(wrong=("no",), counts=False))
    assert PANELS["sentence"].stats(world, View())["red"] == 1
