"""Cluster events: what happened to which kind of object, as far as queueing hints need it.

Source: upstream ``framework/types.go`` and ``framework/events.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntFlag
from typing import Any

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.pod_resources import pod_requests
from scheduler_engine.api.quantity import Quantity, parse_quantity
from scheduler_engine.records import record
from scheduler_engine.versions import DEFAULT_RULES, Rules

WILDCARD = "*"
NODE, POD = "Node", "Pod"
ASSIGNED_POD, UNSCHEDULABLE_POD = "AssignedPod", "UnschedulablePod"
"""Pods with a node, and pods without; plugins register for ``Pod`` and get both."""


class ActionType(IntFlag):
    """Bits for the kinds of change; plugins register for combinations."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_POD_LABEL = 128
    UPDATE_POD_SCALE_DOWN = 256
    UPDATE_POD_TOLERATION = 512
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1024
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 2048
    UPDATE_NODE_DECLARED_FEATURE = 4096

    UPDATE = (
        UPDATE_NODE_ALLOCATABLE
        | UPDATE_NODE_LABEL
        | UPDATE_NODE_TAINT
        | UPDATE_NODE_CONDITION
        | UPDATE_NODE_ANNOTATION
        | UPDATE_POD_LABEL
        | UPDATE_POD_SCALE_DOWN
        | UPDATE_POD_TOLERATION
        | UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        | UPDATE_POD_GENERATED_RESOURCE_CLAIM
        | UPDATE_NODE_DECLARED_FEATURE
    )
    ALL = ADD | DELETE | UPDATE


@record(frozen=True, slots=True)
class ClusterEvent:
    """``resource`` as Kubernetes names it (Node, AssignedPod, UnschedulablePod, Pod, PersistentVolume, ``*`` …).

    ``label`` overrides the name used in metrics and traces (the scheduler's own causes, such as ``BackoffComplete``).
    """

    resource: str
    action: ActionType
    label: str = ""

    def __str__(self) -> str:
        return self.label or self.resource + ACTION_NAMES.get(self.action, "Update")


ACTION_NAMES: dict[ActionType, str] = {
    ActionType.ADD: "Add",
    ActionType.DELETE: "Delete",
    ActionType.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    ActionType.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    ActionType.UPDATE_NODE_TAINT: "UpdateNodeTaint",
    ActionType.UPDATE_NODE_CONDITION: "UpdateNodeCondition",
    ActionType.UPDATE_NODE_ANNOTATION: "UpdateNodeAnnotation",
    ActionType.UPDATE_POD_LABEL: "UpdatePodLabel",
    ActionType.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    ActionType.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "UpdatePodGeneratedResourceClaim",
    ActionType.UPDATE_NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    ActionType.UPDATE: "Update",
    ActionType.ALL: "All",
}


def spelled_out(event: ClusterEvent) -> tuple[str, ...]:
    """List the parts of a registration: ``Node/Add``, ``Node/UpdateNodeLabel``, ``PersistentVolume/Update`` …"""
    left, names = event.action, {}
    for action in reversed(ACTION_NAMES):
        if left & action == action:
            names[action] = f"{event.resource.rpartition('/')[2]}/{ACTION_NAMES[action]}"
            left &= ~action
    return tuple(name for action, name in sorted(names.items()))


SCHEDULE_ATTEMPT_FAILURE = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POP_FROM_BACKOFF_Q = "PopFromBackoffQ"
"""Causes of a move that are not cluster events."""

