"""Cached results per node: the fast path and the plain path decide the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_engine import commands
from scheduler_engine.api.objects import Pod
from scheduler_engine.commands import Command
from scheduler_engine.framework.node_results import MAX_SIGNATURES, NodeResults
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from tests.engine.cluster import COMMANDS, node, pod
from tests.engine.test_simulation import obeyed


def forgetful(wanted: list[Command], full: bool) -> Simulation:
    """Execute the commands, and clear all cached results before each."""
    simulation = Simulation(seed=5, full=full)
    for command in wanted:
        for framework in simulation.scheduler.profiles.values():
            framework.results = NodeResults()
        obeyed(simulation, [command])
    return simulation


@pytest.mark.parametrize("full", [True, False], ids=["with a full trace", "with a lean trace"])
@given(wanted=st.lists(COMMANDS, max_size=30))
@settings(max_examples=40, deadline=None)
def test_kept_results_change_nothing(full: bool, wanted: list[Command]) -> None:
    kept = Simulation(seed=5, full=full)
    obeyed(kept, wanted)
    assert trace_digest(kept) == trace_digest(forgetful(wanted, full))


def test_replicas_have_one_signature_and_other_pods_another() -> None:
    signatures = [Pod(pod(name, cpu)).signature for name, cpu in (("web-1", "1"), ("web-2", "1"), ("web-3", "2"))]
    assert signatures[0] == signatures[1] != signatures[2]


def test_the_least_recently_used_signatures_are_dropped() -> None:
    results = NodeResults()
    for number in range(MAX_SIGNATURES + 3):
        results.of(Pod(pod("web-1", f"{number}m")), ())
    assert len(results.signatures) == MAX_SIGNATURES


def test_only_the_node_that_changed_is_asked_again() -> None:
    simulation = Simulation(full=False)
    nodes = tuple(node(f"n{number}") for number in range(20))
    simulation.execute(commands.Apply((*nodes, pod("web-1"), pod("web-2"))))
    fit = simulation.scheduler.profiles["default-scheduler"].plugins["NodeResourcesFit"]
    asked: list[str] = []
    original = fit.filter  # type: ignore[attr-defined]
    fit.filter = lambda state, pod, info: asked.append(info.name) or original(state, pod, info)  # type: ignore[attr-defined]
    simulation.execute(commands.PodCycle())
    assert len(asked) == 20
    asked.clear()
    simulation.execute(commands.PodCycle())
    first = simulation.api.pod("default/web-1")
    assert first is not None
    assert asked == [first.node_name]
