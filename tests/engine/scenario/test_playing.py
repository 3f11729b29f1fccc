"""Play a scenario step by step. A failed expectation is reported at its step."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import Scenario, check, play, read_scenario, run
from scheduler_engine.simulation import Simulation

LOST = {"kind": "delete", "object_kind": "Pod", "key": "default/x"}


@pytest.mark.parametrize(
    "step",
    [
        pytest.param({**LOST, "refused": "another reason"}, id="a step that is refused for another reason"),
        pytest.param({"kind": "run", "refused": "x"}, id="a step that is not refused"),
        pytest.param(LOST, id="an unexpected refusal"),
    ],
)
def test_a_step_must_be_refused_just_when_it_says_so(step: dict[str, Any]) -> None:
    with pytest.raises(Rejected):
        play(Simulation(), [step])


def test_a_refused_step_changes_nothing() -> None:
    simulation = Simulation()
    before = len(simulation.recorder.entries)
    play(simulation, [{**LOST, "refused": 'pods "x" not found'}])
    assert len(simulation.recorder.entries) == before


TEXT = """\
title: t
setup:
- advance: {seconds: 1}
then:
- expect: [{clock: 1}]
- advance: {seconds: 2}
  name: the second one
  expect:
  - clock: 3
  - clock: 4
- stage: {}
  refused: No pod is ready
- expect: [{clock: 5}]
- advance: {seconds: 7}
expect:
- clock: 10
- clock: 11
"""


def test_every_point_has_its_own_expectations() -> None:
    scenario = read_scenario(TEXT, "x.yaml")
    points = [
        (point.title, point.simulation.now_us, [failure.text for failure in point.failures]) for point in run(scenario)
    ]
    assert points == [
        ("setup", 1_000_000, []),
        ("then[0] (the second one)", 3_000_000, ["clock: 3, expected 4"]),
        ("then[1]", 3_000_000, ["clock: 3, expected 5"]),
        ("then[2]", 10_000_000, []),
        ("expect", 10_000_000, ["clock: 10, expected 11"]),
    ]


def test_a_failure_says_where_it_stands() -> None:
    scenario = read_scenario(TEXT, "x.yaml")
    failures = [failure for point in run(scenario) for failure in point.failures]
    assert [scenario.where(failure.path) for failure in failures] == [
        "x.yaml:10:5: then[1].expect[1]",
        "x.yaml:13:12: then[3].expect[0]",
        "x.yaml:17:3: expect[1]",
    ]
    assert [failure.expectation for failure in failures] == [{"clock": 4}, {"clock": 5}, {"clock": 11}]


def test_a_check_at_the_end_includes_the_points_before() -> None:
    scenario = read_scenario(TEXT)
    simulation = scenario.open()
    play(simulation, scenario.then)
    assert check(simulation, scenario) == [
        "then[0] (the second one): clock: 3, expected 4",
        "then[1]: clock: 3, expected 5",
        "clock: 10, expected 11",
    ]


def test_expectations_at_the_opening_can_fail() -> None:
    scenario = Scenario("s", "t", opened=({"clock": 9},))
    simulation = scenario.open()
    play(simulation, scenario.then)
    assert check(simulation, scenario) == ["setup: clock: 0, expected 9"]


def test_a_refused_step_is_named_with_its_place() -> None:
    text = "title: t\nsetup:\n- run: {}\n- delete: {object_kind: Pod, key: default/x}\n"
    with pytest.raises(Rejected, match=r'^x\.yaml:4:3: setup\[1\]: pods "x" not found$'):
        read_scenario(text, "x.yaml").open()
    with pytest.raises(Rejected, match=r'^then\[0\]: pods "x" not found$'):
        list(run(Scenario("s", "t", then=(LOST,))))
