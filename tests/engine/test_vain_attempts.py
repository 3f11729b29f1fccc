"""A run ends when only time could change something: pods that fail by an error are retried forever."""

from __future__ import annotations

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.time_commands import MOST_VAIN_ATTEMPTS
from scheduler_engine.trace import events as ev
from scheduler_engine.wording.entries import LINES


def without_nodes(pods: int) -> Simulation:
    simulation = Simulation(seed=1)
    manifests = [make_pod(f"p{number}").cpu("1").obj() for number in range(pods)]
    simulation.execute(commands.Apply(manifests=manifests))
    return simulation


def ended(simulation: Simulation) -> list[ev.RunEnded]:
    return [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, ev.RunEnded)]


@pytest.mark.parametrize("pods", [1, 3])
def test_without_a_node_a_run_ends_soon_and_says_why(pods: int) -> None:
    simulation = without_nodes(pods)
    simulation.execute(commands.Run())
    assert ended(simulation) == [ev.RunEnded(pods)]
    cycles = simulation.scheduler.cycle_count
    assert MOST_VAIN_ATTEMPTS * pods <= cycles <= (MOST_VAIN_ATTEMPTS + 2) * pods
    assert LINES[ev.RunEnded](ended(simulation)[0]).endswith("Only time could")


def test_a_run_that_ended_can_go_on_and_a_node_still_helps() -> None:
    simulation = without_nodes(2)
    simulation.execute(commands.Run())
    before = simulation.scheduler.cycle_count
    simulation.execute(commands.Advance(60))
    assert simulation.scheduler.cycle_count > before
    simulation.execute(commands.Apply(manifests=[make_node("n1").capacity(cpu="4", pods="9").obj()]))
    simulation.execute(commands.Run())
    assert [pod.node_name for pod in simulation.api.pods()] == ["n1", "n1"]
    assert len(ended(simulation)) == 1


def test_an_error_that_passes_does_not_end_a_run() -> None:
    simulation = Simulation(seed=1)
    manifests = [make_node("n1").capacity(cpu="4", pods="9").obj(), make_pod("p").cpu("1").obj()]
    simulation.execute(commands.Apply(manifests=manifests))
    simulation.execute(commands.Fault(plugin="VolumeBinding", point="reserve"))
    simulation.execute(commands.Run())
    assert [pod.node_name for pod in simulation.api.pods()] == ["n1"]
    assert ended(simulation) == []


def test_pods_that_fit_nowhere_wait_for_an_event_as_before() -> None:
    simulation = Simulation(seed=1)
    manifests = [make_node("n1").capacity(cpu="1", pods="9").obj(), make_pod("p").cpu("2").obj()]
    simulation.execute(commands.Apply(manifests=manifests))
    simulation.execute(commands.Run())
    assert simulation.scheduler.cycle_count == 1
    assert ended(simulation) == []
    with pytest.raises(Rejected):
        simulation.execute(commands.Stage())
