"""Quality-of-service classes and the resulting OOM scores.

Source: seed 002 §10 (Node out of memory behavior); upstream ``pkg/apis/core/v1/helper/qos`` and ``pkg/kubelet/qos``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.priorities import NODE_CRITICAL_PRIORITY
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.simulated import USAGE, amount_of

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"
COMPUTE = ("cpu", "memory")

GUARANTEED_OOM_SCORE_ADJ = -997
BEST_EFFORT_OOM_SCORE_ADJ = 1000

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
    """Return −997 (killed last) to 1000 (killed first); ``memory_capacity`` of the node in bytes."""
    qos = qos_class(pod.spec)
    if qos == GUARANTEED or pod.priority >= NODE_CRITICAL_PRIORITY:
        return GUARANTEED_OOM_SCORE_ADJ
    if qos == BEST_EFFORT or memory_capacity <= 0:
        return BEST_EFFORT_OOM_SCORE_ADJ
    request = parse_quantity(((container.get("resources") or {}).get("requests") or {}).get("memory", 0)).value()
    return min(max(2, 1000 - 1000 * request // memory_capacity), 999)


def oom_scores(pod: Pod, memory_capacity: int) -> list[tuple[str, str, int, int, int]]:
    """Return the OOM-score table of a pod: (container, QoS class, oom_score, oom_score_adj, effective score).

    ``oom_score`` is the share of the node's memory that a container uses, in thousandths; containers share the pod's
    simulated usage evenly. The container with the highest effective score is killed first.
    """
    used = (amount_of(pod.annotations, USAGE["memory"]) or 0) // max(len(pod.containers), 1)
    score = 1000 * used // memory_capacity if memory_capacity > 0 else 0
    rows = ((item.get("name", ""), oom_score_adj(pod, item, memory_capacity)) for item in pod.containers)
    return [(name, qos_class(pod.spec), score, adjust, score + adjust) for name, adjust in rows]
