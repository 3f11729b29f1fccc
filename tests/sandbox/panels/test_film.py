"""The numbers of the film are those of the dry run, whatever happened before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.model.state import Cycle
from sandbox.panels.preemption.panel import stats
from scheduler_engine import commands
from scheduler_engine.commands import Command
from scheduler_engine.framework.facts import DryRunFacts
from scheduler_engine.simulation import Simulation
from tests.engine.cluster import node, pod
from tests.sandbox import witnessing
from tests.sandbox.scenarios import world_of

SHRINK = commands.Patch(
    "Pod",
    "default/new-1",
    {
        "spec": {
            "containers": [{"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "1"}}}]
        }
    },
    subresource="resize",
)
WAITING = {**pod("wait-1", "1", 20), "status": {"nominatedNodeName": "n1"}}
TWO_LOW = (
    pod("low-1", "2", 1, nodeName="n1", terminationGracePeriodSeconds=300),
    pod("low-2", "2", 5, nodeName="n1", terminationGracePeriodSeconds=300),
)
ALONE = ["2000m requested + 2000m back = 4000m ≤ 4000m", "2000m requested + 2000m staying + 2000m back = 6000m > 4000m"]
BESIDE = ["2000m requested + 1000m nominated (wait-1) + 2000m back = 5000m > 4000m"] * 2


def preempting(*commands_at: tuple[int, Command], full: bool = True) -> World:
    """Return the attempt of new-1 after PostFilter; each command is executed before the stage of its number."""
    simulation = Simulation(full=full, priority_numbers=True)
    simulation.execute(commands.Apply((node("n1"), *TWO_LOW, pod("new-1", "2", 10))))
    for stage in range(6):
        for _, command in (item for item in commands_at if item[0] == stage):
            simulation.execute(command)
        if stage < 5:
            simulation.execute(commands.Stage())
    return world_of(simulation)


def film(world: World) -> Sequence[dict[str, Any]]:
    frames: Sequence[dict[str, Any]] = stats(world, View(cycle=1))["film"]["frames"]
    return frames


def sums_of_reprieves(world: World) -> list[str]:
    return [frame["formula"] for frame in film(world) if frame["title"] == "back in?"]


@pytest.mark.parametrize(
    ("before", "sums"),
    [
        ([(4, SHRINK)], ALONE),
        ([(5, SHRINK)], ALONE),
        ([(4, commands.Apply((WAITING,)))], BESIDE),
        ([(1, commands.Apply((WAITING,))), (4, commands.Delete("Pod", "default/wait-1"))], ALONE),
    ],
    ids=[
        "a resize before PostFilter comes too late for it",
        "a resize after PostFilter changes nothing",
        "a pod that was nominated after Filter counts",
        "a pod whose nomination ended after Filter does not count",
    ],
)
def test_the_sums_follow_from_what_the_dry_run_counted(before: list[tuple[int, Command]], sums: list[str]) -> None:
    world = preempting(*before)
    assert sums_of_reprieves(world) == sums
    for frame in film(world):
        if frame["title"] == "back in?":
            assert (frame["said"] == "no") == (">" in frame["formula"])


def test_a_pod_that_takes_the_name_before_post_filter_does_not_change_the_requests() -> None:
    again = commands.Apply((pod("new-1", "1", 10),))
    world = preempting((4, commands.Delete("Pod", "default/new-1")), (4, again))
    assert sums_of_reprieves(world) == ALONE


def test_a_lean_trace_shows_the_same_film() -> None:
    assert film(preempting(full=False)) == film(preempting())


class Silent(witnessing.TestedWitness):
    """A witness that knows the room, but not the dry run."""

    def dry_run(self, cycle: Cycle, node: str) -> DryRunFacts | None:
        return None


def test_without_steps_the_result_is_without_the_victims() -> None:
    world = preempting(full=False)
    world.witness = Silent(world.witness.simulation)
    assert [(frame["title"], frame["formula"]) for frame in film(world)] == [
        ("as it is", "4000m used of 4000m"),
        ("result", "2000m requested + 2000m staying = 4000m ≤ 4000m"),
    ]


def test_the_drawn_resource_is_one_that_was_short_in_the_dry_run() -> None:
    """In Filter cpu was short; without the pod of lower priority only memory is."""
    simulation = Simulation(priority_numbers=True)
    same, lower, new = pod("same-1", "1", 10, nodeName="n1"), pod("low-1", "3", 0, nodeName="n1"), pod("new-1", "2", 10)
    for item, memory in ((same, "6Gi"), (lower, "1Gi"), (new, "4Gi")):
        item["spec"]["containers"][0]["resources"]["requests"]["memory"] = memory
    simulation.execute(commands.Apply((node("n1"), same, lower, new)))
    simulation.execute(commands.Settle())
    shown = stats(world_of(simulation), View(pod="default/new-1"))["film"]
    assert shown["resource"] == "memory"
    assert ">" in shown["frames"][-1]["formula"]
