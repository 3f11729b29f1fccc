"""Which tab opens by itself, and whose attempt the tables show."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import PANELS, View, World
from sandbox.panels.facts.stages import tab_for
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from tests.engine.cluster import node, pod
from tests.sandbox.scenarios import world_of

STEPS = {
    "a pod that fits on one of two nodes": [node("n1"), node("n2"), pod("a", "1")],
    "a pod that fits on the only node": [node("n1"), pod("a", "1")],
    "a pod that evictions help": [node("n1"), pod("low", "4", 0, nodeName="n1"), pod("a", "4", 10)],
    "a pod that evictions do not help": [node("n1"), pod("a", "400")],
}


def tabs(manifests: list[dict[str, Any]]) -> list[str]:
    """Return the tabs that open during the first attempt, without repetitions."""
    simulation = Simulation()
    simulation.execute(commands.Apply(tuple(manifests)))
    results: list[str] = []
    while not results or not (cycle := world_of(simulation).cycle) or not cycle.outcome:
        simulation.execute(commands.Stage())
        tab = tab_for(world_of(simulation).cycle)
        if results[-1:] != [tab]:
            results.append(tab)
    return results


@pytest.mark.parametrize(
    ("case", "opened"),
    [
        ("a pod that fits on one of two nodes", ["cache", "filter", "scores", "cache", "scores"]),
        ("a pod that fits on the only node", ["cache", "filter", "cache", "filter"]),
        ("a pod that evictions help", ["cache", "filter", "preemption"]),
        ("a pod that evictions do not help", ["cache", "filter"]),
    ],
)
def test_the_tab_that_opens_answers_why(case: str, opened: list[str]) -> None:
    assert tabs(STEPS[case]) == opened


def two_attempts() -> World:
    simulation = Simulation()
    simulation.execute(commands.Apply((node("n1"), pod("first", "400"))))
    simulation.execute(commands.PodCycle())
    simulation.execute(commands.Apply((pod("second", "1"),)))
    simulation.execute(commands.PodCycle())
    return world_of(simulation)


@pytest.mark.parametrize("panel", ["filter", "scores", "preemption"])
def test_the_tables_show_the_last_attempt_of_the_chosen_pod_and_name_it(panel: str) -> None:
    world = two_attempts()
    chosen = PANELS[panel].stats(world, View(pod="default/first"))["whose"]
    assert (chosen["name"], chosen["cycle"], chosen["now"]) == ("first", 1, "second")
    present = PANELS[panel].stats(world, View())["whose"]
    assert (present["name"], present["cycle"], present["now"]) == ("second", 2, "")


def test_a_chosen_cycle_comes_before_the_chosen_pod() -> None:
    assert PANELS["filter"].stats(two_attempts(), View(pod="default/first", cycle=2))["whose"]["cycle"] == 2


def test_a_pod_without_an_attempt_leaves_the_tables_as_they_are() -> None:
    assert PANELS["filter"].stats(two_attempts(), View(pod="default/none"))["whose"]["name"] == "second"
