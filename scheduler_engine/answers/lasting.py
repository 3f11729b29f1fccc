"""Check that a change lets a pod run for good: make it on a copy, and let everybody act until all has settled.

A controller may make a deleted pod again, and the new pod may take the room. Pods that wait already do not compete:
they would make an answer about one pod depend on all others. Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_engine import commands
from scheduler_engine.answers.changes import Edit, commands_for
from scheduler_engine.answers.looking import is_pending, leading_schedulers, scratch
from scheduler_engine.api.objects import Pod
from scheduler_engine.apiserver.volume_index import CLAIM
from scheduler_engine.simulation import Simulation
from scheduler_engine.timeline import SECOND_US

MOST_STEPS = 500
"""Instants at which something is due until the pod has a node, at least a second apart."""
VOLUMES_SECONDS = 5
"""How long a claim may take until its volume is there, or until only its first consumer is missing."""
AFTERWARDS_SECONDS = 60
"""How long others may still take the pod's place: they are tried again within 10 s."""


def bound_after(simulation: Simulation, pod: Pod, edits: Sequence[Edit]) -> str:
    """Return the pod's node once all has settled after the edits, "" if it has none then. Raises Rejected."""
    return _node_of(settled_after(simulation, pod, edits), pod.key)


def settled_after(simulation: Simulation, pod: Pod, edits: Sequence[Edit]) -> Simulation:
    """Return a copy in which all has settled after the edits, with only this pod waiting. Raises Rejected.

    The edits are made by their commands, with grace periods. ``simulation`` stays as it is.
    """
    copied = scratch(simulation)
    _hold_back_others(copied, pod)
    for command in commands_for(copied, edits):
        copied.execute(command)
    if not _gets_a_node(copied, pod.key):
        # No event has woken it: the scheduler tries it again within minutes, without any.
        _activate(copied, pod.key)
        _gets_a_node(copied, pod.key)
    if _node_of(copied, pod.key):
        copied.execute(commands.Advance(AFTERWARDS_SECONDS))
    return copied


def _node_of(copied: Simulation, key: str) -> str:
    pod = copied.api.pod(key)
    return pod.node_name if pod is not None else ""


def _gets_a_node(copied: Simulation, key: str) -> bool:
    """Let time pass until the pod has a node, or nothing is due within a day. Return True if it has one."""
    copied.execute(commands.Settle())
    for _ in range(MOST_STEPS):
        if _node_of(copied, key):
            return True
        due_us = copied.timeline.next_us()
        tomorrow_us = copied.now_us + commands.MAX_ADVANCE_SECONDS * SECOND_US
        works = copied.timeline.has_work(tomorrow_us) or copied.replicas.waits_for_time()
        if due_us is None or due_us > tomorrow_us or not works:
            return False
        passing_us = min(max(due_us - copied.now_us, SECOND_US), copied.patience_us())
        copied.execute(commands.Advance(passing_us / SECOND_US))
    return False


def settle_volumes(copied: Simulation, edits: Sequence[Edit]) -> None:
    """If the edits of a scratch copy change claims, let the volumes come, while no pod is scheduled."""
    if any(edit.kind in (CLAIM, "StorageClass") or "ephemeral" in edit.path for edit in edits):
        _hold_back_others(copied, None)
        copied.execute(commands.Advance(VOLUMES_SECONDS))


def _hold_back_others(copied: Simulation, pod: Pod | None) -> None:
    """Take the other waiting pods out of the queue. Nominated pods stay: Filter counts them on their node."""
    for other in copied.api.pods():
        if is_pending(other) and (pod is None or other.key != pod.key) and not other.nominated_node_name:
            for scheduler in leading_schedulers(copied):
                scheduler.queue.delete(other)


def _activate(copied: Simulation, key: str) -> None:
    pod = copied.api.pod(key)
    if pod is not None:
        for scheduler in leading_schedulers(copied):
            scheduler.queue.activate((pod,))
