"""Tables for spreadsheets: all rows, the same facts as the panels, and no formulas."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from sandbox.panels import PANELS, TABLES, tables
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from scheduler_engine import commands
from scheduler_engine.scenario import play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.installed import SCENARIOS
from tests.sandbox.scenarios import advance, world_after


def rows(world: World, name: str, view: View | None = None) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(tables.as_csv(TABLES[name](world, view or View())), newline="")))


def world_of(slug: str) -> World:
    scenario = SCENARIOS[slug]
    simulation = scenario.open()
    play(simulation, scenario.then)
    return World.fold(simulation.recorder.entries)


def many() -> World:
    simulation = Simulation(seed=1)
    nodes = [make_node(f"n{n}").capacity(cpu=str(1 + n % 4), memory="8Gi", pods=110).obj() for n in range(150)]
    simulation.execute(commands.Apply((*nodes, make_pod("web").cpu("2").obj())))
    simulation.execute(commands.Run())
    return World.fold(simulation.recorder.entries)


@pytest.mark.parametrize("name", TABLES)
def test_an_empty_sandbox_has_tables_of_a_header_alone(name: str) -> None:
    text = tables.as_csv(TABLES[name](World.fold(Simulation(seed=1).recorder.entries), View()))
    assert text.count("\r\n") == 1
    assert name in PANELS


def test_the_filter_table_has_all_nodes_of_the_search_not_a_page() -> None:
    world = many()
    listed = rows(world, "filter")
    table = world.cycles[-1].filter
    assert table is not None
    visited = [row for row in listed if row["verdict"] != "not visited"]
    assert [row["node"] for row in visited] == [row[0] for row in table.rows]
    assert len(listed) == 150
    assert {row["NodeResourcesFit"] for row in listed if row["verdict"] == "fail"} == {"fail"}
    assert {row["NodeName"] for row in visited} == {"pass"}
    assert {row["reasons"] for row in listed if row["verdict"] == "fail"} == {"Insufficient cpu"}


def test_the_scores_table_sums_up_to_the_totals_that_the_panel_shows() -> None:
    world = many()
    table = rows(world, "scores")
    for row in table:
        assert sum(int(value) for name, value in row.items() if name.endswith(" weighted")) == int(row["total"])
    shown = PANELS["scores"].stats(world, View())["rows"]
    assert [row["node"] for row in table][: len(shown)] == [row["node"] for row in shown]
    assert [row["node"] for row in table if row["selected"] == "yes"] == [world.pods["default/web"].node]
    assert len(table) > len(shown)


def test_the_table_of_a_preemption_names_victims_and_where_candidates_fell() -> None:
    world = world_of("high-priority-preemption")
    cycle = next(cycle for cycle in world.cycles if cycle.tried)
    view = View(cycle=cycle.number)
    table = rows(world, "preemption", view)
    chosen = [row for row in table if row["chosen"] == "yes"]
    assert len(chosen) == 1
    assert chosen[0]["victims"]
    assert {row["pod"] for row in table} == {cycle.pod}


def test_the_queue_table_has_each_lane_in_its_order() -> None:
    simulation = Simulation(seed=1)
    pods = [make_pod(f"p{n}").priority(n).obj() for n in range(5)]
    simulation.execute(commands.Apply((*pods, make_pod("gated").gate("example.com/x").obj())))
    world = World.fold(simulation.recorder.entries)
    table = rows(world, "queues")
    assert [row["pod"] for row in table if row["lane"] == "activeQ"] == [f"default/p{n}" for n in (4, 3, 2, 1, 0)]
    assert [(row["lane"], row["gating plugin"]) for row in table[5:]] == [("gated", "SchedulingGates")]


def test_the_tables_of_events_nodes_and_evictions_hold_what_happened() -> None:
    world = world_of("eviction-two-budgets")
    evictions = rows(world, "evictions")
    assert [row["code"] for row in evictions] == [str(request.code) for request in world.evictions.requests.values()]
    assert "500" in {row["code"] for row in evictions}
    assert len(rows(world, "events")) == len(world.kube_events)
    nodes = rows(world, "nodes")
    assert {row["node"] for row in nodes} == set(world.nodes)
    assert all(int(row["pods requested"]) == len(world.pods_of(row["node"])) for row in nodes)


def test_actions_of_kubelets_are_in_the_table_of_evictions() -> None:
    layer = {"kind": "usage", "pod": "default/writer", "writable_layer": "19Gi"}
    table = rows(world_after("two-disks", advance(10), layer, advance(10)), "evictions")
    cells = [(row["what"], row["pod"], row["node"], row["first asked"], row["leaves"], row["then"]) for row in table]
    assert cells == [
        ("kubelet", "", "node1", "20.0", "", "reclaimed"),
        ("kubelet", "", "node1", "20.0", "", "reclaimed"),
        ("kubelet", "default/writer", "node1", "20.0", "21.0", "evicted"),
    ]
    assert "That freed 8Gi, which was not enough." in table[-1]["message"]


def test_plans_of_taints_are_in_the_table_of_evictions() -> None:
    world = world_of("node-unreachable")
    plans = [row for row in rows(world, "evictions") if row["what"] == "plan"]
    assert len(plans) == len(world.evictions.plans) > 0
    assert all(row["taint"].startswith("node.kubernetes.io/") for row in plans)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_text_that_a_spreadsheet_would_work_out_is_a_text(text: str) -> None:
    ((first, *numbers),) = csv.reader(io.StringIO(tables.as_csv([[text, -1, 0.5]]), newline=""))
    assert first == f"'{text}"
    assert numbers == ["-1", "0.5"]


def test_odd_texts_are_one_cell() -> None:
    row: list[Any] = ['a "quoted", text', "two\r\nlines", "集群"]
    assert list(csv.reader(io.StringIO(tables.as_csv([row]), newline=""))) == [row]
