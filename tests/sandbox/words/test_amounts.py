"""Amounts at their accepted limits can be drawn, in every panel and at every stage."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string

from sandbox.panels import PANELS, View, World
from sandbox.words.amounts import cores, memory, ratio, shown
from scheduler_engine import commands
from scheduler_engine.api.quantity import MOST_PLACES
from scheduler_engine.api.simulated import USAGE
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

LARGEST = "9" * MOST_PLACES
AMOUNTS = {
    "the largest amounts": (LARGEST, LARGEST),
    "amounts beyond 64 bits": ("1e19", "9223372036854775808"),
    "the largest binary amounts": ("9" * 200 + "Ei", "8Ei"),
    "a fraction of the largest amounts": (LARGEST, "1n"),
    "more than the capacity": ("1n", LARGEST),
    "nothing": ("0", "0"),
}
VIEWS = (View(), View(pod="default/web", layout="tiles", group="node", reasons="all"), View(node="n1", cycle=1))


def drawn(simulation: Simulation) -> str:
    world = World.fold(simulation.recorder.entries)
    world.clock_us = simulation.now_us
    return "".join(
        render_to_string(f"panels/{name}.html", {**panel.stats(world, view), "can_edit": True})
        for view in VIEWS
        for name, panel in PANELS.items()
    )


@pytest.mark.parametrize("words", AMOUNTS)
def test_accepted_amounts_can_be_drawn(words: str) -> None:
    held, wanted = AMOUNTS[words]
    simulation = Simulation()
    wants = {"cpu": wanted, "memory": wanted, "ephemeral-storage": wanted}
    pods = (make_pod(name).request(wants).limit({"example.com/gpu": "3"}) for name in ("web", "db"))
    resources = {"cpu": held, "memory": held, "pods": "110", "ephemeral-storage": held, "example.com/gpu": "1e119"}
    usage = dict.fromkeys((USAGE["cpu"], USAGE["memory"]), wanted)
    simulation.execute(commands.Apply((make_node("n1").capacity(resources).obj(), make_node("n2").obj())))
    simulation.execute(commands.Apply(tuple(pod.metadata(annotations=usage).obj() for pod in pods)))
    for _ in range(12):
        assert "cannot be shown" not in drawn(simulation)
        try:
            simulation.execute(commands.Stage())
        except Rejected:
            break
    simulation.execute(commands.Run())
    simulation.execute(commands.Advance(30))
    assert "web" in drawn(simulation)


def test_absurd_amounts_are_still_short() -> None:
    assert (cores(10**123), memory(10**119), shown("pods", 10**119), shown("cpu", 10**119), memory(3 << 60)) == (
        "1e+120",
        "8.67e+100Ei",
        "1e+119",
        "1e+119m",
        "3Ei",
    )
    assert (ratio("cpu", 10**120, 10**121), ratio("pods", 1, 10**119)) == ("1e+117/1e+118", "1/1e+119")
