"""Budgets stay up to date: healthy pods, desired pods, and allowed disruptions."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_budget, make_pod
from tests.engine import controllers as world


def budget(simulation: Simulation) -> dict[str, Any]:
    return world.find(simulation, "PodDisruptionBudget", "guard").status


def numbers(simulation: Simulation) -> tuple[int, int, int, int]:
    """Return (allowed, healthy, desired, expected)."""
    status = budget(simulation)
    return (
        status["disruptionsAllowed"],
        status["currentHealthy"],
        status["desiredHealthy"],
        status["expectedPods"],
    )


def condition(simulation: Simulation) -> tuple[str, str]:
    (only,) = budget(simulation)["conditions"]
    return only["status"], only["reason"]


SPECS: dict[str, tuple[dict[str, Any], tuple[int, int, int, int]]] = {
    "at least three of five": ({"minAvailable": 3}, (2, 5, 3, 5)),
    "at least seven of five": ({"minAvailable": 7}, (0, 5, 7, 5)),
    "at least half, rounded up": ({"minAvailable": "50%"}, (2, 5, 3, 5)),
    "two may be missing": ({"maxUnavailable": 2}, (2, 5, 3, 5)),
    "a third may be missing, rounded up": ({"maxUnavailable": "33%"}, (2, 5, 3, 5)),
    "none may be missing": ({"maxUnavailable": 0}, (0, 5, 5, 5)),
    "all may be missing": ({"maxUnavailable": 9}, (5, 5, 0, 5)),
    "no limit": ({}, (0, 5, 0, 0)),
}


@pytest.mark.parametrize("words", SPECS)
def test_what_a_budget_allows(words: str) -> None:
    spec, expected = SPECS[words]
    simulation = world.cluster(world.deployment("web", 5), make_budget("guard", {"app": "web"}, **spec))
    world.run(simulation)
    assert numbers(simulation) == expected
    assert condition(simulation) == (("True", "SufficientPods") if expected[0] else ("False", "InsufficientPods"))


def test_it_follows_pods_and_the_scale() -> None:
    simulation = world.cluster(world.deployment("web", 4), make_budget("guard", {"app": "web"}, minAvailable="50%"))
    assert numbers(simulation) == (0, 0, 2, 4)
    world.run(simulation)
    assert numbers(simulation) == (2, 4, 2, 4)
    world.scale(simulation, "Deployment", "web", 8)
    assert numbers(simulation) == (0, 4, 4, 8)
    world.run(simulation)
    world.delete(simulation, "Pod", world.pods(simulation)[0].key)
    assert numbers(simulation) == (3, 7, 4, 8)


def test_a_fixed_minimum_counts_bare_pods_a_percentage_does_not() -> None:
    simulation = world.cluster(
        make_pod("a").label("app", "web").obj(), make_budget("guard", {"app": "web"}, minAvailable=0)
    )
    world.run(simulation)
    assert numbers(simulation) == (1, 1, 0, 1)
    world.apply(simulation, make_budget("guard", {"app": "web"}, maxUnavailable=1))
    assert numbers(simulation) == (0, 1, 0, 0)
    (text,) = world.events(simulation, "PodDisruptionBudget", "guard")
    assert text.startswith("UnmanagedPods: Pods selected by this PodDisruptionBudget (selector: app=web) were found")


def test_pods_of_a_kind_without_a_scale_stop_the_count() -> None:
    simulation = world.cluster(world.daemon_set("web"), make_budget("guard", {"app": "web"}, maxUnavailable=1))
    world.run(simulation)
    assert budget(simulation)["disruptionsAllowed"] == 0
    assert condition(simulation) == ("False", "SyncFailed")
    text = "Failed to calculate the number of expected pods: daemonsets.apps does not implement the scale subresource"
    assert f"CalculateExpectedPodCountFailed: {text}" in world.events(simulation, "PodDisruptionBudget", "guard")


def test_a_budget_without_pods_allows_nothing() -> None:
    simulation = world.cluster(make_budget("guard", {"app": "web"}, maxUnavailable=1))
    assert numbers(simulation) == (0, 0, 0, 0)
    assert world.events(simulation, "PodDisruptionBudget", "guard") == ["NoPods: No matching pods found"]


def test_a_granted_eviction_counts_until_the_pod_goes_or_two_minutes_are_over() -> None:
    simulation = world.cluster(world.deployment("web", 3), make_budget("guard", {"app": "web"}, minAvailable=1))
    world.run(simulation)
    pod = world.pods(simulation)[0]
    granted = {pod.name: "2026-01-01T00:00:00Z", "nobody": "2026-01-01T00:00:00Z"}
    simulation.api.patch("PodDisruptionBudget", "default/guard", {"status": {"disruptedPods": granted}})
    simulation.deliver()
    assert list(budget(simulation)["disruptedPods"]) == [pod.name]
    assert numbers(simulation) == (1, 2, 1, 3)
    world.advance(simulation, 119)
    assert numbers(simulation) == (1, 2, 1, 3)
    world.advance(simulation, 2)
    assert numbers(simulation) == (2, 3, 1, 3)
    assert not budget(simulation).get("disruptedPods")
    assert world.events(simulation, "Pod", pod.name)[-1].startswith("NotDeleted: Pod was expected by PDB")
