"""Explanations for programs agree with the trace, in every scenario."""

from __future__ import annotations

import json

import pytest

from scheduler_engine.answers import explained as module
from scheduler_engine.answers.explained import explained
from scheduler_engine.commands import Apply, Run
from scheduler_engine.scenario import FOLDER, load_scenario, play
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml"))[::4], ids=lambda path: path.stem)
def test_attempts_of_a_scenario_are_explained(path: object) -> None:
    """Explain up to three attempts of each pod: each explanation plays the scenario again up to its attempt."""
    scenario = load_scenario(path)  # type: ignore[arg-type]
    simulation = scenario.open()
    play(simulation, scenario.then)
    for pod, attempts in RunView(simulation).attempts.items():
        for number in sorted({0, len(attempts) // 2, len(attempts) - 1}):
            attempt = attempts[number]
            found = explained(simulation, pod, attempt)
            assert json.loads(json.dumps(found)) == found
            told = found["attempt"]
            assert told["outcome"] == attempt.outcome
            rows = attempt.filter.looked_at if attempt.filter else ()
            assert sum(group["count"] for group in told["refusals"]) == sum(1 for row in rows if row[1])
            for row in told["nodes"]:
                assert (row["total"] is None) == (row["node"] not in attempt.totals)
                assert row["why"] is None or row["why"]["sentence"]


def test_only_the_first_nodes_are_listed_besides_those_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_NODES", 2)
    monkeypatch.setattr(module, "MOST_NAMES", 1)
    simulation = Simulation()
    simulation.execute(Apply((*(make_node(f"n{n}").obj() for n in range(5)), make_pod("big").cpu("9").obj())))
    simulation.execute(Run())
    attempt = RunView(simulation).attempt("default/big")
    told = explained(simulation, "default/big", attempt, ["n4", "gone"])["attempt"]
    listed = [row["node"] for row in told["nodes"]]
    assert listed[2:] == ["n4", "gone"]
    assert told["nodes"][-1]["passes"] is None
    assert [(group["count"], len(group["nodes"])) for group in told["refusals"]] == [(5, 1)]
