"""Quality-of-service classes and the resulting OOM scores.

Source: seed 002 §10 (Node out of memory behavior), except for the lowest adjustment; upstream
``pkg/apis/core/v1/helper/qos`` and ``pkg/kubelet/qos``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import amount, request_parts
from scheduler_engine.api.priorities import NODE_CRITICAL_PRIORITY
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.simulated import USAGE, amount_of

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"
COMPUTE = ("cpu", "memory")

GUARANTEED_OOM_SCORE_ADJ = -997
BEST_EFFORT_OOM_SCORE_ADJ = 1000
LOWEST_BURSTABLE_OOM_SCORE_ADJ = 1000 + GUARANTEED_OOM_SCORE_ADJ

Amounts = dict[str, int]


def qos_class(spec: Mapping[str, Any]) -> str:
    """Return Guaranteed, Burstable or BestEffort, by cpu and memory of a pod's spec; pod-level resources come first."""
    levels = list(_levels(spec))
    if not any(requests or limits for requests, limits in levels):
        return BEST_EFFORT
    guaranteed = all(len(limits) == len(COMPUTE) and requests == limits for requests, limits in levels)
    return GUARANTEED if guaranteed else BURSTABLE


def _levels(spec: Mapping[str, Any]) -> Iterator[tuple[Amounts, Amounts]]:
    """Yield (requests, limits) of the pod as a whole, else of each container; only values above zero."""
    whole = spec.get("resources") or {}
    if whole.get("requests") or whole.get("limits"):
        yield _compute(whole.get("requests")), _compute(whole.get("limits"))
        return
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        limits = _compute(resources.get("limits"))
        yield {**limits, **_compute(resources.get("requests"))}, limits


def _compute(quantities: Mapping[str, Any] | None) -> Amounts:
    amounts = {name: parse_quantity((quantities or {}).get(name, 0)).nano for name in COMPUTE}
    return {name: nano for name, nano in amounts.items() if nano > 0}


def oom_score_adj(pod: Pod, container: Mapping[str, Any], memory_capacity: int) -> int:
    """Return −997 (killed last) to 1000 (killed first); ``memory_capacity`` of the node in bytes.

    A Burstable container counts its request and its share of what only the pod requests. A sidecar counts at least what
    the regular container with the smallest request counts, so that it is not killed before that one.
    """
    qos = qos_class(pod.spec)
    if qos == GUARANTEED or pod.priority >= NODE_CRITICAL_PRIORITY:
        return GUARANTEED_OOM_SCORE_ADJ
    if qos == BEST_EFFORT or memory_capacity <= 0:
        return BEST_EFFORT_OOM_SCORE_ADJ
    request = _memory_request(container)
    if container in _sidecars(pod):
        request = max(request, min(_memory_request(item) for item in pod.containers))
    request += _share_of_pod_request(pod)
    adjust = 1000 - 1000 * request // memory_capacity
    return min(max(LOWEST_BURSTABLE_OOM_SCORE_ADJ, adjust), BEST_EFFORT_OOM_SCORE_ADJ - 1)


def _memory_request(container: Mapping[str, Any]) -> int:
    return parse_quantity(((container.get("resources") or {}).get("requests") or {}).get("memory", 0)).value()


def _share_of_pod_request(pod: Pod) -> int:
    """Return the pod-level memory request that no container requests, divided by the number of containers."""
    parts = request_parts(pod, use_status=False)
    if not parts.pod_level.get("memory"):
        return 0
    rest = amount("memory", parts.pod_level["memory"]) - amount("memory", parts.containers().get("memory", 0))
    return rest // (len(pod.containers) + len(pod.init_containers))


def _sidecars(pod: Pod) -> list[Mapping[str, Any]]:
    return [item for item in pod.init_containers if item.get("restartPolicy") == "Always"]


def oom_scores(pod: Pod, memory_capacity: int) -> list[tuple[str, str, int, int, int]]:
    """Return the OOM-score table of a pod: (container, QoS class, oom_score, oom_score_adj, effective score).

    ``oom_score`` is the share of the node's memory that a container uses, in thousandths; containers share the pod's
    simulated usage evenly, sidecars too. The container with the highest effective score is killed first.
    """
    containers = [*pod.containers, *_sidecars(pod)]
    used = (amount_of(pod.annotations, USAGE["memory"]) or 0) // max(len(containers), 1)
    score = 1000 * used // memory_capacity if memory_capacity > 0 else 0
    rows = ((item.get("name", ""), oom_score_adj(pod, item, memory_capacity)) for item in containers)
    return [(name, qos_class(pod.spec), score, adjust, score + adjust) for name, adjust in rows]
