"""What is told of any attempt, however long ago, is what the scheduler recorded of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

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
from tests.installed import SCENARIOS
from tests.sandbox.explain_clusters import cluster, counted, differences, run, world_of

RATIO = {
    "type": "RequestedToCapacityRatio",
    "resources": [{"name": "cpu", "weight": 3}, {"name": "memory"}, {"name": "example.com/gpu", "weight": 2}],
    "requestedToCapacityRatio": {
        "shape": [{"utilization": 0, "score": 2}, {"utilization": 30, "score": 9}, {"utilization": 100, "score": 0}]
    },
}
MOST = {"type": "MostAllocated", "resources": [{"name": "memory", "weight": 2}, {"name": "ephemeral-storage"}]}
ZONES = [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}]
ADDED = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": ["7"]}]}]
    },
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 9, "preference": {"matchExpressions": [{"key": "rack", "operator": "Exists"}]}}
    ],
}


def configuration(**arguments: dict[str, Any]) -> dict[str, Any]:
    """One profile with ``arguments`` (plugin → arguments)."""
    configs = [{"name": name, "args": args} for name, args in arguments.items()]
    profile = {"schedulerName": "default-scheduler", "pluginConfig": configs}
    version = "kubescheduler.config.k8s.io/v1"
    return {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


CONFIGURATIONS: tuple[dict[str, Any] | None, ...] = (
    None,
    configuration(
        NodeResourcesFit={"scoringStrategy": RATIO, "ignoredResources": ["example.com/gpu"]},
        NodeAffinity={"addedAffinity": ADDED},
        InterPodAffinity={"hardPodAffinityWeight": 13, "ignorePreferredTermsOfExistingPods": True},
        PodTopologySpread={"defaultingType": "List", "defaultConstraints": ZONES},
    ),
    configuration(
        NodeResourcesFit={"scoringStrategy": MOST, "ignoredResourceGroups": ["example.com"]},
        NodeResourcesBalancedAllocation={
            "resources": [
                {"name": "cpu"},
                {"name": "memory"},
                {"name": "ephemeral-storage"},
                {"name": "example.com/gpu"},
            ]
        },
    ),
)


@pytest.mark.parametrize("slug", SCENARIOS)
def test_every_number_of_a_scenario_comes_out_again(slug: str) -> None:
    scenario: Scenario = SCENARIOS[slug]
    simulation = scenario.open()
    play(simulation, scenario.then)
    assert differences(world_of(simulation)) == []


@pytest.mark.parametrize("seed", range(30))
def test_every_number_of_a_random_cluster_comes_out_again(seed: int) -> None:
    simulation = Simulation(configuration=CONFIGURATIONS[seed % len(CONFIGURATIONS)])
    run(simulation, cluster(seed))
    assert differences(world_of(simulation)) == []


def test_the_random_clusters_bring_out_every_plugin() -> None:
    total: Counter[str] = Counter()
    for seed in range(80):
        simulation = Simulation()
        run(simulation, cluster(seed))
        total.update(counted(world_of(simulation)))
    refusing = [name for name, plugin in REGISTRY.items() if hasattr(plugin, "filter") and name not in NEVER_REFUSE]
    scoring = [name for name, plugin in REGISTRY.items() if hasattr(plugin, "explain_score")]
    said = [*(f"{name} filter" for name in refusing), *(f"{name} score" for name in scoring)]
    assert [name for name in said if not total[name]] == []


NEVER_REFUSE = ("NodeName", "DynamicResources")
"""A pod with a node name passes the scheduler by; one with device claims is refused before Filter."""


@settings(max_examples=40, deadline=None)
@given(st.lists(COMMANDS, max_size=40))
def test_every_number_of_a_simple_cluster_comes_out_again(steps: list[Command]) -> None:
    simulation = Simulation()
    run(simulation, steps)
    assert differences(world_of(simulation)) == []


def test_numbers_come_out_while_the_cycle_is_still_under_way() -> None:
    simulation = SCENARIOS["three-zones-one-gpu-pool"].open()
    world, seen = World(), 0
    for _ in range(60):
        run(simulation, [commands.Stage()])
        for entry in simulation.recorder.entries[seen:]:
            world.apply(entry)
        seen = len(simulation.recorder.entries)
        if world.cycle is not None:
            assert differences(world) == []
    assert len(world.cycles) > 3
