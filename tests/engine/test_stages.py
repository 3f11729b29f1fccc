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
from tests.engine.cluster import preemptor, tried_again
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


def notes(simulation: Simulation) -> dict[str, str]:
    """Return stage → the note on it in the last attempt."""
    finished = [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, StageFinished)]
    return {event.stage: event.note for event in finished if event.cycle == finished[-1].cycle}


def with_pod(*before: commands.Command, cpu: str = "1", nodes: int = 2) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply(tuple(make_node(f"n{number}").obj() for number in range(1, nodes + 1))))
    for command in before:
        simulation.execute(command)
    simulation.execute(commands.Apply((make_pod("web").cpu(cpu).obj(),)))
    simulation.execute(commands.Settle())
    return simulation


def test_notes_on_stages_are_sentences() -> None:
    by_stage = notes(with_pod())
    node = by_stage["SelectHost"].split()[0]
    assert by_stage == {
        "Pop": "this is attempt 1",
        "Snapshot": "2 nodes were cloned",
        "PreFilter": "9 plugins skip Filter",
        "Filter": "2 of 2 nodes fit",
        "PreScore": "4 plugins skip Score",
        "Score": "4 plugins scored the nodes",
        "NormalizeScore": "all scores are from 0 to 100",
        "SelectHost": f"{node} is selected",
        "Assume": "the cache counts the pod",
        "Reserve": "what the pod needs is reserved",
        "Permit": "the pod may be bound",
        "PreBind": "the pod is ready to be bound",
        "Bind": f"{node} has the pod",
        "PostBind": "the attempt is over",
    }
    refused = notes(with_pod(cpu="64", nodes=1))
    assert (refused["Snapshot"], refused["Filter"]) == ("1 node was cloned", "0 of 1 nodes fit")
    assert refused["PostFilter"] == "no node is nominated"


@pytest.mark.parametrize(
    ("point", "plugin", "answer", "stage", "note"),
    [
        ("preFilter", "NodeResourcesFit", "deny", "PreFilter", "NodeResourcesFit rejects the pod"),
        ("preFilter", "NodeResourcesFit", "error", "PreFilter", "NodeResourcesFit failed"),
        ("filter", "NodeResourcesFit", "error", "Filter", "the attempt failed"),
        ("preScore", "TaintToleration", "error", "PreScore", "a plugin failed"),
        ("score", "TaintToleration", "error", "Score", "the attempt failed"),
        ("reserve", "VolumeBinding", "deny", "Reserve", "VolumeBinding rejects the pod"),
        ("permit", "NodeResourcesFit", "error", "Permit", "NodeResourcesFit failed"),
        ("permit", "NodeResourcesFit", "wait", "Permit", "the pod must wait"),
        ("preBind", "VolumeBinding", "error", "PreBind", "VolumeBinding failed"),
        ("bind", "DefaultBinder", "wait", "Bind", "a plugin is still waiting"),
    ],
)
def test_a_note_on_a_stage_that_fails_is_not_that_of_the_stage_before(
    point: str, plugin: str, answer: str, stage: str, note: str
) -> None:
    assert notes(with_pod(commands.Fault(plugin, point, answer, seconds=5)))[stage] == note


def test_the_note_on_post_filter_says_which_nomination_stays() -> None:
    simulation = preemptor()
    assert notes(simulation)["PostFilter"] == "the pod is nominated to n1"
    tried_again(simulation)
    assert notes(simulation)["PostFilter"] == "the pod stays nominated to n1"
    assert simulation.scheduler.cycle_count == 2


def test_the_note_on_a_pod_that_is_deleted_on_permit_names_no_plugin() -> None:
    simulation = with_pod(commands.Fault("NodeResourcesFit", "permit", "wait", seconds=60))
    simulation.execute(commands.Delete("Pod", "default/web"))
    simulation.execute(commands.Stage())
    assert notes(simulation)["WaitOnPermit"] == "the pod was deleted while it waited"


def test_the_note_on_a_pod_that_nobody_allows_in_time_names_no_plugin() -> None:
    simulation = with_pod(commands.Fault("NodeResourcesFit", "permit", "wait", seconds=60))
    simulation.execute(commands.Advance(60))
    assert notes(simulation)["WaitOnPermit"] == "nobody allowed the pod in time"


def test_a_stage_that_leads_elsewhere_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(STAGES["Filter"], run=lambda scheduler, cycle: "Bind")
    monkeypatch.setitem(STAGES, "Filter", wrong)
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").capacity(cpu="4", pods=9).obj(), make_pod("p").obj())))
    with pytest.raises(AssertionError, match="Filter must not lead to Bind"):
        simulation.execute(commands.Settle())
