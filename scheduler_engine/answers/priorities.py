"""A higher priority as a remedy: proved by a real cycle that nominates a node, after which the pod gets one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler_engine.answers.changes import Change, Edit, change, make
from scheduler_engine.answers.lasting import bound_after
from scheduler_engine.answers.looking import begin_cycle, scratch
from scheduler_engine.api.objects import Pod
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation

STAGES = ("Snapshot", "PreFilter", "Filter", "PostFilter")
MOST_PRIORITIES = 6
LARGEST = 1_000_000_000
"""The largest priority of a class that is not the system's."""
Outcome = tuple[tuple[Change, ...], str, tuple[str, ...]]
"""The changes, the nominated node, and the victims."""


def preempting(simulation: Simulation, pod: Pod) -> Outcome | None:
    """Return the smallest change after which the pod preempts; no changes: it does so on its next attempt."""
    if pod.scheduler_name not in simulation.scheduler.profiles or pod.scheduling_gates:
        return None
    for changes in ((), *((item,) for item in _changes(simulation, pod))):
        edits = [edit for item in changes for edit in item.edits]
        try:
            nominated = nominates(simulation, pod, edits)
            if nominated is not None and bound_after(simulation, pod, edits):
                return (changes, *nominated)
        except Rejected:
            continue
    return None


def nominates(simulation: Simulation, pod: Pod, edits: Sequence[Edit]) -> tuple[str, tuple[str, ...]] | None:
    """Return the node that a cycle on a copy nominates after the edits, and the victims. Raises Rejected."""
    copied = scratch(simulation)
    make(copied, edits)
    after = copied.api.pod(pod.key)
    return attempt(copied, after) if after is not None else None


def attempt(copied: Simulation, pod: Pod) -> tuple[str, tuple[str, ...]] | None:
    """Let the scheduler of a scratch copy try the pod at once. Return the node it nominates and the victims."""
    cycle = begin_cycle(copied, pod)
    while cycle.stage in STAGES and cycle.post_filter is None:
        copied.scheduler.step()
    result = cycle.post_filter[0] if cycle.post_filter is not None else None
    if result is None or not result.nominated_node or not result.victims:
        return None
    return result.nominated_node, tuple(victim.key for victim in result.victims)


def _changes(simulation: Simulation, pod: Pod) -> Iterator[Change]:
    """Yield priorities above those of pods on nodes, the lowest first."""
    held = {other.priority: None for other in simulation.api.pods() if other.node_name and not other.finished}
    higher = sorted(value + 1 for value in held if pod.priority <= value < LARGEST)
    if pod.preemption_policy == "Never":
        # Only its class says so: another one with the same value may be enough.
        higher.insert(0, pod.priority)
    for value in higher[:MOST_PRIORITIES]:
        yield _raised(simulation, pod, value)


def _raised(simulation: Simulation, pod: Pod, least: int) -> Change:
    """Use the lowest PriorityClass with at least this value that may preempt, or a new one."""
    classes = [
        (int(item.manifest.get("value") or 0), item.name)
        for item in simulation.api.list("PriorityClass")
        if item.manifest.get("preemptionPolicy") != "Never" and least <= (item.manifest.get("value") or 0) <= LARGEST
    ]
    edits: list[Edit] = []
    if classes:
        value, name = min(classes)
    else:
        value, name = least, f"priority-{least}".replace("--", "-minus-")
        manifest = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        edits.append(Edit("PriorityClass", name, "create", value=manifest))
    edits += [
        Edit("Pod", pod.key, "set", ("spec", field), text)
        for field, text in (("priorityClassName", name), ("priority", None), ("preemptionPolicy", None))
    ]
    return change("priority", edits, value, name=name, priority=value)
