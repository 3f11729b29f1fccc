"""Every scenario does what it says in words, and each kind of expectation can fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import ASSERTIONS, Scenario, check, command_of, load_scenario, load_scenarios, play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import ZONE, make_node, make_pod

SCENARIOS = {scenario.slug: scenario for scenario in load_scenarios()}


@pytest.mark.parametrize("slug", SCENARIOS)
def test_scenario_comes_out_as_it_says(slug: str) -> None:
    scenario = SCENARIOS[slug]
    simulation = scenario.open()
    play(simulation, scenario.then)
    assert check(simulation, scenario) == []


@pytest.mark.parametrize("slug", SCENARIOS)
def test_scenario_has_words_expectations_and_something_left_to_happen(slug: str) -> None:
    scenario = SCENARIOS[slug]
    assert scenario.title
    assert scenario.about
    assert scenario.outcome
    assert scenario.source
    assert scenario.expect
    opened = scenario.open()
    before = len(opened.recorder.entries)
    play(opened, scenario.then)
    assert len(opened.recorder.entries) > before


def test_every_title_and_every_address_is_given_once() -> None:
    scenarios = load_scenarios()
    assert len({scenario.slug for scenario in scenarios}) == len(scenarios)
    assert len({scenario.title for scenario in scenarios}) == len(scenarios)
    assert scenarios[0].slug == "three-zones-one-gpu-pool"


def scenario_of(*expectations: dict[str, Any]) -> Scenario:
    """Two nodes in two zones, web-1 on n1, web-2 and db-1 on n2, big-1 nowhere."""
    objects = [
        make_node("n1").zone("a").obj(),
        make_node("n2").zone("b").obj(),
        make_pod("web-1").label("app", "web").node("n1").obj(),
        make_pod("web-2").label("app", "web").node("n2").obj(),
        make_pod("db-1").label("app", "db").node("n2").obj(),
        make_pod("big-1").label("app", "big").cpu("64").obj(),
    ]
    setup = ({"kind": "apply", "manifests": objects},)
    return Scenario("s", "t", "g", "a", "o", "x", setup=setup, expect=expectations)


RIGHT: dict[str, dict[str, Any]] = {
    "a pod on its node": {"pod": "default/web-1", "node": "n1"},
    "a pod on one of several nodes": {"pod": "default/web-1", "nodes": ["n1", "n2"]},
    "a pod without a node": {"pod": "default/big-1", "pending": True},
    "a pod without a nomination": {"pod": "default/big-1", "pending": True, "nominated": ""},
    "a pod that runs and stays": {"pod": "default/web-1", "phase": "Running", "terminating": False},
    "the message of a pod that fits nowhere": {
        "pod": "default/big-1",
        "message": "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
    },
    "the order of the nodes": {"nodeOrder": ["n1", "n2"]},
    "a count per zone": {"count": {"selector": {"app": "web"}, "per": ZONE, "equals": {"a": 1, "b": 1}}},
    "a pod that does not exist": {"gone": "default/web-9"},
    "pods on distinct nodes": {"distinctNodes": {"selector": {"app": "web"}}},
    "a pod beside another": {"together": {"selector": {"app": "db"}, "beside": {"app": "web"}}},
    "a pod in a lane of the queue": {"waits": "default/big-1", "in": "unschedulablePods"},
    "fields of an object": {"object": "Pod default/web-1", "has": {"spec": {"nodeName": "n1", "priority": 0}}},
    "a field that is not there": {"object": "Node n1", "has": {"spec": {"unschedulable": None}}},
    "what a node's pods ask for": {"requested": "n1", "cpu": "0", "memory": "0"},
    "the one scheduler, which has no name": {"leader": ""},
    "lines of the trace in order": {"trace": ["big-1 popped, attempt 1", "inFlight → unschedulablePods"]},
}
WRONG: dict[str, dict[str, Any]] = {
    "a pod on another node": {"pod": "default/web-1", "node": "n2"},
    "a pod on none of several nodes": {"pod": "default/web-1", "nodes": ["n2", "n3"]},
    "a pod that should be pending": {"pod": "default/web-1", "pending": True},
    "a pod that should have a node": {"pod": "default/big-1", "node": "n1"},
    "a pod that is missing": {"pod": "default/web-9", "pending": True},
    "a nomination that is not there": {"pod": "default/big-1", "nominated": "n1"},
    "another phase": {"pod": "default/web-1", "phase": "Failed"},
    "a pod that should be on its way out": {"pod": "default/web-1", "terminating": True},
    "another message": {"pod": "default/big-1", "message": "0/2 nodes are available"},
    "another order of the nodes": {"nodeOrder": ["n2", "n1"]},
    "another count per zone": {"count": {"selector": {"app": "web"}, "per": ZONE, "equals": {"a": 2}}},
    "a pod that still exists": {"gone": "default/web-1"},
    "pods that share a node": {"distinctNodes": {"selector": {}}},
    "a pod with nobody beside it": {"together": {"selector": {"app": "web"}, "beside": {"app": "db"}}},
    "a pod in another lane": {"waits": "default/big-1", "in": "activeQ"},
    "a pod in no lane": {"waits": "default/web-1", "in": "activeQ"},
    "a pod that does not back off": {"waits": "default/big-1", "in": "unschedulablePods", "seconds": 8},
    "another value of a field": {"object": "Pod default/web-1", "has": {"spec": {"nodeName": "n2"}}},
    "a field that should not be there": {"object": "Pod default/web-1", "has": {"spec": None}},
    "fields of an object that does not exist": {"object": "Pod default/web-9", "has": {}},
    "another amount asked for": {"requested": "n1", "cpu": "1", "memory": "0"},
    "the pods of a node that does not exist": {"requested": "n9", "cpu": "0", "memory": "0"},
    "another leader": {"leader": "kube-scheduler-1"},
    "several leaders": {"leader": ["kube-scheduler-1", "kube-scheduler-2"]},
    "transitions of a lock that is not there": {"leader": "", "transitions": 1},
    "lines of the trace in another order": {"trace": ["inFlight → unschedulablePods", "big-1 popped, attempt 1"]},
    "an expectation of no known kind": {"colour": "blue"},
}


@pytest.mark.parametrize("words", RIGHT)
def test_a_true_expectation_holds(words: str) -> None:
    scenario = scenario_of(RIGHT[words])
    simulation = scenario.open()
    play(simulation, scenario.then)
    assert check(simulation, scenario) == []


@pytest.mark.parametrize("words", WRONG)
def test_a_false_expectation_is_reported(words: str) -> None:
    scenario = scenario_of(WRONG[words])
    simulation = scenario.open()
    play(simulation, scenario.then)
    assert len(check(simulation, scenario)) == 1


def test_every_kind_of_expectation_is_tried_both_ways() -> None:
    assert {next(iter(item)) for item in RIGHT.values()} == set(ASSERTIONS)
    assert {next(iter(item)) for item in WRONG.values()} >= set(ASSERTIONS)


GOOD = "title: t\ngroup: D1\nabout: a\noutcome: o\nsource: s\nsetup: [{run: {}}]\n"
BAD_FILES = {
    "a list instead of a mapping": "- a\n",
    "an empty file": "",
    "a key that is missing": GOOD.replace("about: a\n", ""),
    "a key that is unknown": GOOD + "colour: blue\n",
    "a key given twice": GOOD + "title: u\n",
    "a step with two commands": GOOD.replace("{run: {}}", "{run: {}, stage: {}}"),
    "a step that is to be refused in the setup": GOOD.replace("{run: {}}", "{run: {}, refused: x}"),
    "a refusal without words": GOOD + "then: [{run: {}, refused: 1}]\n",
    "a refusal without a command": GOOD + "then: [{refused: x}]\n",
    "queue rules that do not exist": GOOD + "queue_rules: v1.0\n",
    "a tab that is no name": GOOD + "tab: [pods]\n",
    "a text for a step in the setup": GOOD.replace("{run: {}}", "{run: {}, say: x}"),
    "a text for a step that is none": GOOD + "then: [{run: {}, say: 1}]\n",
    "a command that does not exist": GOOD.replace("run", "jump"),
}


@pytest.mark.parametrize("words", BAD_FILES)
def test_a_file_that_is_no_scenario_is_rejected(words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(BAD_FILES[words])
    with pytest.raises(Rejected):
        load_scenario(path)


@pytest.mark.parametrize("key", ["on", "'on'", "yes"], ids=["bare", "in quotes", "as another word for true"])
@pytest.mark.parametrize("kind", ["cordon", "drain"], ids=["of a cordon", "of a drain"])
def test_the_word_on_needs_no_quotes_in_a_step(kind: str, key: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(GOOD.replace("{run: {}}", f"{{{kind}: {{node: n1, {key}: false}}}}"))
    assert load_scenario(path).setup == ({"kind": kind, "node": "n1", "on": False},)


def test_a_step_keeps_the_words_that_stand_beside_its_command(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(GOOD + "tab: nodes\nthen: [{say: look, advance: {seconds: 2}, refused: x}]\n")
    scenario = load_scenario(path)
    assert scenario.tab == "nodes"
    assert scenario.then == ({"kind": "advance", "seconds": 2, "refused": "x", "say": "look"},)
    assert command_of(scenario.then[0]) == {"kind": "advance", "seconds": 2}


def test_a_leading_number_in_the_file_name_only_orders(tmp_path: Path) -> None:
    path = tmp_path / "07-a-name.yaml"
    path.write_text(GOOD)
    assert load_scenario(path).slug == "a-name"


LOST = {"kind": "delete", "object_kind": "Pod", "key": "default/x"}


@pytest.mark.parametrize(
    "step",
    [
        pytest.param({**LOST, "refused": "another reason"}, id="a step that is refused for another reason"),
        pytest.param({"kind": "run", "refused": "x"}, id="a step that is not refused"),
        pytest.param(LOST, id="a step that nobody said would be refused"),
    ],
)
def test_a_step_must_be_refused_just_when_it_says_so(step: dict[str, Any]) -> None:
    with pytest.raises(Rejected):
        play(Simulation(), [step])


def test_a_step_that_is_refused_as_it_says_leaves_nothing_behind() -> None:
    simulation = Simulation()
    before = len(simulation.recorder.entries)
    play(simulation, [{**LOST, "refused": 'pods "x" not found'}])
    assert len(simulation.recorder.entries) == before
