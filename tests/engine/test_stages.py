"""The table of stages: the allowed order, which stepping follows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scheduler_engine import commands
from scheduler_engine.framework.extension_points import STAGES as NAMED
from scheduler_engine.scenario import play
from scheduler_engine.scheduler.stages import BINDING, OVER, SCHEDULING, STAGES
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import StageFinished
from tests.installed import SCENARIOS

WITH_FAULTS_ALONE = {
    ("PreFilter", "PostFilter"),
    ("PreBind", "PreBind"),
    ("Bind", "Bind"),
    ("WaitOnPermit", "PreBind"),
}
"""Steps that only tests of faults take."""


def test_the_table_is_closed_and_leads_forward() -> None:
    places = {name: place for place, name in enumerate(STAGES)}
    for name, stage in STAGES.items():
        for following in stage.then:
            assert following == OVER or places[following] >= places[name], f"{name} leads back to {following}"
            assert following == OVER or name in SCHEDULING or following in BINDING
    reached = {following for stage in STAGES.values() for following in stage.then}
    assert reached - {OVER} == STAGES.keys() - {"Snapshot"}


def test_every_stage_of_the_ribbon_is_in_the_table() -> None:
    assert {stage.name for stage in NAMED} - {"Pop"} <= STAGES.keys()


def test_scenarios_go_most_of_the_ways_that_the_table_allows() -> None:
    gone: set[tuple[str, str]] = set()
    for scenario in SCENARIOS.values():
        simulation = scenario.open()
        play(simulation, [step for step in scenario.then if "refused" not in step])
        finished = (entry.event for entry in simulation.recorder.entries)
        gone |= {(event.stage, event.next_stage) for event in finished if isinstance(event, StageFinished)}
    gone = {(ran, following) for ran, following in gone if ran in STAGES}
    allowed = {(name, following) for name, stage in STAGES.items() for following in stage.then}
    assert gone <= allowed
    errors = {pair for pair in allowed - gone if pair[1] == OVER}
    assert allowed - gone - errors <= WITH_FAULTS_ALONE


def test_a_stage_that_leads_elsewhere_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(STAGES["Filter"], run=lambda scheduler, cycle: "Bind")
    monkeypatch.setitem(STAGES, "Filter", wrong)
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").capacity(cpu="4", pods=9).obj(), make_pod("p").obj())))
    with pytest.raises(AssertionError, match="Filter must not lead to Bind"):
        simulation.execute(commands.Settle())
