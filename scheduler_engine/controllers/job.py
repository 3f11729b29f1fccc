"""The Job controller: pods that run to completion, ``parallelism`` at once, until ``completions`` have succeeded.

Source: upstream ``pkg/controller/job`` (job_controller.go, backoff_utils.go, indexed_job_utils.go). Not here: policies
for failure and success, limits per index, ``podReplacementPolicy: Failed``, ``managedBy``, ``ttlSecondsAfterFinished``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, repeat
from typing import Any, ClassVar

from scheduler_engine.api.conditions import condition_set, is_ready
from scheduler_engine.api.objects import KubeObject, Pod, time_us, timestamp
from scheduler_engine.apiserver.store import WatchEvent
from scheduler_engine.controllers.pod_state import deletion_order, is_active, restarts
from scheduler_engine.controllers.workload import Manifest, WorkloadController
from scheduler_engine.timeline import SECOND_US

INDEX = "batch.kubernetes.io/job-completion-index"
FIRST_BACKOFF_US, LONGEST_BACKOFF_US = 10 * SECOND_US, 600 * SECOND_US
ENDINGS = {
    "BackoffLimitExceeded": "Job has reached the specified backoff limit",
    "DeadlineExceeded": "Job was active longer than specified deadline",
    "CompletionsReached": "Reached expected number of succeeded pods",
}
"""Reason of the last condition → its text."""


@dataclass(frozen=True, slots=True)
class Ending:
    """``result``: succeeded, failed or dropped (by the Job); ``index`` is "" for pods without one."""

    result: str
    index: str
    at_us: int


@dataclass(slots=True)
class JobController(WorkloadController):
    """``endings``: uid of a Job → uid of a pod → how it ended. A pod deleted before its end has failed."""

    KIND: ClassVar[str] = "Job"
    OBSERVES: ClassVar[bool] = False
    endings: dict[str, dict[str, Ending]] = field(default_factory=dict)

    def notice(self, event: WatchEvent) -> None:
        WorkloadController.notice(self, event)
        if event.kind == self.KIND and event.new is None and event.old is not None:
            self.endings.pop(event.old.uid, None)
        pod = event.new or event.old
        if isinstance(pod, Pod) and (event.new is None or not is_active(pod)):
            reference = pod.controller_ref or {}
            owner = self.api.get(self.KIND, f"{pod.namespace}/{reference.get('name')}")
            if owner is not None and reference.get("uid") == owner.uid:
                self._note(owner, pod, "succeeded" if pod.phase == "Succeeded" else "failed")

    def _note(self, owner: KubeObject, pod: Pod, result: str) -> None:
        """Note the first ending of a pod."""
        ending = Ending(result, pod.annotations.get(INDEX, ""), self.timeline.now_us)
        self.endings.setdefault(owner.uid, {}).setdefault(pod.uid, ending)

    def sync(self, owner: KubeObject) -> None:
        if any(owner.condition_status(kind) == "True" for kind in ("Complete", "Failed")):
            return
        active = [pod for pod in self.pods_of(owner) if is_active(pod)]
        if owner.spec.get("suspend"):
            self._suspend(owner, active)
            return
        self._resume(owner)
        reason = self._reason_to_end(owner, active)
        if reason:
            self._end(owner, active, reason)
            return
        wanted = self._wanted(owner, len(active))
        if wanted < len(active):
            for pod in deletion_order(active, active, self.timeline.now_us)[: len(active) - wanted]:
                self._give_up(owner, pod, "dropped")
        elif wanted > len(active) and self.may_make(owner) and self._may_start(owner):
            self._start(owner, active, wanted - len(active))
        self._status(owner)

    # --- decisions ---

    def _ended(self, owner: KubeObject, *results: str) -> list[Ending]:
        return [ending for ending in self.endings.get(owner.uid, {}).values() if ending.result in results]

    def _succeeded(self, owner: KubeObject) -> int:
        """Count succeeded pods, or each wanted index once."""
        done = self._ended(owner, "succeeded")
        return len(_indexes(owner, done)) if _indexed(owner) else len(done)

    def _failed(self, owner: KubeObject) -> int:
        return len(self._ended(owner, "failed"))

    def _wanted(self, owner: KubeObject, active: int) -> int:
        parallelism, completions = owner.spec.get("parallelism", 1), owner.spec.get("completions")
        succeeded = self._succeeded(owner)
        if completions is not None:
            return int(min(parallelism, completions - succeeded))
        return min(active, parallelism) if succeeded else int(parallelism)

    def _reason_to_end(self, owner: KubeObject, active: list[Pod]) -> str:
        limit, completions = owner.spec.get("backoffLimit", 6), owner.spec.get("completions")
        restarted = sum(restarts(pod) for pod in active)
        on_failure = (owner.spec["template"].get("spec") or {}).get("restartPolicy") == "OnFailure"
        if self._failed(owner) > limit or (on_failure and restarted and restarted >= limit):
            return "BackoffLimitExceeded"
        seconds, started = owner.spec.get("activeDeadlineSeconds"), time_us(owner.status.get("startTime"))
        if seconds is not None:
            deadline_us = (self.timeline.now_us if started is None else started) + seconds * SECOND_US
            if self.timeline.now_us >= deadline_us:
                return "DeadlineExceeded"
            self.enqueue_at(owner.key, deadline_us, housekeeping=True)
        succeeded = self._succeeded(owner)
        if completions is not None:
            return "CompletionsReached" if succeeded >= completions and not active else ""
        return "CompletionsReached" if succeeded and not active else ""

    def _may_start(self, owner: KubeObject) -> bool:
        """Delay new pods after failures by 10 s, doubling up to 10 min; a success resets that."""
        ended = self._ended(owner, "succeeded", "failed")
        streak = next((count for count, ending in enumerate(reversed(ended)) if ending.result != "failed"), len(ended))
        if not streak:
            return True
        at_us = ended[-1].at_us + min(FIRST_BACKOFF_US << min(streak - 1, 10), LONGEST_BACKOFF_US)
        self.enqueue_at(owner.key, at_us)
        return self.timeline.now_us >= at_us

    # --- actions ---

    def _start(self, owner: KubeObject, active: list[Pod], number: int) -> None:
        labels = {
            "batch.kubernetes.io/controller-uid": owner.uid,
            "batch.kubernetes.io/job-name": owner.name,
            "controller-uid": owner.uid,
            "job-name": owner.name,
        }
        for index in self._free_indexes(owner, active, number):
            metadata: Manifest = {"labels": {**labels, INDEX: index} if index else labels}
            if index:
                metadata["annotations"] = {INDEX: index}
            base = f"{owner.name}-{index}" if index else owner.name
            if self.create_pod(owner, self.pod_manifest(owner, owner.spec["template"], base=base, metadata=metadata)):
                return

    def _free_indexes(self, owner: KubeObject, active: list[Pod], number: int) -> Iterator[str]:
        """Yield the lowest indexes that neither succeeded nor run, or ``number`` times "" without indexes.

        Lazily, because there may be more than a sandbox can hold.
        """
        if not _indexed(owner):
            return repeat("", number)
        taken = {pod.annotations.get(INDEX): True for pod in active}
        taken |= {ending.index: True for ending in self._ended(owner, "succeeded")}
        indexes = map(str, range(owner.spec["completions"]))
        return islice((index for index in indexes if index not in taken), number)

    def _give_up(self, owner: KubeObject, pod: Pod, result: str) -> None:
        self._note(owner, pod, result)
        self.delete_pod(owner, pod)

    def _end(self, owner: KubeObject, active: list[Pod], reason: str) -> None:
        for pod in active:
            self._give_up(owner, pod, "failed")
        done = reason == "CompletionsReached"
        now_us, conditions = self.timeline.now_us, owner.status.get("conditions") or []
        for kind in ("SuccessCriteriaMet", "Complete") if done else ("FailureTarget", "Failed"):
            conditions = condition_set(conditions, now_us, kind, "True", reason, ENDINGS[reason])
        self._status(owner, conditions=conditions, completionTime=timestamp(now_us) if done else None)
        if done:
            self.tell(owner, "Completed", "Job completed")
        else:
            self.tell(owner, reason, ENDINGS[reason], "Warning")

    def _suspend(self, owner: KubeObject, active: list[Pod]) -> None:
        for pod in active:
            self._give_up(owner, pod, "dropped")
        if owner.condition_status("Suspended") == "True":
            self._status(owner)
            return
        held = owner.status.get("conditions") or []
        conditions = condition_set(held, self.timeline.now_us, "Suspended", "True", "JobSuspended", "Job suspended")
        self._status(owner, conditions=conditions, startTime=None)
        self.tell(owner, "Suspended", "Job suspended")

    def _resume(self, owner: KubeObject) -> None:
        held = owner.status.get("conditions") or []
        changes: dict[str, Any] = {}
        if owner.condition_status("Suspended") == "True":
            now_us = self.timeline.now_us
            changes["conditions"] = condition_set(held, now_us, "Suspended", "False", "JobResumed", "Job resumed")
            self.tell(owner, "Resumed", "Job resumed")
        if not owner.status.get("startTime"):
            changes["startTime"] = timestamp(self.timeline.now_us)
        if changes:
            self.set_status(owner, **changes)

    def _status(self, owner: KubeObject, **changes: Any) -> None:
        pods = self.pods_of(owner)
        active = [pod for pod in pods if is_active(pod)]
        done = self._ended(owner, "succeeded")
        fields = {
            "active": len(active),
            "succeeded": self._succeeded(owner),
            "failed": self._failed(owner),
        }
        self.set_status(
            owner,
            **{name: number or None for name, number in fields.items()},
            ready=sum(is_ready(pod) for pod in active),
            terminating=sum(pod.terminating and not pod.finished for pod in pods),
            completedIndexes=_ranges(_indexes(owner, done)) if _indexed(owner) and done else None,
            **changes,
        )


def _indexed(owner: KubeObject) -> bool:
    return owner.spec.get("completionMode") == "Indexed" and owner.spec.get("completions") is not None


def _indexes(owner: KubeObject, endings: Iterable[Ending]) -> list[int]:
    """Return each once, in order."""
    indexes = {int(ending.index): None for ending in endings if ending.index.isdigit()}
    return sorted(index for index in indexes if index < owner.spec["completions"])


def _ranges(indexes: list[int]) -> str:
    """Return ``0,2-4`` for 0, 2, 3 and 4."""
    runs: list[list[int]] = []
    for index in indexes:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
