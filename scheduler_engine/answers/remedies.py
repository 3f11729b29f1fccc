"""What would remove one obstacle that keeps a pod off a node: a table from plugin to remedies.

An obstacle is one thing that a filter objects to: a taint, a resource, a label, a constraint. It has alternatives: the
changes each of which removes it. ``fixes`` combines and proves them.
Source: design of the sandbox; the conditions are those of the plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from scheduler_engine.answers import remedies_claims, remedies_devices, remedies_near, remedies_resources
from scheduler_engine.answers.changes import Change, Edit, change
from scheduler_engine.answers.looking import Look
from scheduler_engine.answers.remedies_labels import AFFINITY, of_node_affinity
from scheduler_engine.answers.seen import Seen
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.taints import UNSCHEDULABLE, Taint, tolerated
from scheduler_engine.framework.status import Code
from scheduler_engine.simulation import Simulation

DO_NOT_SCHEDULE = ("NoSchedule", "NoExecute")
Obstacle = tuple[Change, ...]


def obstacles(seen: Seen) -> list[Obstacle] | None:
    """Return each obstacle on the node, with its alternatives; None: one of them has none, or a filter breaks."""
    found: dict[tuple[tuple[str, str], ...], Obstacle] = {}
    for plugin, status in seen.failing().items():
        remedy = of_nothing if status.code is Code.ERROR else REMEDIES.get(plugin, of_nothing)
        listed = [tuple(alternatives) for alternatives in remedy(seen)]
        if not listed or not all(listed):
            return None
        # Two filters may have the same objection: a cordon and its taint.
        found |= {tuple(item.identity for item in alternatives): alternatives for alternatives in listed}
    return [*found.values()]


def of_nothing(seen: Seen) -> Iterator[Obstacle]:
    yield from ()


def of_taints(seen: Seen) -> Iterator[Obstacle]:
    """Yield one obstacle for each taint that the pod does not tolerate."""
    compares = seen.simulation.rules.tolerations_compare
    for taint in seen.node.taints:
        if taint.effect in DO_NOT_SCHEDULE and not tolerated(taint, seen.pod.tolerations, compares):
            if taint.key == UNSCHEDULABLE and seen.node.unschedulable:
                yield _cordon(seen)
            else:
                yield _tolerate(seen, taint), _untaint(seen, taint)


def of_volumes(seen: Seen) -> Iterator[Obstacle]:
    yield tuple(remedies_claims.of_claims(seen.simulation, seen.pod))


def of_cordon(seen: Seen) -> Iterator[Obstacle]:
    yield _cordon(seen)


def _cordon(seen: Seen) -> Obstacle:
    taints = [item for item in seen.node.spec.get("taints") or () if item["key"] == UNSCHEDULABLE]
    dropped = [Edit("Node", seen.node.name, "drop", ("spec", "taints"), item) for item in taints]
    edit = Edit("Node", seen.node.name, "set", ("spec", "unschedulable"), None)
    uncordon = change("uncordon", [edit, *dropped], node=seen.node.name)
    return uncordon, _tolerate(seen, Taint(UNSCHEDULABLE))


def _tolerate(seen: Seen, taint: Taint) -> Change:
    wanted = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    if not taint.value:
        wanted = {"key": taint.key, "operator": "Exists", "effect": taint.effect}
    return change("tolerate", [seen.edit("append", ("spec", "tolerations"), wanted)], taint=taint.text)


def _untaint(seen: Seen, taint: Taint) -> Change:
    held = next(item for item in seen.node.spec["taints"] if (item["key"], item["effect"]) == (taint.key, taint.effect))
    edit = Edit("Node", seen.node.name, "drop", ("spec", "taints"), held)
    return change("untaint", [edit], node=seen.node.name, taint=taint.text)


REMEDIES: Mapping[str, Callable[[Seen], Iterator[Obstacle]]] = {
    "NodeUnschedulable": of_cordon,
    "TaintToleration": of_taints,
    "NodeAffinity": of_node_affinity,
    "NodePorts": remedies_near.of_ports,
    "NodeResourcesFit": remedies_resources.of_resources,
    "PodTopologySpread": remedies_near.of_spread,
    "InterPodAffinity": remedies_near.of_affinity,
    "DynamicResources": remedies_devices.of_devices,
    **dict.fromkeys(("VolumeBinding", "VolumeZone", "VolumeRestrictions", "NodeVolumeLimits"), of_volumes),
}
"""Plugin → the obstacles that it sees on a node."""


def before_nodes(simulation: Simulation, looked: Look) -> Iterator[Change]:
    """Yield what may satisfy the plugin that refused the pod before any node was asked."""
    plugin = looked.pre_filter.plugin if looked.pre_filter is not None else ""
    yield from BEFORE_NODES.get(plugin, of_nobody)(simulation, looked.pod)


def of_nobody(simulation: Simulation, pod: Pod) -> Iterator[Change]:
    yield from ()


def without_node_affinity(simulation: Simulation, pod: Pod) -> Iterator[Change]:
    yield change("no-node-affinity", [Edit("Pod", pod.key, "set", AFFINITY)])


BEFORE_NODES: Mapping[str, Callable[[Simulation, Pod], Iterator[Change]]] = {
    "NodeAffinity": without_node_affinity,
    "DynamicResources": remedies_claims.without_resource_claims,
    **dict.fromkeys(
        ("VolumeBinding", "VolumeZone", "VolumeRestrictions", "NodeVolumeLimits"), remedies_claims.of_claims
    ),
}
"""Plugin → what may help if its PreFilter refuses the pod."""
