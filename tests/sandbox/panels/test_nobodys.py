"""Pods of a scheduler that does not run here."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from sandbox.panels import View, World
from sandbox.panels.inspector.panel import stats as inspector
from sandbox.panels.queues.panel import stats as queues
from sandbox.panels.sentence.happenings import happening, happening_sentence
from scheduler_engine import commands
from scheduler_engine.cli import explaining, running
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

SETUP = """
title: Nobody's
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {cpu: "2", memory: 4Gi, pods: "9"}}}
  - {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {schedulerName: mine, containers: [{name: c, image: x}]}}
then:
- settle: {}
"""
WORDS = "default/a is in no queue: its scheduler mine does not run here (profiles: default-scheduler)"


def world(*steps: Any) -> World:
    simulation = Simulation()
    pods = [make_pod("a").scheduler("mine"), make_pod("b").scheduler("mine").gate("x.io/g"), make_pod("c")]
    for step in (commands.Apply((make_node("n1").obj(), *(pod.obj() for pod in pods))), commands.Settle(), *steps):
        simulation.execute(step)
    return World.fold(simulation.recorder.entries)


def lane(data: dict[str, Any]) -> list[str]:
    return [card["name"] for item in data["lanes"] if item["id"] == "nobody" for card in item["cards"]]


def test_they_have_a_separate_lane_and_the_inspector_says_why() -> None:
    there = world()
    assert lane(queues(there, View())) == ["a", "b"]
    assert inspector(there, View(pod="default/a"))["state"] == "in no queue: its scheduler mine does not run here"


def configured(*names: str) -> commands.Configure:
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return commands.Configure({**kind, "profiles": [{"schedulerName": name} for name in names]})


@pytest.mark.parametrize(
    ("step", "left"),
    [
        (commands.Delete("Pod", "default/a"), ["b"]),
        (configured("mine"), []),
        (configured("mine", "other"), []),
    ],
)
def test_they_leave_it_when_they_go_or_when_their_scheduler_runs(step: Any, left: list[str]) -> None:
    assert lane(queues(world(step), View())) == left


def test_they_count_as_pending_and_the_sentence_does_not_say_that_no_pod_waits() -> None:
    there = world(commands.Advance(5))
    assert queues(there, View())["pending"] == 2
    last = happening(there)
    assert last is not None
    assert happening_sentence(there, last)["text"] == "5 s passed. 2 pods wait for a scheduler that does not run here."


def test_a_pod_that_is_bound_by_name_needs_no_scheduler() -> None:
    there = world(commands.Apply((make_pod("d").scheduler("mine").node("n1").obj(),)))
    assert lane(queues(there, View())) == ["a", "b"]


def test_ended_pods_with_finalizers_can_still_be_looked_up() -> None:
    kept = make_pod("kept").metadata(finalizers=["x.io/a"]).grace_period(5).obj()
    there = world(commands.Apply((kept,)), commands.Settle(), commands.Delete("Pod", "default/kept"))
    assert [item["id"] for item in queues(there, View())["lanes"]][-1] == "nobody"
    there = world(
        commands.Apply((kept,)), commands.Settle(), commands.Delete("Pod", "default/kept"), commands.Advance(9)
    )
    (held,) = (item for item in queues(there, View())["lanes"] if item["id"] == "held")
    assert [(card["name"], card["detail"]) for card in held["cards"]] == [("kept", "x.io/a")]
    assert queues(there, View())["pending"] == 2


def test_the_command_line_says_so_too() -> None:
    said = CliRunner().invoke(running.command, ["-"], input=SETUP)
    assert WORDS in said.output
    said = CliRunner().invoke(explaining.command, ["-", "--pod", "a"], input=SETUP)
    assert WORDS in said.output + str(said.exception)
