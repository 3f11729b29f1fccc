"""What is exported comes back: a snapshot that is imported again holds what the first one held."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_engine.importing import Choices, gather, prepare
from scheduler_engine.scenario import play, read_scenario
from scheduler_engine.scenario.manifests import simulator_snapshot
from scheduler_engine.scenario.writing import dump
from scheduler_engine.simulation import Simulation
from tests.installed import SCENARIOS

OVER = ("Succeeded", "Failed")
"""Phases of pods that a cluster holds for people to read of; they are left out."""
MADE_ANEW = {
    "preemptionPolicy": "of classes that the export made up for pods with a bare number, which get the default",
    "observedGeneration": "counts changes, of which an import knows none",
}


def imported(snapshot: dict[str, Any]) -> Simulation:
    found = prepare(gather(json.dumps(snapshot).encode(), "snapshot.json"), Choices(drop_secrets=False))
    simulation = Simulation(configuration=found.configuration)
    play(simulation, found.commands())
    return simulation


def told(snapshot: dict[str, Any]) -> dict[str, Any]:
    """List → key → object, without what is made anew."""
    return {
        name: {
            (item["metadata"].get("namespace"), item["metadata"]["name"]): _kept(item)
            for item in listed
            if (item.get("status") or {}).get("phase") not in OVER
        }
        for name, listed in snapshot.items()
        if name != "schedulerConfig"
    } | {"schedulerConfig": snapshot["schedulerConfig"]}


def _kept(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _kept(item) for key, item in value.items() if key not in MADE_ANEW}
        # The import says so of pods that were not ready.
        kept.get("annotations", {}).pop("sandbox/ready", None)
        return {key: item for key, item in kept.items() if item not in ({}, [])}
    return [_kept(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("slug", SCENARIOS)
def test_a_snapshot_for_the_simulator_comes_back(slug: str) -> None:
    scenario = SCENARIOS[slug]
    simulation = scenario.open()
    play(simulation, scenario.then)
    snapshot = simulator_snapshot(simulation)
    assert told(simulator_snapshot(imported(snapshot))) == told(snapshot)


@pytest.mark.parametrize("slug", SCENARIOS)
def test_a_scenario_that_was_written_is_written_alike(slug: str) -> None:
    written = dump(SCENARIOS[slug])
    assert dump(read_scenario(written, f"{slug}.scenario.yaml")) == written
