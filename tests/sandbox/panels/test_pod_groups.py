"""PodGroups on the page: the count on Permit, in the inspector, in sentences, and the rows of Workloads."""

from __future__ import annotations

from functools import partial
from typing import Any

from sandbox.panels import View
from sandbox.panels.bindings import stats as bindings
from sandbox.panels.facts.sentences import sentence
from sandbox.panels.inspector.panel import stats as inspector
from sandbox.panels.queues.panel import stats as queues
from sandbox.panels.workloads.panel import stats
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node
from scheduler_engine.trace.events import PodGroupCounted
from tests.engine.gangs import coscheduling, make_group, member
from tests.sandbox.scenarios import panel_html, world_of

workloads = partial(panel_html, "workloads")


def cluster(cpu: str = "4", **args: int) -> Simulation:
    simulation = Simulation(configuration=coscheduling(**args))
    pods = [member("train", number).obj() for number in range(3)]
    simulation.execute(commands.Apply((make_node("n1").capacity(cpu=cpu).obj(), make_group("train", 3), *pods)))
    return simulation


def facts(simulation: Simulation, pod: str) -> dict[str, str]:
    shown = inspector(world_of(simulation), View(pod=pod))
    return {row["term"]: row["text"] for row in shown["facts"]}


def groups(simulation: Simulation) -> list[dict[str, Any]]:
    return list(stats(world_of(simulation), View())["groups"])


def test_a_pod_on_permit_shows_how_many_of_its_group_have_a_node() -> None:
    simulation = cluster()
    assert facts(simulation, "default/train-0")["Pod group"] == "train: 3 pods must have a node"
    simulation.execute(commands.PodCycle())
    (row,) = bindings(world_of(simulation), View())["rows"]
    assert (row["text"], row["group"], row["left"]) == (
        "waits on Permit: Coscheduling",
        "1 of 3 pods of train have a node",
        "60 s left",
    )
    simulation.execute(commands.PodCycle())
    rows = bindings(world_of(simulation), View())["rows"]
    assert [row["group"] for row in rows] == ["2 of 3 pods of train have a node"] * 2
    counted = "train: 2 of 3 pods had a node when Coscheduling last counted"
    assert facts(simulation, "default/train-2")["Pod group"] == counted
    simulation.execute(commands.Settle())
    assert bindings(world_of(simulation), View())["rows"] == []


def test_unreserve_lowers_the_count_when_the_time_is_over() -> None:
    simulation = cluster("2", permitWaitingTimeSeconds=10, podGroupRejectPercentage=100)
    simulation.execute(commands.Settle())
    assert [row["count"] for row in groups(simulation)] == ["2 of 3"]
    simulation.execute(commands.Advance(10))
    world = world_of(simulation)
    counts = [entry.event.assigned for entry in world.entries if isinstance(entry.event, PodGroupCounted)]
    assert counts[:4] == [1, 2, 1, 0]
    sentences = [sentence(cycle) for cycle in world.cycles if cycle.wait_rejected]
    assert any("a plugin rejected it while it waited: rejection in Unreserve." in text for text in sentences)


def test_the_sentence_of_permit_has_the_count() -> None:
    simulation = cluster()
    for _ in range(20):
        simulation.execute(commands.Stage())
        world = world_of(simulation)
        if world.cycles[-1].last_stage == "Permit":
            break
    assert sentence(world.cycles[-1]) == "Coscheduling makes it wait. 1 of 3 pods of default/train have a node."


def test_the_tab_lists_groups_with_their_status_and_their_pods() -> None:
    simulation = cluster()
    (row,) = groups(simulation)
    assert (row["needed"], row["count"], row["phase"], len(row["pods"])) == (3, "", "Scheduling", 3)
    simulation.execute(commands.Advance(2))
    (row,) = groups(simulation)
    assert (row["count"], row["phase"], row["running"]) == ("3 of 3", "Running", 3)
    html = workloads(world_of(simulation))
    assert 'id="w-edit:PodGroup:default/train"' in html
    assert "minMember 3" in html


def test_a_label_without_a_group_is_named_as_such() -> None:
    simulation = Simulation(configuration=coscheduling())
    simulation.execute(commands.Apply((member("lost", 0).obj(),)))
    assert facts(simulation, "default/lost-0")["Pod group"] == "lost, which does not exist"


def test_active_q_is_shown_in_the_order_of_the_groups() -> None:
    simulation = Simulation(configuration=coscheduling())
    pods = [member(group, number).obj() for number in range(2) for group in ("b", "a")]
    simulation.execute(commands.Apply((make_group("b", 2), make_group("a", 2), *pods)))
    (lane,) = [lane for lane in queues(world_of(simulation), View())["lanes"] if lane["id"] == "activeQ"]
    shown = [card["pod"] for card in lane["cards"]]
    assert shown == ["default/a-0", "default/a-1", "default/b-0", "default/b-1"]
    assert shown == [info.pod.key for info in simulation.scheduler.queue.active_q.sorted()]
