"""A look for a place says what a cycle of the scheduler would say, and changes nothing."""

from __future__ import annotations

import pytest

from scheduler_engine import commands
from scheduler_engine.answers.looking import look, scratch
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.replay import trace_digest
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.fit_error import NO_NODES_AVAILABLE, fit_message
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine.paths import History, played
from tests.engine.random_clusters import cluster, configuration, crowded
from tests.engine.volume_histories import volumes


def real_attempt(simulation: Simulation, pod: Pod) -> tuple[list[str], dict[str, tuple[str, ...]], str]:
    """Let the scheduler try a pod at once. Return the feasible nodes, the reasons elsewhere, and the message."""
    twin = scratch(simulation)
    scheduler = twin.scheduler
    framework = scheduler.profiles[pod.scheduler_name]
    framework.percentage_of_nodes_to_score = 100
    cycle = scheduler.cycle = Cycle(scheduler.cycle_count, QueuedPodInfo(PodInfo(pod)), framework, "Snapshot", 100)
    while cycle.stage in ("Snapshot", "PreFilter", "Filter"):
        scheduler.step()
    search = cycle.search
    if search is None:
        return [], {}, fit_message(len(scheduler.snapshot.list()), cycle.diagnosis) if cycle.stage else "failed"
    reasons = {name: status.reasons for name, status in cycle.diagnosis.node_to_status.statuses.items()}
    feasible = [info.name for info in search.feasible]
    message = search.failure or ("" if feasible else fit_message(len(scheduler.snapshot.list()), cycle.diagnosis))
    return feasible, reasons, message


@pytest.mark.parametrize("history", [cluster, crowded, volumes])
@pytest.mark.parametrize("tens", range(2))
def test_a_look_agrees_with_an_attempt_of_the_scheduler(history: History, tens: int) -> None:
    compared = 0
    for seed in range(10 * tens, 10 * tens + 10):
        simulation = played(seed, full=True, history=history)
        before = trace_digest(simulation)
        for pod in simulation.api.pods():
            if pod.node_name or pod.finished or pod.nominated_node_name:
                continue
            looked = look(scratch(simulation), pod)
            if looked is None or (looked.pre_filter is not None and not looked.pre_filter.is_rejected):
                continue
            feasible, reasons, message = real_attempt(simulation, pod)
            shown = {name: status.reasons for name, status in (looked.statuses or {}).items()}
            assert (sorted(looked.feasible), shown, looked.message) == (sorted(feasible), reasons, message)
            compared += 1
        assert trace_digest(simulation) == before
    assert compared


PENDING = Pod(make_pod("p").cpu("1").obj())


def test_all_nodes_count_whatever_share_of_them_a_profile_scores() -> None:
    simulation = Simulation(configuration={**configuration(), "percentageOfNodesToScore": 1})
    nodes = tuple(make_node(f"n{number:03}").capacity(cpu="2", pods="9").obj() for number in range(300))
    simulation.execute(commands.Apply(nodes))
    looked = look(scratch(simulation), PENDING)
    assert looked is not None
    assert len(looked.feasible) == 300
    assert looked.message == ""


def test_a_cluster_without_nodes_has_no_place() -> None:
    looked = look(scratch(Simulation()), PENDING)
    assert looked is not None
    assert looked.message == NO_NODES_AVAILABLE


def test_nobody_looks_for_a_pod_of_an_unknown_scheduler() -> None:
    pod = Pod(make_pod("p").scheduler("other").obj())
    assert look(scratch(Simulation()), pod) is None
