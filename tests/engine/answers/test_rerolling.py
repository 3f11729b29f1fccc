"""Draws under other seeds are those of the engine: what it would have chosen with that seed."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from scheduler_engine import commands
from scheduler_engine.answers.looking import scratch
from scheduler_engine.answers.rerolling import reroll
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import CommandGiven, HostSelected
from tests.engine.histories import some
from tests.engine.paths import History, played
from tests.engine.random_clusters import cluster, crowded

DRAWS = 20


def alike(seed: int) -> list[commands.Command]:
    """Return a history of equal nodes, with a choice in the middle and at the start of a command."""
    nodes = tuple(make_node(f"n{number}").capacity(cpu="8", pods="9").obj() for number in range(2 + seed % 3))
    pods = tuple(make_pod(f"p{number}").cpu("1").obj() for number in range(3))
    return [commands.Apply((*nodes, *pods)), *[commands.Stage()] * 7, commands.Run()]


@pytest.mark.parametrize(
    ("history", "way"), [(cluster, "highest"), (crowded, "only"), (alike, "draw"), (alike, "start")]
)
def test_the_engine_itself_draws_under_each_seed(history: History, way: str) -> None:
    ways = Counter[str]()
    for seed in some(range(12), 5):
        simulation = played(seed, full=True, history=history)
        before = trace_digest(simulation)
        chosen = [item for item in enumerate(simulation.recorder.entries) if isinstance(item[1].event, HostSelected)]
        chosen.sort(key=lambda item: item[1].event.how != "draw")
        for index, entry in chosen[:4]:
            event = entry.event
            assert isinstance(event, HostSelected)
            if isinstance(simulation.recorder.entries[index - 1].event, CommandGiven):
                index -= 1
                ways["start"] += 1
            found = reroll(simulation, event.cycle, DRAWS)
            assert found is not None
            assert (found.node, found.tied) == (event.node, event.ties)
            assert found.wins == {**dict.fromkeys(event.ties, 0), **drawn(simulation.as_of(index))}
            ways[event.how] += 1
        assert trace_digest(simulation) == before
    assert ways[way], ways


def drawn(standing: Simulation) -> Counter[str]:
    """Step copies of a simulation under other seeds, and count the nodes that they choose."""
    wins = Counter[str]()
    for seed in range(DRAWS):
        twin = scratch(standing)
        twin.scheduler.random = Random(seed)
        twin.execute(commands.Stage())
        last = [entry.event for entry in twin.recorder.entries if isinstance(entry.event, HostSelected)][-1]
        wins[last.node] += 1
    return wins


def equal_nodes() -> Simulation:
    simulation = Simulation(full=False)
    equal = [make_node(name).capacity(cpu="8", pods="9").obj() for name in ("a1", "b1", "c1")]
    worse = make_node("d1").capacity(cpu="4", pods="9").obj()
    simulation.execute(commands.Apply((*equal, worse, make_pod("p").cpu("2").obj())))
    return simulation


def test_each_of_three_equal_nodes_wins_about_one_in_three() -> None:
    simulation = equal_nodes()
    simulation.execute(commands.Run())
    found = reroll(simulation, 1, 3000)
    assert found is not None
    assert found.tied == ("a1", "b1", "c1")
    assert all(900 < wins < 1100 for wins in found.wins.values()), found.wins
    assert (found.runner_up, found.node) == ("d1", simulation.api.pods()[0].node_name)
    assert found.margin is not None
    assert found.margin > 0


def test_a_running_cycle_can_be_drawn_before_it_chooses() -> None:
    simulation = equal_nodes()
    for _ in range(4):
        simulation.execute(commands.Stage())
        found = reroll(simulation, 1, 10)
        assert found is not None
        assert sum(found.wins.values()) == 10
    simulation.execute(commands.Run())
    assert found.node == simulation.api.pods()[0].node_name


def test_a_cycle_that_chooses_no_node_cannot_be_drawn() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n").capacity(cpu="1", pods="9").obj(), make_pod("p").cpu("2").obj())))
    simulation.execute(commands.Stage())
    assert reroll(simulation, 1, 10) is None
    simulation.execute(commands.Run())
    assert reroll(simulation, 1, 10) is None
    assert reroll(simulation, 99, 10) is None
