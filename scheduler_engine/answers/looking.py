"""Try a pod now, on a copy: only PreFilter and Filter, or in a cycle of its own.

Source: design of the sandbox; the stages are the scheduler's own (``scheduler/search.py``).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.framework.runtime import Framework
from scheduler_engine.framework.status import Status, unresolvable
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.fit_error import NO_NODES_AVAILABLE, Diagnosis, fit_message
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.scheduler.search import ask_extenders, search_everywhere
from scheduler_engine.simulation import Simulation


@dataclass(slots=True)
class Look:
    """The verdicts on all nodes, whatever percentageOfNodesToScore says.

    ``feasible``: the names of nodes that pass, in nodeTree order; ``statuses``: node → why it fails; ``message``: the
    FitError's text, "" if a node passes, or the error of a plugin, which ends the look: there are no verdicts then.
    ``state`` and ``framework`` answer the ``explain_`` methods of plugins about this look.
    """

    pod: Pod
    framework: Framework
    state: CycleState
    feasible: tuple[str, ...] = ()
    statuses: Mapping[str, Status] | None = None
    pre_filter: Status | None = None
    message: str = ""


def is_pending(pod: Pod) -> bool:
    """Return True if it has no node, and nothing has ended it."""
    return not (pod.node_name or pod.finished or pod.terminating)


def scratch(simulation: Simulation) -> Simulation:
    """Return a copy to try something on: with a lean trace, and without the history that undoes commands.

    It has the engine's state at this instant, also in mid-cycle.
    """
    twin = copy.deepcopy(simulation)
    twin.history, twin.recorder.full = None, False
    return twin


def look(simulation: Simulation, pod: Pod) -> Look | None:
    """Return what PreFilter and Filter say about a pod on each node now; None: no profile has its scheduler name.

    The pod need not exist. ``simulation`` must be a scratch copy: its scheduler takes a new snapshot. Scheduling gates
    and other pods in the queue do not count, nominated pods do.
    """
    scheduler = simulation.scheduler
    framework = scheduler.profiles.get(pod.scheduler_name)
    if framework is None:
        return None
    scheduler.cache.update_snapshot(scheduler.snapshot, scheduler.cycle_count)
    nodes, looked = scheduler.snapshot.list(), Look(pod, framework, CycleState())
    diagnosis = Diagnosis()
    if not nodes:
        looked.pre_filter, looked.message = unresolvable(NO_NODES_AVAILABLE), NO_NODES_AVAILABLE
        return looked
    narrowed, status, narrowing = framework.run_pre_filter_plugins(looked.state, pod, nodes)
    diagnosis.unschedulable_plugins = dict.fromkeys(narrowing)
    if status is not None:
        looked.pre_filter, looked.message = status, status.message
        if status.is_rejected:
            diagnosis.node_to_status.absent, diagnosis.pre_filter_message = status, status.message
            looked.message = fit_message(len(nodes), diagnosis)
        return looked
    names = None if narrowed is None else narrowed.node_names
    search = search_everywhere(framework, scheduler.snapshot, looked.state, pod, diagnosis, names)
    if not simulation.extenders.transports:
        # All extenders are simulated: to ask them is a part of looking.
        ask_extenders(framework, pod, search)
    if search.failure:
        looked.message = search.failure
        return looked
    looked.feasible = tuple(info.name for info in search.feasible)
    looked.statuses = diagnosis.node_to_status.statuses
    looked.message = "" if looked.feasible else fit_message(len(nodes), diagnosis)
    return looked


def leading_schedulers(simulation: Simulation) -> list[Scheduler]:
    """Return the schedulers that lead, such as two for a moment after a partition."""
    return [member.scheduler for member in simulation.replicas.leaders() if member.scheduler is not None]


def begin_cycle(simulation: Simulation, pod: Pod) -> Cycle:
    """Start a scheduling cycle for a pod at once, past all that wait in the queue. Its first stage is the next one.

    ``simulation`` must be a scratch copy with a profile for the pod.
    """
    scheduler = simulation.scheduler
    for leading in leading_schedulers(simulation):
        leading.queue.delete(pod)
    info = QueuedPodInfo(PodInfo(pod))
    scheduler.queue.active_q.start_attempt(info)
    scheduler.numbers.count += 1
    percentage = scheduler.configuration.percentage_of_nodes_to_score or 0
    cycle = Cycle(scheduler.cycle_count, info, scheduler.profiles[pod.scheduler_name], "Snapshot", percentage)
    scheduler.cycle = scheduler.latest = cycle
    return cycle
