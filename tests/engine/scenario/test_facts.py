"""A run becomes expectations, which hold for it and for every run of the same commands."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_engine.commands import Apply, Command, Run
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import check, failures_of, play, read_scenario, wrong_with
from scheduler_engine.scenario.exporting import from_log
from scheduler_engine.scenario.facts import FACTS, STRICTNESS, expect_everything, expectation_of
from scheduler_engine.scenario.writing import dump
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine import histories
from tests.engine.scenario.test_expectations import LATEST, MESSAGE, world
from tests.engine.scenario.test_exporting import executed, log_of
from tests.installed import SCENARIOS

COMMANDS = st.one_of(
    histories.NEW_PODS, histories.NEW_PODS, histories.VIPS, histories.VIPS, histories.WRITES, histories.AROUND,
    histories.TROUBLE, histories.STEPS, histories.STEPS, histories.LONGER, histories.REPLICAS, histories.MISHAPS,
    histories.faults(),
)  # fmt: skip


@given(
    seed=st.integers(0, 3),
    configuration=histories.CONFIGURATIONS,
    rules=st.sampled_from(["v1.34", "design-doc"]),
    wanted=st.lists(COMMANDS, max_size=12),
    strictness=st.sampled_from(STRICTNESS),
)
def test_everything_that_happened_happens_again(
    seed: int, configuration: Any, rules: str, wanted: list[Command], strictness: str
) -> None:
    simulation = executed(seed, configuration, rules, wanted)
    expected = expect_everything(simulation, strictness)
    assert failures_of(simulation, expected) == []
    scenario = from_log(seed, configuration, rules, log_of(simulation), setup=1, expect=expected)
    again = read_scenario(dump(scenario), "sandbox.yaml")
    assert again == scenario
    other = again.open()
    play(other, again.then)
    assert check(other, again) == []


@pytest.mark.parametrize("scenario", [*SCENARIOS.values()][::4], ids=lambda scenario: scenario.slug)
def test_a_stricter_one_expects_more(scenario: Any) -> None:
    simulation = scenario.open()
    play(simulation, scenario.then)
    loose, usual, strict = (expect_everything(simulation, strictness) for strictness in STRICTNESS)
    assert [item for item in usual if item in loose] == loose
    assert [item for item in strict if item in usual] == usual
    assert failures_of(simulation, strict) == []
    assert {key for item in loose for key in item} <= {"pod", "node", "nodes", "pending"}


def test_each_strictness_of_a_small_cluster() -> None:
    loose, usual, strict = (expect_everything(world("small"), strictness) for strictness in STRICTNESS)
    assert loose == [
        {"pod": "default/web-1", "node": "n1"},
        {"pod": "default/web-2", "node": "n2"},
        {"pod": "default/db-1", "node": "n2"},
        {"pod": "default/big-1", "pending": True},
        {"pod": "default/new-1", "node": "n1"},
    ]
    assert [item for item in usual if item not in loose] == [
        {"waits": "default/big-1", "in": "unschedulablePods"},
        {"failed": "default/big-1", "outcome": "unschedulable", "message": MESSAGE},
    ]
    more = [item for item in strict if item not in usual]
    refused = {"plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"]}
    assert {"verdict": "default/big-1", "node": "n1", **refused} in more
    assert {"verdict": "default/new-1", "node": "n2", "passes": True} in more
    assert {"score": "default/new-1", "node": "n1", "total": 670} in more
    assert more[-1] == {"winner": "default/new-1", "node": "n1", "how": "highest", "margin": 202}


def test_changes_are_noticed() -> None:
    """The same commands under another configuration have another result, and each strictness level reports it."""
    objects = [
        make_node("n1").zone("a").obj(),
        make_node("n2").zone("b").obj(),
        make_pod("old").cpu("1").node("n1").obj(),
        make_pod("new").cpu("1").obj(),
    ]
    steps = [{"kind": "apply", "manifests": objects}, {"kind": "run"}]
    scenario = from_log(42, None, "v1.34", steps)
    simulation = scenario.open()
    packed = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [histories.MOST_ALLOCATED]}],
    }
    other = dataclasses.replace(scenario, configuration=packed).open()
    failures_by_strictness = [
        failures_of(other, expect_everything(simulation, strictness)) for strictness in STRICTNESS
    ]
    assert failures_by_strictness[0] == ["default/new: expected n2, is on n1"]
    assert [len(failures) for failures in failures_by_strictness] == sorted(
        len(failures) for failures in failures_by_strictness
    )
    assert "default/new: the winner is n1, expected n2" in failures_by_strictness[2]


EXPECTED: list[tuple[str, str, dict[str, Any], Any]] = [
    ("small", "placement", {"pod": "default/web-1"}, {"pod": "default/web-1", "node": "n1"}),
    ("small", "placement", {"pod": "default/big-1"}, {"pod": "default/big-1", "pending": True}),
    ("small", "placement", {"pod": "default/nobody"}, {"gone": "default/nobody"}),
    ("small", "phase", {"pod": "default/web-1"}, {"pod": "default/web-1", "phase": "Running", "terminating": False}),
    ("small", "phase", {"pod": "default/nobody"}, None),
    ("small", "lane", {"pod": "default/big-1"}, {"waits": "default/big-1", "in": "unschedulablePods"}),
    ("small", "lane", {"pod": "default/web-1"}, {"waits": "default/web-1", "in": "nowhere"}),
    ("in flight", "lane", {"pod": "default/web-1"}, {"waits": "default/web-1", "in": "inFlight"}),
    (
        "queue-backoff-v1-34",
        "lane",
        {"pod": "default/big-1"},
        {"waits": "default/big-1", "in": "backoffQ", "seconds": 4},
    ),
    (
        "victims-come-back:2",
        "nomination",
        {"pod": "default/vip-1"},
        {"nomination": "default/vip-1", "node": "node-1"},
    ),
    (
        "small",
        "failure",
        {"pod": "default/big-1", "attempt": 1},
        {"failed": "default/big-1", "outcome": "unschedulable", "message": MESSAGE, "attempt": 1},
    ),
    ("small", "failure", {"pod": "default/new-1"}, None),
    ("small", "failure", {"pod": "default/web-1"}, None),
    (
        "preemption-every-rung",
        "victims",
        {"pod": "default/vip-1"},
        {"victims": "default/vip-1", "are": ["default/young-1"], "node": "node-young", "rung": LATEST},
    ),
    (
        "namesake",
        "failure",
        {"pod": "default/web", "attempt": 1, "cycle": 1},
        {
            "failed": "default/web",
            "outcome": "unschedulable",
            "message": MESSAGE.replace("2", "1"),
            "cycle": 1,
        },
    ),
    ("namesake", "failure", {"pod": "default/web", "attempt": 1}, None),
    ("namesake", "failure", {"pod": "default/web"}, None),
    ("gated namesake", "victims", {"pod": "default/vip"}, None),
    (
        "gated namesake",
        "victims",
        {"pod": "default/vip", "attempt": 1, "cycle": 1},
        {"victims": "default/vip", "are": ["default/low"], "node": "n1", "rung": "", "attempt": 1},
    ),
    ("preemption-every-rung", "victims", {"pod": "default/vip-1", "attempt": 2}, None),
    ("small", "victims", {"pod": "default/new-1"}, None),
    (
        "small",
        "verdict",
        {"pod": "default/big-1", "node": "n2"},
        {"verdict": "default/big-1", "node": "n2", "plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"]},
    ),
    (
        "small",
        "verdict",
        {"pod": "default/new-1", "node": "n1"},
        {"verdict": "default/new-1", "node": "n1", "passes": True},
    ),
    (
        "small",
        "verdict",
        {"pod": "default/new-1", "node": "n9"},
        {"verdict": "default/new-1", "node": "n9", "visited": False},
    ),
    ("small", "verdict", {"pod": "default/web-1", "node": "n1"}, None),
    (
        "small",
        "score",
        {"pod": "default/new-1", "node": "n1", "plugin": "NodeAffinity"},
        {
            "score": "default/new-1",
            "node": "n1",
            "plugin": "NodeAffinity",
            "raw": 50,
            "normalized": 100,
            "weighted": 200,
        },
    ),
    ("small", "score", {"pod": "default/new-1", "node": "n1", "plugin": "NodeName"}, None),
    ("small", "score", {"pod": "default/web-1", "node": "n1", "plugin": "NodeName"}, None),
    ("small", "total", {"pod": "default/new-1", "node": "n2"}, {"score": "default/new-1", "node": "n2", "total": 468}),
    ("small", "total", {"pod": "default/big-1", "node": "n2"}, None),
    (
        "eviction-answers",
        "winner",
        {"pod": "default/db-2"},
        {"winner": "default/db-2", "how": "draw", "among": ["node1", "node2"], "margin": 0},
    ),
    ("small", "winner", {"pod": "default/big-1"}, None),
    (
        "eviction-answers",
        "evictions",
        {"pod": "default/db-1"},
        {"evictions": "default/db-1", "answers": [429, 200]},
    ),
    ("small", "evictions", {"pod": "default/web-1"}, None),
    ("small", "leader", {}, {"leader": ""}),
    ("leader-killed", "leader", {}, {"leader": "kube-scheduler-2"}),
    ("small", "clock", {}, {"clock": 0}),
]


@pytest.mark.parametrize(("where", "fact", "about", "wanted"), EXPECTED)
def test_a_fact_becomes_an_expectation_that_holds(where: str, fact: str, about: dict[str, Any], wanted: Any) -> None:
    expectation = expectation_of(world(where), fact, **about)
    assert expectation == wanted
    assert expectation is None or wrong_with(world(where), expectation) == []


def test_every_fact_is_tried() -> None:
    assert {fact for _, fact, _, wanted in EXPECTED if wanted} == {*FACTS}


def test_an_invalid_fact_is_refused() -> None:
    with pytest.raises(Rejected, match=r"unknown fact 'verdicts' \(did you mean \"verdict\"\?\)"):
        expectation_of(Simulation(), "verdicts")
    with pytest.raises(Rejected, match="unknown strictness 'very'; use one of placements, queues, verdicts"):
        expect_everything(Simulation(), "very")


def test_several_leaders_are_expected_together() -> None:
    simulation = world("no-leader-election")
    assert expectation_of(simulation, "leader") == {
        "leader": ["kube-scheduler-1", "kube-scheduler-2", "kube-scheduler-3"]
    }


@pytest.mark.parametrize("strictness", STRICTNESS)
def test_a_drawn_node_is_expected_under_no_seed(strictness: str) -> None:
    nodes = [make_node(name).capacity(cpu="4", pods="9").obj() for name in ("a1", "b1")]
    chosen = set()
    expected: list[Any] = []
    for seed in range(8):
        simulation = Simulation(seed=seed)
        simulation.execute(Apply((*nodes, make_pod("p").cpu("1").obj())))
        simulation.execute(Run())
        expected = expected or expect_everything(simulation, strictness)
        assert {"pod": "default/p", "nodes": ["a1", "b1"]} in expected
        assert failures_of(simulation, expected) == []
        chosen.add(simulation.api.pods()[0].node_name)
    assert chosen == {"a1", "b1"}
    simulation = Simulation(full=False)
    simulation.execute(Apply((*nodes, make_pod("p").cpu("1").obj())))
    simulation.execute(Run())
    node = simulation.api.pods()[0].node_name
    assert expect_everything(simulation, "placements") == [{"pod": "default/p", "node": node}]
