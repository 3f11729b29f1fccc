"""Binding cycles beside the scheduling cycle."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import View
from sandbox.panels.bindings import stats
from sandbox.panels.queues.panel import stats as queues
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox.scenarios import panel_html, world_of


def cluster(*faults: commands.Fault) -> Simulation:
    simulation = Simulation()
    objects = [make_node("n1").obj(), *(make_pod(f"web-{number}").obj() for number in (1, 2))]
    simulation.execute(commands.Apply(tuple(objects)))
    for fault in faults:
        simulation.execute(fault)
    return simulation


def rows(simulation: Simulation) -> list[dict[str, Any]]:
    return list(stats(world_of(simulation), View())["rows"])


PERMIT = commands.Fault("NodeResourcesFit", "permit", "wait", 15)


def test_a_pod_that_waits_on_permit_has_its_time_and_can_be_allowed() -> None:
    simulation = cluster(PERMIT)
    simulation.execute(commands.Settle())
    simulation.execute(commands.Advance(3))
    (row,) = rows(simulation)
    assert (row["name"], row["node"], row["text"]) == ("web-1", "n1", "waits on Permit: NodeResourcesFit")
    assert (row["left"], row["ring"], row["allow"]) == ("12 s left", 80, True)


def test_an_allowed_pod_goes_on_and_leaves_the_list_when_it_is_bound() -> None:
    simulation = cluster(PERMIT)
    simulation.execute(commands.Settle())
    simulation.execute(commands.Allow("default/web-1"))
    (row,) = rows(simulation)
    assert (row["text"], row["left"], row["allow"]) == ("allowed: WaitOnPermit is next", "", False)
    simulation.execute(commands.Settle())
    assert rows(simulation) == []


@pytest.mark.parametrize(
    ("point", "plugin", "text"),
    [
        pytest.param("preBind", "VolumeBinding", "PreBind is not ready: VolumeBinding, injected delay", id="PreBind"),
        pytest.param("bind", "DefaultBinder", "Bind is slow: DefaultBinder, injected delay", id="Bind"),
    ],
)
def test_a_plugin_that_takes_its_time_holds_up_one_pod_with_a_countdown(point: str, plugin: str, text: str) -> None:
    simulation = cluster(commands.Fault(plugin, point, "wait", 5))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Advance(2))
    (row,) = rows(simulation)
    assert (row["name"], row["text"], row["left"], row["ring"]) == ("web-1", text, "3 s left", 60)
    simulation.execute(commands.Advance(3))
    assert rows(simulation) == []


def test_several_bindings_are_in_flight_at_once() -> None:
    simulation = cluster(PERMIT, commands.Fault("DefaultBinder", "bind", "wait", 5))
    simulation.execute(commands.Settle())
    assert [(row["name"], row["stage"]) for row in rows(simulation)] == [("web-1", "WaitOnPermit"), ("web-2", "Bind")]


def test_between_the_stages_a_row_names_the_next_one() -> None:
    simulation = cluster()
    simulation.execute(commands.Stage())
    while not rows(simulation):
        simulation.execute(commands.Stage())
    texts = []
    while table := rows(simulation):
        texts.append(table[0]["text"])
        simulation.execute(commands.Stage())
    assert texts == ["PreBind is next", "Bind is next", "bound in the API server: PostBind is next"]


def test_a_binding_pod_is_marked_in_the_queue() -> None:
    simulation = cluster(PERMIT)
    simulation.execute(commands.Settle())
    flying = queues(world_of(simulation), View())["lanes"][0]["cards"]
    assert [(card["name"], card["age"]) for card in flying] == [("web-1", "binding")]


def test_a_watcher_cannot_allow() -> None:
    simulation = cluster(PERMIT)
    simulation.execute(commands.Settle())
    world = world_of(simulation)
    assert ["Allow" in panel_html("bindings", world, can_edit) for can_edit in (True, False)] == [True, False]


def test_the_pod_is_drawn_as_a_block() -> None:
    simulation = cluster(PERMIT)
    simulation.execute(commands.Settle())
    html = panel_html("bindings", world_of(simulation))
    assert '<span class="pod app-1 is-assumed" data-pod="default/web-1"' in html
