"""Check that a change lets a pod run for good: make it on a copy, and let everybody act until all has settled.

A controller may make a deleted pod again, and the new pod may take the room. Pods that wait already do not compete:
they would make an answer about one pod depend on all others. Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_engine import commands
from scheduler_engine.answers.changes import Edit, commands_for
from scheduler_engine.answers.looking import is_pending, scratch
from scheduler_engine.api.objects import Pod
from scheduler_engine.simulation import Simulation

MOST_CYCLES = 200
"""Cycles that one run may take."""


def bound_after(simulation: Simulation, pod: Pod, edits: Sequence[Edit]) -> str:
    """Return the pod's node once all has settled after the edits, "" if it has none then. Raises Rejected.

    The edits are made by their commands, with grace periods. ``simulation`` stays as it is.
    """
    copied = scratch(simulation)
    _hold_back_others(copied, pod)
    for command in commands_for(copied, edits):
        copied.execute(command)
    if not _runs(copied, pod):
        # No event has woken it: the scheduler tries it again within minutes, without any.
        _activate(copied, pod)
        _runs(copied, pod)
    after = copied.api.pod(pod.key)
    return after.node_name if after is not None else ""


def _runs(copied: Simulation, pod: Pod) -> bool:
    """Run until all has settled. Return True if the pod has a node, or is gone."""
    copied.execute(commands.Run(MOST_CYCLES))
    after = copied.api.pod(pod.key)
    return after is None or bool(after.node_name)


def _hold_back_others(copied: Simulation, pod: Pod) -> None:
    """Take the other waiting pods out of the queue. Nominated pods stay: Filter counts them on their node."""
    for other in copied.api.pods():
        if is_pending(other) and other.key != pod.key and not other.nominated_node_name:
            for member in copied.replicas.leaders():
                if member.scheduler is not None:
                    member.scheduler.queue.delete(other)


def _activate(copied: Simulation, pod: Pod) -> None:
    after = copied.api.pod(pod.key)
    for member in copied.replicas.leaders():
        if member.scheduler is not None and after is not None:
            member.scheduler.queue.activate((after,))