ASSIGNED_POD_ADD = ClusterEvent(ASSIGNED_POD, ActionType.ADD)
ASSIGNED_POD_DELETE = ClusterEvent(ASSIGNED_POD, ActionType.DELETE)
UNSCHEDULED_POD_ADD = ClusterEvent(UNSCHEDULABLE_POD, ActionType.ADD)
UNSCHEDULED_POD_UPDATE = ClusterEvent(UNSCHEDULABLE_POD, ActionType.UPDATE)
UNSCHEDULED_POD_DELETE = ClusterEvent(UNSCHEDULABLE_POD, ActionType.DELETE)
UNSCHEDULABLE_TIMEOUT = ClusterEvent(WILDCARD, ActionType.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(WILDCARD, ActionType.ALL, "ForceActivate")


def is_wildcard(event: ClusterEvent) -> bool:
    """Return True for the event that concerns pods rejected by any plugin."""
    return event.resource == WILDCARD and event.action == ActionType.ALL


def matches(registered: ClusterEvent, incoming: ClusterEvent) -> bool:
    """Return True if ``incoming`` equals ``registered`` or is more specific, as UpdateNodeLabel is to Update."""
    return is_wildcard(registered) or (
        _resource_matches(registered.resource, incoming.resource)
        and bool(registered.action & incoming.action)
        and incoming.action <= registered.action
    )


def matches_any(registered: Iterable[ClusterEvent], incoming: ClusterEvent) -> bool:
    return any(matches(event, incoming) for event in registered)


def _resource_matches(registered: str, incoming: str) -> bool:
    return registered in (WILDCARD, incoming) or (registered == POD and incoming in (ASSIGNED_POD, UNSCHEDULABLE_POD))


# --- specific events of an update ------------------------------------------------------------------------------------


def node_scheduling_properties_change(new: Node, old: Node, rules: Rules = DEFAULT_RULES) -> tuple[ClusterEvent, ...]:
    """Return the specific events of a node update, in Kubernetes' order; () if nothing relevant changed."""
    changes = NODE_CHANGES_WITH_FEATURES if rules.checks_declared_features else NODE_CHANGES
    return tuple(ClusterEvent(NODE, action) for action, changed in changes if changed(new, old))


def pod_scheduling_properties_change(new: Pod, old: Pod) -> tuple[ClusterEvent, ...]:
    """Return the specific events of a pod update, in Kubernetes' order, or else the general Update."""
    resource = ASSIGNED_POD if new.node_name else UNSCHEDULABLE_POD
    actions = [action for action, changed in POD_CHANGES if changed(new, old)]
    return tuple(ClusterEvent(resource, action) for action in actions or (ActionType.UPDATE,))


def _uncordoned(new: Node, old: Node) -> bool:
    return old.unschedulable and not new.unschedulable


def _allocatable_changed(new: Node, old: Node) -> bool:
    return _amounts(new.allocatable) != _amounts(old.allocatable)


def _labels_changed(new: Node | Pod, old: Node | Pod) -> bool:
    return new.labels != old.labels


def taints_changed(new: Node, old: Node) -> bool:
    """Return True if any taint differs, even if only in the time it was added."""
    return new.taints != old.taints or _taint_times(new) != _taint_times(old)


def _conditions_changed(new: Node, old: Node) -> bool:
    return _condition_statuses(new) != _condition_statuses(old)


def _annotations_changed(new: Node, old: Node) -> bool:
    return new.annotations != old.annotations


def declared_features(node: Node) -> tuple[str, ...]:
    """Return the features that the kubelet of ``node`` declares, in the order of the list."""
    return tuple(node.status.get("declaredFeatures") or ())


def _features_changed(new: Node, old: Node) -> bool:
    return declared_features(new) != declared_features(old)


def _scaled_down(new: Pod, old: Pod) -> bool:
    """Return True if a request shrank or went away."""
    if new.requests_text == old.requests_text:
        return False
    asked, before = pod_requests(new), pod_requests(old)
    return any(
        name not in asked or Quantity(nano).milli_value() > Quantity(asked[name]).milli_value()
        for name, nano in before.items()
    )


def _gates_eliminated(new: Pod, old: Pod) -> bool:
    return bool(old.scheduling_gates) and not new.scheduling_gates


def _tolerations_changed(new: Pod, old: Pod) -> bool:
    """Compare the counts: tolerations can only be added."""
    return len(new.tolerations) != len(old.tolerations)


def _generated_claims_changed(new: Pod, old: Pod) -> bool:
    return _claim_statuses(new) != _claim_statuses(old)


def _amounts(quantities: dict[str, Any]) -> dict[str, int]:
    return {name: parse_quantity(quantity).nano for name, quantity in quantities.items()}


def _taint_times(node: Node) -> list[str | None]:
    return [taint.get("timeAdded") for taint in node.spec.get("taints") or ()]


def _condition_statuses(node: Node) -> dict[str, str]:
    return {item.get("type", ""): item.get("status", "") for item in node.status.get("conditions") or ()}


def _claim_statuses(pod: Pod) -> tuple[list[tuple[str, str | None]], Any]:
    listed = pod.status.get("resourceClaimStatuses") or ()
    named = [(item.get("name", ""), item.get("resourceClaimName")) for item in listed]
    return named, pod.status.get("extendedResourceClaimStatus")


NODE_CHANGES: tuple[tuple[ActionType, Callable[[Node, Node], bool]], ...] = (
    (ActionType.UPDATE_NODE_TAINT, _uncordoned),
    (ActionType.UPDATE_NODE_ALLOCATABLE, _allocatable_changed),
    (ActionType.UPDATE_NODE_LABEL, _labels_changed),
    (ActionType.UPDATE_NODE_TAINT, taints_changed),
    (ActionType.UPDATE_NODE_CONDITION, _conditions_changed),
    (ActionType.UPDATE_NODE_ANNOTATION, _annotations_changed),
)
"""(event, predicate on (new node, old node))"""
NODE_CHANGES_WITH_FEATURES = (*NODE_CHANGES, (ActionType.UPDATE_NODE_DECLARED_FEATURE, _features_changed))

POD_CHANGES: tuple[tuple[ActionType, Callable[[Pod, Pod], bool]], ...] = (
    (ActionType.UPDATE_POD_LABEL, _labels_changed),
    (ActionType.UPDATE_POD_SCALE_DOWN, _scaled_down),
    (ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, _gates_eliminated),
    (ActionType.UPDATE_POD_TOLERATION, _tolerations_changed),
    (ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM, _generated_claims_changed),
)
"""(event, predicate on (new pod, old pod))"""
