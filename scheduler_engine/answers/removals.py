"""Changes that take a pod from its node: delete it, or let its owner want one pod fewer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_engine.answers.changes import Change, Edit, change
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.facts import Keys
from scheduler_engine.simulation import Simulation

COUNTS = {
    "Deployment": "replicas",
    "ReplicaSet": "replicas",
    "ReplicationController": "replicas",
    "StatefulSet": "replicas",
    "Job": "parallelism",
}
"""Kind of an owner → the field of its spec with the number of its pods."""
MOST_REMOVED = 3
"""Pods of which one is taken away; of several with the same owner only the first."""


def removals(simulation: Simulation, pods: Iterable[Pod]) -> Iterator[Change]:
    """Yield what takes one of these pods away, of the first few. Which one an owner takes away is for the proof."""
    chosen: dict[object, Pod] = {}
    for pod in pods:
        if len(chosen) < MOST_REMOVED:
            chosen.setdefault((pod.controller_ref or {}).get("uid", pod.key), pod)
    for pod in chosen.values():
        yield deletion(pod)
        owner = top_owner(simulation, pod)
        if owner is not None:
            yield from _fewer(owner, pod)


def deletion(pod: Pod) -> Change:
    owner = pod.controller_ref
    owned = {} if owner is None else {"owner": f"{owner.get('kind')} {owner.get('name')}"}
    edits = [Edit("Pod", pod.key, "delete")]
    return change("delete", edits, pod.priority, pod=Keys((pod.key,)), node=pod.node_name, **owned)


def top_owner(simulation: Simulation, item: KubeObject) -> KubeObject | None:
    """Return the controller that no other one controls; None if nobody makes the object again."""
    found = None
    while (reference := item.controller_ref) is not None:
        above = simulation.api.get(str(reference.get("kind")), f"{item.namespace}/{reference.get('name')}")
        if above is None or above.uid != reference.get("uid"):
            break
        found = item = above
    return found


def _fewer(owner: KubeObject, pod: Pod) -> Iterator[Change]:
    field = COUNTS.get(owner.kind)
    if field is None or owner.terminating:
        return
    held = owner.spec.get(field)
    number = 1 if held is None else int(held)
    if number > 0:
        edit = Edit(owner.kind, owner.key, "set", ("spec", field), number - 1)
        yield change("scale", [edit], pod.priority, owner=f"{owner.kind} {owner.name}", had=number, number=number - 1)
