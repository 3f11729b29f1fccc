"""Admission by a kubelet: whether it accepts a pod that is bound to its node, or fails it there.

It checks once, before the pod starts. Source: upstream ``pkg/kubelet/eviction/eviction_manager.go`` (Admit),
``pkg/kubelet/lifecycle/predicate.go``, ``pkg/scheduler/eventhandlers.go`` (AdmissionCheck) and
``pkg/kubelet/preemption/preemption.go``. Not here: topology, cpu and memory managers, sysctls, supplemental groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from scheduler_engine.api.critical_pods import is_critical, is_mirror, is_static, preemptable
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.pod_resources import amount, is_extended_resource, pod_requests
from scheduler_engine.api.qos import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_class
from scheduler_engine.api.rejected_pods import rejection
from scheduler_engine.api.taints import MEMORY_PRESSURE, Taint, first_untolerated, tolerated
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.plugins import node_affinity, node_ports
from scheduler_engine.plugins.node_resources_fit import Lacking, Wanted, lacking_resources, wanted_from
from scheduler_engine.versions import Rules

PRESSURES = ("DiskPressure", "MemoryPressure", "PIDPressure")
OS_LABEL = "kubernetes.io/os"
LINUX = "linux"
UNTOLERATED = "node(s) had taints that the pod didn't tolerate"

PREEMPTING = "Preempting"
PREEMPTED = "Preempted in order to admit critical pod"
PREEMPTED_CONDITION = "Pod was preempted by Kubelet to accommodate a critical pod."


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a kubelet rejects a pod: a reason and a message."""

    reason: str
    message: str

    @property
    def status_message(self) -> str:
        return rejection(self.message)


@dataclass(frozen=True, slots=True)
class Victims:
    """Pods that a kubelet ends to make room for a critical pod."""

    pods: tuple[Pod, ...]


def admit(pod: Pod, node: Node, there: NodeInfo, rules: Rules) -> Refusal | Victims | None:
    """Return None if the kubelet accepts ``pod``; ``there``: the node with its accepted pods that have not finished.

    A mirror pod is never refused: its original is already there.
    """
    if is_mirror(pod):
        return None
    for check in CHECKS:
        refusal = check(pod, node, rules)
        if refusal is not None:
            return refusal
    return _general(pod, node, there, rules)


def _pressure(pod: Pod, node: Node, rules: Rules) -> Refusal | None:
    """Reject pods that are not critical: under memory pressure alone those without requests, else all."""
    there = [kind for kind in PRESSURES if node.condition_status(kind) == "True"]
    if not there or is_critical(pod):
        return None
    if there == ["MemoryPressure"] and (
        qos_class(pod.spec) != BEST_EFFORT
        or tolerated(Taint(MEMORY_PRESSURE), pod.tolerations, rules.tolerations_compare)
    ):
        return None
    return Refusal("Evicted", f"The node had condition: [{' '.join(there)}]. ")


def _operating_system(pod: Pod, node: Node, rules: Rules) -> Refusal | None:
    runs = node.labels.get(OS_LABEL, LINUX)
    if pod.labels.get(OS_LABEL, runs) != runs:
        text = f"Failed to admit pod as the `{OS_LABEL}` label doesn't match node label"
        return Refusal("PodOSSelectorNodeLabelDoesNotMatch", text)
    if (pod.spec.get("os") or {}).get("name", runs) != runs:
        return Refusal("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS")
    return None


CHECKS: tuple[Callable[[Pod, Node, Rules], Refusal | None], ...] = (_pressure, _operating_system)


def _general(pod: Pod, node: Node, info: NodeInfo, rules: Rules) -> Refusal | Victims | None:
    """Check what the scheduler checks, and taints with NoExecute."""
    lacking = lacking_resources(_known_here(wanted_from(pod), info), info)
    failed = list(_failed_predicates(pod, node, info, rules))
    if is_critical(pod) and lacking and not failed:
        return _room_for(pod, [other.pod for other in info.pods], lacking)
    if lacking and not is_critical(pod):
        first = lacking[0]
        text = (
            f"Node didn't have enough resource: {first.resource}, requested: {first.requested}, "
            f"used: {first.used}, capacity: {first.capacity}"
        )
        return Refusal(f"OutOf{first.resource}", text)
    return next((Refusal(name, f"Predicate {name} failed: {why}") for name, why in failed), None)


