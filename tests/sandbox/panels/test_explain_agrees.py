"""The explanation of any attempt, however long ago, agrees with the scheduler's record."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.panels.model.world import World
from scheduler_engine import commands
from scheduler_engine.commands import Command
from scheduler_engine.plugins.registry import REGISTRY
from scheduler_engine.scenario import Scenario, play
from scheduler_engine.simulation import Simulation
from tests.engine.cluster import COMMANDS
from tests.engine.histories import some
from tests.engine.random_clusters import CONFIGURATIONS, cluster, run
from tests.installed import SCENARIOS
from tests.sandbox.explained import counted, differences
from tests.sandbox.witnessing import witnessed


@pytest.mark.parametrize("slug", SCENARIOS)
def test_every_number_of_a_scenario_is_reproduced(slug: str) -> None:
    scenario: Scenario = SCENARIOS[slug]
    simulation = scenario.open()
    play(simulation, scenario.then)
    assert differences(witnessed(simulation)) == []


@pytest.mark.parametrize("seed", some(range(30), 10))
def test_every_number_of_a_random_cluster_is_reproduced(seed: int) -> None:
    simulation = Simulation(configuration=CONFIGURATIONS[seed % len(CONFIGURATIONS)])
    run(simulation, cluster(seed))
    assert differences(witnessed(simulation)) == []


def test_the_random_clusters_exercise_every_plugin() -> None:
    total: Counter[str] = Counter()
    for seed in range(80):
        simulation = Simulation()
        run(simulation, cluster(seed))
        total.update(counted(witnessed(simulation)))
    refusing = [name for name, plugin in REGISTRY.items() if hasattr(plugin, "filter") and name not in NEVER_REFUSE]
    scoring = [name for name, plugin in REGISTRY.items() if hasattr(plugin, "explain_score")]
    said = [*(f"{name} filter" for name in refusing), *(f"{name} score" for name in scoring)]
    assert [name for name in said if not total[name]] == []


NEVER_REFUSE = ("NodeName", "DynamicResources")
"""A pod with a node name skips the scheduler; one with device claims is refused before Filter."""


@settings(max_examples=40, deadline=None)
@given(st.lists(COMMANDS, max_size=40))
def test_every_number_of_a_simple_cluster_is_reproduced(steps: list[Command]) -> None:
    simulation = Simulation()
    run(simulation, steps)
    assert differences(witnessed(simulation)) == []


def test_numbers_come_out_while_the_cycle_is_still_under_way() -> None:
    simulation = SCENARIOS["three-zones-one-gpu-pool"].open()
    world, before = World(), 0
    for _ in range(60):
        run(simulation, [commands.Stage()])
        for entry in simulation.recorder.entries[before:]:
            world.apply(entry)
        before = len(simulation.recorder.entries)
        if world.cycle is not None:
            assert differences(world) == []
    assert len(world.cycles) > 3
