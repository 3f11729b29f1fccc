"""Commands about nodes in trouble and about evictions: what they check, and what they write to the API server.

Source: seed 002 §5, §10 and §11.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from scheduler_engine import commands
from scheduler_engine.api.objects import merge, timestamp
from scheduler_engine.api.simulated import KUBELET_CONFIGURATION, USAGE, amount_problem
from scheduler_engine.api.validation import validate
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.eviction import evict
from scheduler_engine.apiserver.store import resource_of, with_condition
from scheduler_engine.controllers.node_lifecycle import CONDITION_TAINTS
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.kubelet.configuration import load_kubelet_configuration
from scheduler_engine.kubelet.node import CONDITION_TEXTS
from scheduler_engine.trace.events import EvictionAnswered

if TYPE_CHECKING:
    from scheduler_engine.simulation import Simulation

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
"""Node condition → (reason, message) when it is True, and when it is False."""


def node_condition(simulation: Simulation, command: commands.NodeCondition) -> None:
    if command.type not in CONDITION_TAINTS:
        raise Rejected(f"unknown node condition {command.type!r}: {', '.join(CONDITION_TAINTS)}")
    if command.status not in STATUSES:
        raise Rejected(f"status: must be {', '.join(STATUSES)}")
    node = simulation.api.get("Node", command.node)
    if node is None:
        raise Rejected(f'nodes "{command.node}" not found')
    held = node.status.get("conditions") or []
    if any(item.get("type") == command.type and item.get("status") == command.status for item in held):
        return
    pressed, relieved = REASONS[command.type]
    reason, message = {"True": pressed, "False": relieved}.get(command.status, UNKNOWN)
    condition = {"type": command.type, "status": command.status, "reason": reason, "message": message}
    condition["lastTransitionTime"] = timestamp(simulation.now_us)
    _patch(simulation, "Node", command.node, {"status": {"conditions": with_condition(held, condition)}})


def taint(simulation: Simulation, command: commands.Taint) -> None:
    node = simulation.api.get("Node", command.node)
    if node is None:
        raise Rejected(f'nodes "{command.node}" not found')
    held = list(node.spec.get("taints") or [])
    others = [item for item in held if (item.get("key"), item.get("effect")) != (command.key, command.effect)]
    if not command.on and len(others) == len(held):
        raise Rejected(f'taint "{command.key}:{command.effect}" not found')
    if command.on:
        given = {"key": command.key, "value": command.value, "effect": command.effect}
        others.append({name: text for name, text in given.items() if text})
    changed = {"spec": {"taints": others or None}}
    errors = validate(merge(node.manifest, changed))
    if errors:
        raise Rejected(errors)
    _patch(simulation, "Node", command.node, changed)


def usage(simulation: Simulation, command: commands.Usage) -> None:
    if bool(command.pod) == bool(command.node):
        raise Rejected("usage: name either a pod or a node")
    given = {name: getattr(command, name) for name in commands.AMOUNTS if getattr(command, name) is not None}
    problems = [(name, amount_problem(text)) for name, text in given.items()]
    errors = [FieldError(name, "FieldValueInvalid", problem) for name, problem in problems if problem]
    if errors:
        raise Rejected(errors)
    kind, key = ("Pod", command.pod) if command.pod else ("Node", command.node)
    annotations = {USAGE[name]: text for name, text in given.items()}
    _patch(simulation, kind, key, {"metadata": {"annotations": annotations}})


def kubelet(simulation: Simulation, command: commands.KubeletConfigure) -> None:
    written = None
    if command.configuration is not None:
        load_kubelet_configuration(command.configuration)
        written = json.dumps(command.configuration, sort_keys=True)
    _patch(simulation, "Node", command.node, {"metadata": {"annotations": {KUBELET_CONFIGURATION: written}}})


def rollout_restart(simulation: Simulation, command: commands.RolloutRestart) -> None:
    if command.object_kind not in RESTARTABLE:
        raise Rejected(
            f"restarting is not supported for a {command.object_kind}; {', '.join(RESTARTABLE)} have a rollout"
        )
    owner = simulation.api.get(command.object_kind, command.key)
    now = timestamp(simulation.now_us)
    if owner is not None:
        name = f'{resource_of(owner.kind)} "{owner.name}"'
        held = (owner.spec["template"].get("metadata") or {}).get("annotations") or {}
        if owner.spec.get("paused"):
            raise Rejected(f"{name} can't restart paused deployment (run rollout resume first)")
        if held.get(RESTARTED_AT) == now:
            raise Rejected(f"{name} was restarted within this very second; let time pass first")
    template = {"metadata": {"annotations": {RESTARTED_AT: now}}}
    _patch(simulation, command.object_kind, command.key, {"spec": {"template": template}})


def evict_pod(simulation: Simulation, command: commands.Evict) -> None:
    try:
        answer = evict(simulation.api, command.pod)
    except ApiError as problem:
        raise Rejected(problem.message) from problem
    told = EvictionAnswered(command.pod, answer.code, answer.message, answer.cause, answer.budgets, "")
    simulation.recorder.add(told)
    simulation.deliver()


def drain(simulation: Simulation, command: commands.Drain) -> None:
    try:
        if command.on:
            simulation.drainer.start(command.node)
        else:
            simulation.api.patch("Node", command.node, {"spec": {"unschedulable": None}})
    except ApiError as problem:
        raise Rejected(problem.message) from problem
    simulation.deliver()


def _patch(simulation: Simulation, kind: str, key: str, changes: Mapping[str, Any]) -> None:
    try:
        simulation.api.patch(kind, key, changes)
    except ApiError as problem:
        raise Rejected(problem.message) from problem
    simulation.deliver()


HANDLERS: dict[str, Callable[[Simulation, Any], None]] = {
    "node-condition": node_condition,
    "taint": taint,
    "usage": usage,
    "kubelet": kubelet,
    "rollout-restart": rollout_restart,
    "evict": evict_pod,
    "drain": drain,
}