def _known_here(wanted: Wanted, info: NodeInfo) -> Wanted:
    """Remove extended resources that the node does not know: another component manages those."""
    scalar = tuple(
        item for item in wanted.scalar if not is_extended_resource(item[0]) or item[0] in info.allocatable.scalar
    )
    return Wanted(wanted.milli_cpu, wanted.memory, wanted.ephemeral_storage, scalar)


def _failed_predicates(pod: Pod, node: Node, info: NodeInfo, rules: Rules) -> Iterator[tuple[str, str]]:
    if not pod.required_node_affinity.matches(node.name, node.labels):
        yield "NodeAffinity", node_affinity.REASON_POD
    if node_ports.ports_conflict(pod.host_ports, info.used_ports):
        yield "NodePorts", node_ports.REASON
    compares = rules.tolerations_compare
    if not is_static(pod) and first_untolerated(node.taints, pod.tolerations, ("NoExecute",), compares) is not None:
        yield "TaintToleration", UNTOLERATED


# --- room for a critical pod ------------------------------------------------------------------------------------------

Needs = dict[str, int]
"""Resource → how much of it is missing."""


def _room_for(pod: Pod, others: Sequence[Pod], lacking: Sequence[Lacking]) -> Refusal | Victims:
    """Choose whom to end: as few as possible, those without requests before those with, guaranteed ones last."""
    needs = {item.resource: item.requested - (item.capacity - item.used) for item in lacking}
    groups = {
        qos: [other for other in others if preemptable(pod, other) and qos_class(other.spec) == qos]
        for qos in (BEST_EFFORT, BURSTABLE, GUARANTEED)
    }
    left = _less(needs, *(other for group in groups.values() for other in group))
    if left:
        listed = "".join(f"(res: {name}, q: {number}), " for name, number in left.items())
        text = (
            "Unexpected error while attempting to recover from admission failure: preemption: error finding a set of "
            f"pods to preempt: no set of running pods found to reclaim resources: [{listed}]"
        )
        return Refusal("UnexpectedAdmissionError", text)
    guaranteed = _nearest(groups[GUARANTEED], _less(needs, *groups[BEST_EFFORT], *groups[BURSTABLE]))
    burstable = _nearest(groups[BURSTABLE], _less(needs, *groups[BEST_EFFORT], *guaranteed))
    best_effort = _nearest(groups[BEST_EFFORT], _less(needs, *burstable, *guaranteed))
    return Victims((*best_effort, *burstable, *guaranteed))


def _nearest(pods: Sequence[Pod], needs: Needs) -> list[Pod]:
    """Choose one by one the pod that leaves the smallest part of the needs open, of equal ones the smallest."""
    left, chosen = list(pods), list[Pod]()
    while needs:
        best = min(
            left, key=lambda pod: (_distance(pod, needs), _request(pod, "memory"), _request(pod, "cpu"), pod.key)
        )
        left.remove(best)
        chosen.append(best)
        needs = _less(needs, best)
    return chosen


def _distance(pod: Pod, needs: Needs) -> float:
    open_shares = (max(number - _request(pod, name), 0) / number for name, number in needs.items())
    return sum(share**2 for share in open_shares)


def _less(needs: Needs, *pods: Pod) -> Needs:
    """Return what is still missing without ``pods``."""
    rest = {name: number - sum(_request(pod, name) for pod in pods) for name, number in needs.items()}
    return {name: number for name, number in rest.items() if number > 0}


def _request(pod: Pod, resource: str) -> int:
    return 1 if resource == "pods" else amount(resource, pod_requests(pod).get(resource, 0))
