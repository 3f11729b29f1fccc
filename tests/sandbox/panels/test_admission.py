"""The effects of an applied manifest, and the table of priority classes."""

from __future__ import annotations

from typing import Any

from sandbox.panels import View, World
from sandbox.panels.facts.admission import admitted_lines
from sandbox.panels.inspector.panel import stats as inspector
from sandbox.panels.workloads.panel import stats as workloads
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod, make_priority_class


def world(*steps: commands.Command) -> World:
    simulation = Simulation()
    for command in steps:
        simulation.execute(command)
    return World.fold(simulation.recorder.entries)


def apply(*manifests: dict[str, Any]) -> commands.Command:
    return commands.Apply(manifests)


def changes(additions: list[tuple[str, str]] | None) -> list[str]:
    assert additions is not None
    return [line.strip() for how, line in additions if how == "added"]


HIGH = make_priority_class("high", 1000, "Never")
POD = make_pod("web-1").priority_class("high").cpu("500m").obj()


def test_additions_of_admission_and_defaults_are_listed_line_by_line() -> None:
    additions = admitted_lines(world(apply(HIGH, POD)), "Pod", "default/web-1")
    assert additions is not None
    assert [line for how, line in additions if how == "removed"] == []
    added = changes(additions)
    for line in ("priority: 1000", "preemptionPolicy: Never", "schedulerName: default-scheduler", "phase: Pending"):
        assert line in added
    kept = [line.strip() for how, line in additions if how == ""]
    assert {"name: web-1", "priorityClassName: high"} <= {*kept}


def test_the_additions_do_not_change_with_later_events() -> None:
    node = make_node("n1").capacity(cpu="4", pods=9).obj()
    additions = admitted_lines(world(apply(HIGH, POD, node), commands.Settle()), "Pod", "default/web-1")
    assert not any("nodeName" in line for line in changes(additions))


def test_a_second_apply_lists_its_own_additions() -> None:
    again = make_pod("web-1").priority_class("high").cpu("500m").label("tier", "front").obj()
    additions = admitted_lines(world(apply(HIGH, POD), apply(again)), "Pod", "default/web-1")
    assert additions is not None
    assert ("", "    tier: front") in additions


def test_a_long_manifest_is_compared_by_its_beginning() -> None:
    pod = make_pod("web-1").obj()
    env = [{"name": f"N{number}", "value": "x"} for number in range(3000)]
    pod["spec"]["containers"][0]["env"] = env
    additions = admitted_lines(world(apply(pod)), "Pod", "default/web-1")
    assert additions is not None
    assert 1_000 <= len(additions) < 2_001
    assert additions[-1][1].endswith("more lines, which are not compared")


def test_an_object_that_was_not_applied_has_no_additions() -> None:
    now = world(apply(HIGH, POD), commands.Delete("Pod", "default/web-1"))
    assert admitted_lines(now, "Pod", "default/web-1") is None
    assert admitted_lines(now, "Namespace", "default") is None
    assert not inspector(world(apply(HIGH)), View()).get("applied")


def test_the_inspector_offers_it_where_there_is_something_to_tell() -> None:
    now = world(apply(HIGH, POD, make_node("n1").capacity(cpu="4", pods=9).obj()))
    assert inspector(now, View(pod="default/web-1"))["applied"]
    assert inspector(now, View(node="n1"))["applied"]


def test_priority_classes_are_in_a_table_with_their_pods() -> None:
    usual = {**make_priority_class("usual", 5, default=True), "description": "for everybody"}
    data = workloads(world(apply(HIGH, usual, POD)), View())
    assert data["empty"], "there is no workload"
    assert [row["name"] for row in data["classes"][:2]] == ["system-node-critical", "system-cluster-critical"]
    assert [(row["name"], row["value"], row["default"], row["preempts"]) for row in data["classes"][2:]] == [
        ("high", 1000, False, False),
        ("usual", 5, True, True),
    ]
    assert [pod.name for pod in data["classes"][2]["pods"]] == ["web-1"]
    assert (data["classes"][3]["pods"], data["classes"][3]["description"]) == ([], "for everybody")


def test_many_priority_classes_come_in_pages() -> None:
    many = world(apply(*(make_priority_class(f"c{n:02}", n) for n in range(25))))
    first = workloads(many, View())["classes"]
    assert (len(first), first[2]["name"]) == (20, "c24")
    second = workloads(many, View(pages=(("workloads.classes", "2"),)))["classes"]
    assert [row["name"] for row in second] == ["c06", "c05", "c04", "c03", "c02", "c01", "c00"]
