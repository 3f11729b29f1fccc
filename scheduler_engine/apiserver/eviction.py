"""The eviction subresource: a DELETE that checks PodDisruptionBudgets first.

A success returns 200 OK, as in seed 002; the API server of v1.34.1 sends 201 Created, as for every create.
Source: seed 002 §11 (How API-initiated eviction works); upstream ``pkg/registry/core/pod/storage/eviction.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_engine.api.budgets import selection
from scheduler_engine.api.conditions import condition_set
from scheduler_engine.api.objects import KubeObject, Pod, timestamp
from scheduler_engine.apiserver.errors import ApiError, forbidden, internal_error, not_found, too_many_requests
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.trace.events import EvictionAnswered
from scheduler_engine.versions import Rules

BUDGET = "PodDisruptionBudget"
MAX_DISRUPTED_PODS = 2000
SEVERAL_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
SYNC_FAILED = "SyncFailed"
EVICTED_BY = ("EvictionByEvictionAPI", "Eviction API: evicting")


@dataclass(frozen=True, slots=True)
class Answer:
    """``code`` 200 = the pod is being deleted. ``cause`` explains a 429; ``budgets`` are keys of those that count."""

    code: int
    message: str = ""
    cause: str = ""
    budgets: tuple[str, ...] = ()


def evict(api: ApiServer, pod_key: str, drained_node: str = "") -> Answer:
    """Handle an Eviction, trace and return the answer. ``drained_node``: the drain that requests it.

    Raises ApiError when the pod does not exist.
    """
    pod = api.pod(pod_key)
    if pod is None:
        raise not_found("pods", pod_key.rpartition("/")[2])
    late, answer = pod.terminating, _answer(api, pod)
    api.recorder.add(
        EvictionAnswered(pod_key, answer.code, answer.message, answer.cause, answer.budgets, drained_node, late)
    )
    return answer


def _answer(api: ApiServer, pod: Pod) -> Answer:
    if pod.finished or pod.terminating or pod.phase in ("", "Pending"):
        api.delete("Pod", pod.key)
        return Answer(200)
    budgets = budgets_of(api, pod)
    keys = tuple(budget.key for budget in budgets)
    try:
        _ask(api, pod, budgets)
    except ApiError as refusal:
        return Answer(refusal.code, refusal.message, _cause(budgets[0], api.rules) if refusal.code == 429 else "", keys)
    api.delete_pod(pod.key, *EVICTED_BY)
    return Answer(200, budgets=keys)


def budgets_of(api: ApiServer, pod: Pod) -> list[KubeObject]:
    """Return the budgets that select a pod."""
    budgets = api.list(BUDGET, pod.namespace)
    return [budget for budget in budgets if selection(budget).holds(pod.namespace, pod.labels)]


def _ask(api: ApiServer, pod: Pod, budgets: list[KubeObject]) -> None:
    """Take one disruption from the pod's budget. Raises ApiError when none is left."""
    if len(budgets) > 1:
        raise internal_error(SEVERAL_BUDGETS)
    if not budgets or _does_not_count(pod, budgets[0]):
        return
    budget, status = budgets[0], budgets[0].status
    allowed, disrupted = status.get("disruptionsAllowed") or 0, status.get("disruptedPods") or {}
    if allowed < 0:
        raise forbidden("poddisruptionbudgets.policy", budget.name, "pdb disruptions allowed is negative")
    if len(disrupted) > MAX_DISRUPTED_PODS:
        text = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise forbidden("poddisruptionbudgets.policy", budget.name, text)
    if allowed == 0:
        raise too_many_requests(VIOLATES)
    granted = {**disrupted, pod.name: timestamp(api.recorder.now_us)}
    changes: dict[str, Any] = {"disruptionsAllowed": allowed - 1, "disruptedPods": granted}
    if allowed == 1:
        held, now_us = status.get("conditions") or [], api.recorder.now_us
        changes["conditions"] = condition_set(held, now_us, "DisruptionAllowed", "False", "InsufficientPods")
    api.patch(BUDGET, budget.key, {"status": changes})


def _does_not_count(pod: Pod, budget: KubeObject) -> bool:
    """Return True if a pod that is not ready may go freely: its budget says so or is healthy without it."""
    if pod.condition_status("Ready") == "True":
        return False
    current, desired = budget.status.get("currentHealthy") or 0, budget.status.get("desiredHealthy") or 0
    return budget.spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow" or current >= desired > 0


def _cause(budget: KubeObject, rules: Rules) -> str:
    needed, there = budget.status.get("desiredHealthy") or 0, budget.status.get("currentHealthy") or 0
    if rules.names_reason_of_budget and not explained_by_numbers(budget.status):
        condition, text = _refusing(budget.status), "does not allow evicting pods currently"
        reason, message = condition.get("reason") or "", condition.get("message") or ""
        why = f" because it failed sync: {message}" if reason == SYNC_FAILED else f" ({reason}): {message}"
        return f"The disruption budget {budget.name} {text}{why if message else ''}"
    return f"The disruption budget {budget.name} needs {needed} healthy pods and has {there} currently"


def _refusing(status: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the condition of a budget that says why it allows no disruption, {} without one."""
    conditions = (item for item in status.get("conditions") or () if item.get("type") == "DisruptionAllowed")
    return next((item for item in conditions if item.get("status") == "False"), {})


def explained_by_numbers(status: Mapping[str, Any]) -> bool:
    """Return True if a budget refuses an eviction because it has no more healthy pods than it needs."""
    condition = _refusing(status)
    unknown = condition.get("reason") == SYNC_FAILED and bool(condition.get("message"))
    return not unknown and (status.get("currentHealthy") or 0) <= (status.get("desiredHealthy") or 0)
