"""Commands about objects, nodes in trouble and evictions: their checks, and their writes to the API server.

Source: seed 002 §5, §10 and §11.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scheduler_engine import commands
from scheduler_engine.api.conditions import CONDITION_TAINTS, condition_set
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.fields import check_fields
from scheduler_engine.api.objects import KubeObject, timestamp
from scheduler_engine.api.simulated import HARD_EVICTION_GRACE, KUBELET_CONFIGURATION, USAGE, amount_problem
from scheduler_engine.api.validation import check_update, for_update, validate
from scheduler_engine.api.validation.pod_resize import resized
from scheduler_engine.apiserver.apply import check_same, cleared_in, desired, patched
from scheduler_engine.apiserver.declared_features import check_node_declares
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.eviction import evict
from scheduler_engine.apiserver.resize_limits import check_node_has
from scheduler_engine.apiserver.store import resource_of
from scheduler_engine.cluster import Cluster
from scheduler_engine.config.kubelet import load_kubelet_configuration
from scheduler_engine.controllers.disruption import SCALES
from scheduler_engine.controllers.drain_filters import Flags
from scheduler_engine.controllers.workload import WorkloadController
from scheduler_engine.errors import Rejected
from scheduler_engine.kubelet.node import CONDITION_TEXTS
from scheduler_engine.words import say

RESTARTABLE = ("Deployment", "StatefulSet", "DaemonSet")
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
STATUSES = ("True", "False", "Unknown")
UNKNOWN = ("NodeStatusUnknown", "Kubelet stopped posting node status.")
REASONS: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    **CONDITION_TEXTS,
    "Ready": (("KubeletReady", "kubelet is posting ready status"), ("KubeletNotReady", "kubelet is not ready")),
    "NetworkUnavailable": (
        ("NoRouteCreated", "Node created without a route"),
        ("RouteCreated", "RouteController created a route"),
    ),
}
"""Node condition → (reason, message) if it is True, and if it is False."""


def delete(cluster: Cluster, command: commands.Delete) -> None:
    with _asking(cluster):
        grace = None if command.grace_period_seconds < 0 else command.grace_period_seconds
        cluster.api.delete(command.object_kind, command.key, command.propagation_policy, grace)


def patch(cluster: Cluster, command: commands.Patch) -> None:
    with _asking(cluster):
        if command.subresource and command.object_kind != "Pod":
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
        live, wanted = patched(cluster.api, command.object_kind, command.key, command.changes)
        if command.subresource == "resize":
            if wrong := check_fields(wanted, live.kind, cluster.rules):
                raise Rejected(wrong)
            wanted = resized(live.manifest, wanted, cluster.rules)
        rules = for_update(cluster.rules, live.manifest)
        errors = validate(wanted, allow_privileged=cluster.allow_privileged, rules=rules)
        if errors:
            raise Rejected(errors)
        cleared = cleared_in(live, wanted, missing=True)
        old, new = desired(cluster.api, set_defaults(wanted), command.subresource, cleared)
        check_update(old.manifest, new, 0, command.subresource, cluster.allow_privileged, cluster.rules)
        if command.subresource == "resize":
            check_node_declares(cluster.api, old.manifest, new)
            check_node_has(cluster.api, old.manifest, new)
        cluster.check_size(new, old)
        cluster.api.update(new)


def replace(cluster: Cluster, command: commands.Replace) -> None:
    errors = validate(command.manifest, allow_privileged=cluster.allow_privileged, rules=cluster.rules)
    if errors:
        raise Rejected(errors)
    defaulted = set_defaults(command.manifest)
    checkpoint = cluster.api.checkpoint()
    with _asking(cluster):
        before = cluster.api.existing(command.object_kind, command.key)
        check_same(before, defaulted)
        try:
            cluster.api.remove(command.object_kind, command.key)
            cluster.create(command.manifest, defaulted, before=before)
        except (ApiError, Rejected):
            cluster.api.restore(checkpoint)
            raise


def cordon(cluster: Cluster, command: commands.Cordon) -> None:
    _patch(cluster, "Node", command.node, {"spec": {"unschedulable": True if command.on else None}})


def scale(cluster: Cluster, command: commands.Scale) -> None:
    if command.object_kind not in SCALES:
        raise Rejected(say("refusals.cannot-scale", kind=command.object_kind, kinds=", ".join(SCALES)))
    _patch(cluster, command.object_kind, command.key, {"spec": {"replicas": command.replicas}})


def node_condition(cluster: Cluster, command: commands.NodeCondition) -> None:
    if command.type not in CONDITION_TAINTS:
        known = ", ".join(CONDITION_TAINTS)
        raise Rejected(say("refusals.unknown-condition", condition=repr(command.type), conditions=known))
    if command.status not in STATUSES:
        raise Rejected([commands.wrong_field("status", say("refusals.must-be", what=", ".join(STATUSES)))])
    node = _node(cluster, command.node)
    if node.condition_status(command.type) == command.status:
        return
    pressed, relieved = REASONS[command.type]
    reason_and_message = {"True": pressed, "False": relieved}.get(command.status, UNKNOWN)
    held = node.status.get("conditions") or []
    conditions = condition_set(held, cluster.now_us, command.type, command.status, *reason_and_message)
    _patch(cluster, "Node", command.node, {"status": {"conditions": conditions}})


def taint(cluster: Cluster, command: commands.Taint) -> None:
    node = _node(cluster, command.node)
    held = list(node.spec.get("taints") or [])
    others = [item for item in held if (item.get("key"), item.get("effect")) != (command.key, command.effect)]
    if not command.on and len(others) == len(held):
        raise Rejected(say("refusals.no-such-taint", taint=f"{command.key}:{command.effect}"))
    if command.on:
        entries = {"key": command.key, "value": command.value, "effect": command.effect}
        others.append({name: text for name, text in entries.items() if text})
    changed = {"spec": {"taints": others or None}}
    errors = validate(patched(cluster.api, "Node", command.node, changed)[1], rules=cluster.rules)
    if errors:
        raise Rejected(errors)
    _patch(cluster, "Node", command.node, changed)


def usage(cluster: Cluster, command: commands.Usage) -> None:
    if bool(command.pod) == bool(command.node):
        raise Rejected(say("refusals.pod-or-node"))
    amounts = {name: getattr(command, name) for name in commands.AMOUNTS if getattr(command, name) is not None}
    problems = [(name, amount_problem(text)) for name, text in amounts.items()]
    errors = [commands.wrong_field(name, problem) for name, problem in problems if problem]
    if errors:
        raise Rejected(errors)
    kind, key = ("Pod", command.pod) if command.pod else ("Node", command.node)
    annotations = {USAGE[name]: text for name, text in amounts.items()}
    _patch(cluster, kind, key, {"metadata": {"annotations": annotations}})


def kubelet(cluster: Cluster, command: commands.KubeletConfigure) -> None:
    written = None
    if command.configuration is not None:
        load_kubelet_configuration(command.configuration)
        written = json.dumps(command.configuration, sort_keys=True)
    grace = None if command.hard_eviction_grace is None else str(command.hard_eviction_grace)
    annotations = {KUBELET_CONFIGURATION: written, HARD_EVICTION_GRACE: grace}
    _patch(cluster, "Node", command.node, {"metadata": {"annotations": annotations}})


def rollout_restart(cluster: Cluster, command: commands.RolloutRestart) -> None:
    if command.object_kind not in RESTARTABLE:
        known = ", ".join(RESTARTABLE)
        raise Rejected(say("refusals.cannot-restart", kind=command.object_kind, kinds=known))
    owner = cluster.api.get(command.object_kind, command.key)
    now = timestamp(cluster.now_us)
    if owner is not None:
        name = f'{resource_of(owner.kind)} "{owner.name}"'
        held = (owner.spec["template"].get("metadata") or {}).get("annotations") or {}
        if owner.spec.get("paused"):
            raise Rejected(f"{name} can't restart paused deployment (run rollout resume first)")
        if held.get(RESTARTED_AT) == now:
            raise Rejected(say("refusals.just-restarted", name=name))
    template = {"metadata": {"annotations": {RESTARTED_AT: now}}}
    _patch(cluster, command.object_kind, command.key, {"spec": {"template": template}})


def admission(cluster: Cluster, command: commands.Admission) -> None:
    """Switch the plugin. Owners whose pods were refused see no event for it, so notify them directly."""
    cluster.api.switch(command.plugin, command.enabled)
    for controller in cluster.controllers:
        if isinstance(controller, WorkloadController):
            controller.try_again()
    cluster.deliver()


def evict_pod(cluster: Cluster, command: commands.Evict) -> None:
    with _asking(cluster):
        evict(cluster.api, command.pod)


def bind_pod(cluster: Cluster, command: commands.Bind) -> None:
    with _asking(cluster):
        cluster.api.bind(command.pod, cluster.api.existing("Pod", command.pod).uid, command.node)


def drain(cluster: Cluster, command: commands.Drain) -> None:
    """Start a drain, or stop it and uncordon the node. The drain of a node that is gone can still be stopped."""
    with _asking(cluster):
        if command.on:
            flags = Flags(command.force, command.ignore_daemonsets, command.delete_emptydir_data)
            cluster.drainer.start(command.node, flags)
        elif not cluster.drainer.stop(command.node) or cluster.api.get("Node", command.node) is not None:
            cluster.api.patch("Node", command.node, {"spec": {"unschedulable": None}})


def _node(cluster: Cluster, name: str) -> KubeObject:
    node = cluster.api.get("Node", name)
    if node is None:
        raise Rejected(f'nodes "{name}" not found')
    return node


def _patch(cluster: Cluster, kind: str, key: str, changes: Mapping[str, Any]) -> None:
    with _asking(cluster):
        cluster.api.patch(kind, key, changes)


@contextmanager
def _asking(cluster: Cluster) -> Iterator[None]:
    """Turn refusals of the API server inside into Rejected; else deliver all events."""
    try:
        yield
    except ApiError as problem:
        raise Rejected(problem.message) from problem
    cluster.deliver()


HANDLERS: dict[str, Callable[[Cluster, Any], None]] = {
    "delete": delete,
    "patch": patch,
    "replace": replace,
    "cordon": cordon,
    "scale": scale,
    "node-condition": node_condition,
    "taint": taint,
    "usage": usage,
    "kubelet": kubelet,
    "rollout-restart": rollout_restart,
    "admission": admission,
    "evict": evict_pod,
    "bind": bind_pod,
    "drain": drain,
}
