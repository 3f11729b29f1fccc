"""Transcripts that teach: scenarios as stories, one file each. `make golden` rewrites them; read the diff."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import FOLDER, load_scenario, play
from scheduler_engine.wording.story import story

HERE = Path(__file__).parent / "transcripts"
SCENARIOS = (
    "02-node-affinity-weights",
    "06-pod-affinity-s1-s2",
    "08-spread-one-constraint",
    "10-spread-conflicting-constraints",
    "18-toleration-equal-or-exists",
    "22-taint-no-execute",
    "24-node-order-six-nodes",
    "26-percentage-of-nodes-to-score",
    "28-bin-packing-requested-to-capacity-ratio",
    "30-high-priority-preemption",
    "32-preemption-several-candidates",
    "34-preemption-not-across-nodes",
    "36-scheduling-gates",
    "40-volumes-made-in-a-zone",
    "43-read-write-once-pod",
    "44b-devices-for-claims",
    "50-nominated-pod-counts",
    "53-preemption-reprieve",
    "54-preemption-budget-protects",
    "55-preemption-every-rung",
    "60-queue-affinity-wakes-a-pod",
    "61-queue-node-arrives-in-mid-cycle",
    "63-queue-backoff-v1-34",
    "64-queue-one-event-two-hints",
    "65-bind-fails",
    "66-permit-waits-and-times-out",
    "76-third-pod-takes-the-place",
    "80-toleration-seconds",
    "89-eviction-answers",
    "93-leader-killed",
)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_story_of_a_scenario_is_the_one_that_was_read(name: str, golden: Callable[[Path, str], None]) -> None:
    scenario = load_scenario(FOLDER / f"{name}.yaml")
    simulation = scenario.open()
    refused: list[str] = []
    for step in scenario.then or ({"kind": "run", "cycles": 20},):
        try:
            play(simulation, [step])
        except Rejected as error:
            refused.append(f"{step['kind']} is refused: {error}")
    lines = [f"# {scenario.title}", "", *story(simulation.recorder.entries), *refused]
    golden(HERE / f"{name}.txt", "\n".join(lines) + "\n")
