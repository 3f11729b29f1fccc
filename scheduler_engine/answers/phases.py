"""What a pending pod waits for that needs no change: its binding cycle, or the pods that it has preempted."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.answers.lasting import bound_after
from scheduler_engine.answers.looking import leading_schedulers
from scheduler_engine.api.objects import Pod
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Phase:
    """``node``: where the pod will run. ``permit``: the plugins that make it wait on Permit; ``stage``: the next one of
    its cycle, "" if it is in none; ``victims``: the pods that must be gone first.
    """

    node: str
    stage: str = ""
    permit: tuple[str, ...] = ()
    victims: tuple[str, ...] = ()


def phase_of(simulation: Simulation, pod: Pod) -> Phase | None:
    """Return what the pod waits for, or None if it has no node yet that is kept for it."""
    cycle = _placed(simulation, pod)
    if cycle is not None:
        return Phase(cycle.host, cycle.stage, tuple(cycle.waits) if cycle.stage == "WaitOnPermit" else ())
    node = pod.nominated_node_name
    leaving = [item.key for item in simulation.api.pods_on(node) if item.terminating] if node else []
    if leaving and bound_after(simulation, pod, ()) == node:
        return Phase(node, victims=tuple(leaving))
    return None


def _placed(simulation: Simulation, pod: Pod) -> Cycle | None:
    """Return the cycle in which a scheduler has assumed the pod, and has not rejected it since."""
    for scheduler in leading_schedulers(simulation):
        for cycle in (*scheduler.bindings, scheduler.cycle):
            if cycle is None or cycle.assumed is None or cycle.pod.uid != pod.uid:
                continue
            return None if cycle.rejected_because else cycle
    return None
