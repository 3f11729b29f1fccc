"""The disruption controller: keeps the status of PodDisruptionBudgets.

Source: seed 002 §9 (budgets in preemption) and §11 (budgets in API-initiated eviction); upstream
``pkg/controller/disruption``. An evictor notes the pod in ``status.disruptedPods``; a pod that still exists two
minutes later counts again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scheduler_engine.api.budgets import selection
from scheduler_engine.api.conditions import condition_set, is_ready
from scheduler_engine.api.labels import selector_from
from scheduler_engine.api.objects import KubeObject, Pod, time_us
from scheduler_engine.apiserver.store import resource_of
from scheduler_engine.apiserver.watching import Wants, WatchEvent, all_of
from scheduler_engine.controllers.keyed import KeyedController
from scheduler_engine.controllers.pod_state import same_for_owner
from scheduler_engine.controllers.workload import replicas_of, scaled
from scheduler_engine.timeline import SECOND_US

BUDGET = "PodDisruptionBudget"
DELETION_TIMEOUT_US = 120 * SECOND_US
SCALES = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")
"""Kinds with a scale."""
NOTHING_KNOWN = {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
OWNERS = (*SCALES, "DaemonSet", "Job")
UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the status of "
    "the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please "
    'set ".spec.minAvailable" field of the PDB to an integer value.'
)


def _alike(old: KubeObject, new: KubeObject) -> bool:
    """Return True if nothing that a budget counts has changed."""
    if isinstance(old, Pod) and isinstance(new, Pod):
        return same_for_owner(old, new)
    return old.kind in OWNERS and replicas_of(old) == replicas_of(new) and old.controller_ref == new.controller_ref


def _may_count(event: WatchEvent) -> bool:
    """Return True if a budget may count otherwise after the change of a pod or an owner."""
    return event.old is None or event.new is None or not _alike(event.old, event.new)


class UnknownScale(Exception):
    """The expected number of pods is unknown; the text says why."""


@dataclass(slots=True)
class DisruptionController(KeyedController):
    KIND: ClassVar[str] = BUDGET
    WANTS: ClassVar[Wants] = {**all_of(BUDGET), **dict.fromkeys(("Pod", *OWNERS), _may_count)}

    def notice(self, event: WatchEvent) -> None:
        for item in (event.old, event.new):
            if item is None:
                continue
            for budget in self.api.list(BUDGET, item.namespace):
                concerned = budget.key == item.key if event.kind == BUDGET else True
                if event.kind == "Pod":
                    concerned = selection(budget).holds(item.namespace, item.labels)
                if concerned:
                    self.enqueue(budget.key)

    def see_to(self, budget: KubeObject) -> None:
        holds = selection(budget).holds
        pods = [pod for pod in self.api.pods(budget.namespace) if holds(pod.namespace, pod.labels)]
        if not pods:
            self.tell_once(budget, "NoPods", "No matching pods found", "Normal")
        try:
            expected, desired = self._expected(budget, pods)
        except UnknownScale as problem:
            text = f"Failed to calculate the number of expected pods: {problem}"
            self.tell_once(budget, "CalculateExpectedPodCountFailed", text, "Warning")
            self._write(budget, {"disruptionsAllowed": 0}, "SyncFailed", str(problem))
            return
        disrupted = self._disrupted(budget, pods)
        healthy = [pod for pod in pods if not pod.terminating and pod.name not in disrupted and is_ready(pod)]
        allowed = max(len(healthy) - desired, 0) if expected > 0 else 0
        status = {
            "disruptionsAllowed": allowed,
            "currentHealthy": len(healthy),
            "desiredHealthy": desired,
            "expectedPods": expected,
        }
        self._write(budget, status, "SufficientPods" if allowed else "InsufficientPods", "", disrupted)

    def _write(
        self,
        budget: KubeObject,
        status: dict[str, int],
        reason: str,
        message: str,
        disrupted: dict[str, str] | None = None,
    ) -> None:
        word = "True" if status["disruptionsAllowed"] > 0 else "False"
        held = budget.status.get("conditions") or []
        conditions = condition_set(held, self.timeline.now_us, "DisruptionAllowed", word, reason, message)
        observed = {"observedGeneration": budget.metadata.get("generation")}
        changes = {**NOTHING_KNOWN, **budget.status, **status, **observed, "conditions": conditions}
        granted = budget.status.get("disruptedPods")
        if granted and disrupted is not None:
            changes["disruptedPods"] = {name: disrupted.get(name) for name in granted} if disrupted else None
        self.api.patch(BUDGET, budget.key, {"status": changes})

    # --- expected pods ---

    def _expected(self, budget: KubeObject, pods: list[Pod]) -> tuple[int, int]:
        """Return (pods expected, healthy pods wanted). Raises UnknownScale."""
        most_gone, least_there = budget.spec.get("maxUnavailable"), budget.spec.get("minAvailable")
        if most_gone is not None:
            expected = self._expected_scale(budget, pods)
            return expected, max(expected - scaled(most_gone, expected, round_up=True), 0)
        if isinstance(least_there, str):
            expected = self._expected_scale(budget, pods)
            return expected, scaled(least_there, expected, round_up=True)
        return (0, 0) if least_there is None else (len(pods), least_there)

    def _expected_scale(self, budget: KubeObject, pods: list[Pod]) -> int:
        """Return the sum of the replicas of all the pods' controllers."""
        scales: dict[str, int] = {}
        uids: dict[str, None] = {}
        unmanaged = False
        for pod in pods:
            if pod.controller_ref is None:
                unmanaged = True
            elif pod.controller_ref["uid"] not in uids:
                uids[pod.controller_ref["uid"]] = None
                owner = self._scaled_by(pod)
                scales[owner.uid] = replicas_of(owner)
        if unmanaged:
            text = UNMANAGED.format(selector_from(budget.spec["selector"]))
            self.tell_once(budget, "UnmanagedPods", text, "Warning")
        return sum(scales.values())

    def _scaled_by(self, pod: Pod) -> KubeObject:
        """Return the Deployment or other object with the pod's scale. Raises UnknownScale."""
        item: KubeObject = pod
        owner: KubeObject | None = None
        while (reference := item.controller_ref) is not None:
            if reference["kind"] in OWNERS and reference["kind"] not in SCALES:
                raise UnknownScale(f"{resource_of(reference['kind'])} does not implement the scale subresource")
            controller = self.api.get(reference["kind"], f"{pod.namespace}/{reference['name']}")
            if controller is None or controller.uid != reference["uid"]:
                break
            owner = item = controller
        if owner is None:
            raise UnknownScale(f'found no controllers for pod "{pod.name}"')
        return owner

    # --- running evictions ---

    def _disrupted(self, budget: KubeObject, pods: list[Pod]) -> dict[str, str]:
        """Return pods with a granted eviction that are not yet being deleted → when it was granted."""
        kept: dict[str, str] = {}
        granted = budget.status.get("disruptedPods")
        if not granted:
            return kept
        now_us = self.timeline.now_us
        for pod in pods:
            if pod.terminating or pod.name not in granted:
                continue
            left_us = (time_us(granted[pod.name]) or 0) + DELETION_TIMEOUT_US - now_us
            if left_us >= 0:
                kept[pod.name] = granted[pod.name]
                self.timeline.after(left_us + 1, self.enqueue, budget.key, housekeeping=True)
            else:
                text = f"Pod was expected by PDB {budget.namespace}/{budget.namespace} to be deleted but it wasn't"
                self.tell(pod, "NotDeleted", text, "Warning")
        return kept
