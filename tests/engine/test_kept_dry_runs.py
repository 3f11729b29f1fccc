"""Dry runs are kept for equal preemptors, until something that they read changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.commands import Command
from scheduler_engine.preemption import by_sums
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_budget, make_pod
from scheduler_engine.trace.events import PreemptionNodeTried
from tests.engine.cluster import node

NODES = ("n1", "n2", "n3")


def low(name: str, on: str, cpu: str = "1", **labels: str) -> dict[str, Any]:
    return make_pod(name).cpu(cpu).node(on).labels(labels).grace_period(0).obj()


def preemptor(name: str, cpu: str = "2", priority: int = 5) -> dict[str, Any]:
    return make_pod(name).cpu(cpu).priority(priority).obj()


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of nodes whose pods are put back one by one."""
    nodes: list[str] = []
    original = by_sums.reprieve

    def reprieve(run: Any, *arguments: Any) -> None:
        nodes.append(run.node)
        original(run, *arguments)

    monkeypatch.setattr(by_sums, "reprieve", reprieve)
    return nodes


def full_cluster(*between: Command) -> Simulation:
    """Return a cluster in which ``first`` has preempted on n1, and ``between`` has happened."""
    simulation = Simulation(full=False)
    lows = [low(f"{name}-{number}", name, "1", app=name) for name in NODES for number in range(2)]
    simulation.execute(commands.Apply((*(node(name, cpu="2") for name in NODES), *lows, preemptor("first"))))
    simulation.execute(commands.Run(4))
    for command in between:
        simulation.execute(command)
    return simulation


def victims_of(simulation: Simulation, pod: dict[str, Any]) -> list[tuple[str, Sequence[str]]]:
    before = len(simulation.recorder.entries)
    simulation.execute(commands.Apply((pod,)))
    simulation.execute(commands.Run(4))
    events = [entry.event for entry in simulation.recorder.entries[before:]]
    return [(event.node, event.victims) for event in events if isinstance(event, PreemptionNodeTried)]


def test_an_equal_preemptor_tries_only_nodes_that_have_changed(tried: list[str]) -> None:
    simulation = full_cluster(commands.Delete("Pod", "default/n3-0"), commands.Apply((low("new", "n3"),)))
    assert sorted(tried) == ["n1", "n2", "n3"]
    tried.clear()
    assert sorted(victims_of(simulation, preemptor("second"))) == [
        ("n1", ()),
        ("n2", ("default/n2-0", "default/n2-1")),
        ("n3", ("default/n3-1", "default/new")),
    ]
    assert tried == ["n3"]


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (preemptor("second", cpu="1"), ["n2", "n3"]),
        (preemptor("second", priority=6), ["n1", "n2", "n3"]),
        ({**preemptor("second"), "metadata": {"name": "second", "namespace": "default", "labels": {"a": "b"}}}, []),
    ],
    ids=["another request", "another priority", "other labels, which no filter reads"],
)
def test_a_preemptor_that_differs_where_it_counts_tries_all_nodes(
    pod: dict[str, Any], expected: list[str], tried: list[str]
) -> None:
    simulation = full_cluster()
    tried.clear()
    victims_of(simulation, pod)
    assert sorted(tried) == expected


def test_nothing_is_kept_while_there_are_budgets(tried: list[str]) -> None:
    budget = commands.Apply((make_budget("keep", {"app": "n2"}, maxUnavailable=0),))
    simulation = full_cluster(budget)
    tried.clear()
    victims_of(simulation, preemptor("second"))
    assert sorted(tried) == ["n2", "n3"]


@pytest.mark.parametrize(
    "between",
    [
        lambda: commands.Patch("Pod", "default/n2-1", {"metadata": {"labels": {"app": "other"}}}),
        lambda: commands.Taint("n2", "dedicated", "NoSchedule"),
        lambda: commands.Cordon("n3"),
        lambda: commands.Apply((make_pod("vip").cpu("1").priority(9).nominated("n2").obj(),)),
        lambda: commands.Apply((low("extra", "n2", "0"),)),
    ],
    ids=["labels", "taint", "cordon", "nomination", "another pod"],
)
def test_what_happens_between_two_preemptors_counts(
    between: Callable[[], Command], monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = victims_of(full_cluster(between()), preemptor("second"))
    monkeypatch.setattr(by_sums.SumsOfPods, "dry_run", lambda self, *arguments: None)
    assert fast == victims_of(full_cluster(between()), preemptor("second"))
