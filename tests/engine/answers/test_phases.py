"""Pods that need no change: they are being bound, wait on Permit, or wait for the pods that they preempt."""

from __future__ import annotations

import pytest

from scheduler_engine import commands
from scheduler_engine.answers.fix_phrases import needless
from scheduler_engine.api.objects import Pod
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

P = "default/p"


def cluster(*manifests: object) -> Simulation:
    simulation = Simulation()
    made = (make_node("n").capacity(cpu="2", pods="9").obj(), *(item.obj() for item in manifests))  # type: ignore[attr-defined]
    simulation.execute(commands.Apply(made))
    return simulation


def pod(simulation: Simulation) -> Pod:
    found = simulation.api.pod(P)
    assert found is not None
    return found


def stages_of(simulation: Simulation) -> list[str]:
    """Step through the attempt of the pod. Return what is said after each stage, each text once."""
    said: dict[str, None] = {}
    while not pod(simulation).node_name:
        said[needless(simulation, pod(simulation))] = None
        simulation.execute(commands.Stage())
    return [*said, needless(simulation, pod(simulation))]


def test_a_pod_says_at_which_stage_of_its_binding_it_is() -> None:
    simulation = cluster(make_pod("p").cpu("1"))
    assert stages_of(simulation) == [
        "",
        "default/p is being bound to n: Reserve is next.",
        "default/p is being bound to n: Permit is next.",
        "default/p is being bound to n: PreBind is next.",
        "default/p is being bound to n: Bind is next.",
        "default/p is not pending.",
    ]


def test_a_pod_that_waits_on_permit_says_for_whom() -> None:
    simulation = cluster(make_pod("p").cpu("1"))
    simulation.execute(commands.Fault("ImageLocality", "permit", "wait", seconds=60))
    simulation.execute(commands.Settle())
    text = "default/p waits on Permit: ImageLocality. If it is allowed in time, it is bound to n."
    assert needless(simulation, pod(simulation)) == text


def test_a_pod_that_is_preempted_while_it_waits_on_permit_is_not_being_bound() -> None:
    simulation = cluster(make_pod("p").cpu("2"))
    simulation.execute(commands.Fault("ImageLocality", "permit", "wait", seconds=60))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Apply((make_pod("top").cpu("2").priority(9).obj(),)))
    while not simulation.scheduler.bindings[0].rejected_because:
        simulation.execute(commands.Stage())
    assert needless(simulation, pod(simulation)) == ""


def test_a_pod_waits_for_the_pods_that_it_preempts() -> None:
    simulation = cluster(make_pod("low").cpu("2").node("n"), make_pod("p").cpu("2").priority(9))
    simulation.execute(commands.PodCycle())
    assert needless(simulation, pod(simulation)) == "default/p is nominated to n, and waits until low is gone."
    simulation.execute(commands.Run())
    assert needless(simulation, pod(simulation)) == "default/p is not pending."


@pytest.mark.parametrize("action", ["kill", "pause"])
def test_without_a_scheduler_no_change_helps(action: str) -> None:
    simulation = cluster(make_pod("p").cpu("9"))
    simulation.execute(commands.Run())
    assert needless(simulation, pod(simulation)) == ""
    simulation.execute(commands.Replicas(1, leader_elect=False))
    simulation.execute(commands.Replica("kube-scheduler-1", action))
    assert needless(simulation, pod(simulation)).startswith("No running replica leads")
