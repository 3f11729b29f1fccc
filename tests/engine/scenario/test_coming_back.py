"""An export can be imported again: a re-imported snapshot has the same allow-listed content."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_engine.api.scheme import KINDS
from scheduler_engine.importing import StandIns, gather, prepare
from scheduler_engine.importing.gathering import SNAPSHOT
from scheduler_engine.importing.trimming import trimmed, trimmed_configuration
from scheduler_engine.scenario import play, read_scenario
from scheduler_engine.scenario.manifests import simulator_snapshot
from scheduler_engine.scenario.writing import dump
from scheduler_engine.simulation import Simulation
from tests.installed import SCENARIOS

OVER = ("Succeeded", "Failed")
"""Phases of pods that a cluster keeps only for reading; an import omits them."""
GENERATED = {
    "preemptionPolicy": "of classes that the export made up for pods with a bare number, which get the default",
    "message": "of conditions: another scheduler's words, which no sandbox gets",
    "observedGeneration": "counts changes, of which an import knows none",
    "resourceClaimStatuses": "names claims, which the simulator's snapshots do not hold",
}


def imported(snapshot: dict[str, Any]) -> Simulation:
    result = prepare(gather(json.dumps(snapshot).encode(), "snapshot.json"))
    simulation = Simulation(configuration=result.configuration)
    play(simulation, result.commands())
    return simulation


def content_of(snapshot: dict[str, Any]) -> dict[str, Any]:
    """Return list → key → object, without what an import drops or replaces."""
    stand_ins = StandIns()
    return {
        name: {
            (item["metadata"].get("namespace"), item["metadata"]["name"]): _without_generated(
                trimmed(named(item, SNAPSHOT[name]), stand_ins)[0]
            )
            for item in listed
            if (item.get("status") or {}).get("phase") not in OVER
        }
        for name, listed in snapshot.items()
        if name != "schedulerConfig"
    } | {"schedulerConfig": trimmed_configuration(snapshot["schedulerConfig"])}


def named(item: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"apiVersion": KINDS[kind].api_versions[0], "kind": kind, **item}


def _without_generated(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _without_generated(item) for key, item in value.items() if key not in GENERATED}
        # The import reports pods that were not ready.
        kept.get("annotations", {}).pop("sandbox/ready", None)
        return {key: item for key, item in kept.items() if item not in ({}, [])}
    return [_without_generated(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("slug", SCENARIOS)
def test_a_snapshot_for_the_simulator_comes_back(slug: str) -> None:
    scenario = SCENARIOS[slug]
    simulation = scenario.open()
    play(simulation, scenario.then)
    snapshot = simulator_snapshot(simulation)
    assert content_of(simulator_snapshot(imported(snapshot))) == content_of(snapshot)


@pytest.mark.parametrize("slug", SCENARIOS)
def test_a_scenario_that_was_written_is_written_alike(slug: str) -> None:
    written = dump(SCENARIOS[slug])
    assert dump(read_scenario(written, f"{slug}.scenario.yaml")) == written
