"""The Job controller: pods that run to completion, ``parallelism`` at once, until ``completions`` have succeeded.

Source: upstream ``pkg/controller/job`` (job_controller.go, backoff_utils.go, indexed_job_utils.go). Not here: policies
for failure and success, limits per index, ``podReplacementPolicy: Failed``, ``managedBy``, ``ttlSecondsAfterFinished``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, repeat
from typing import Any, ClassVar

from scheduler_engine.api.conditions import condition_set
from scheduler_engine.api.objects import KubeObject, Pod, time_us, timestamp
from scheduler_engine.apiserver.pod_index import JOB_INDEX, owner_of
from scheduler_engine.apiserver.watching import Wants, WatchEvent
from scheduler_engine.controllers.job_past import NO_PAST, Past, Runs, after, below, gaps, is_index, size, spelled
from scheduler_engine.controllers.pod_state import is_active, removal_order
from scheduler_engine.controllers.workload import Manifest, WorkloadController, concerns_owner, wants_of
from scheduler_engine.sharing import Groups, Table
from scheduler_engine.timeline import SECOND_US

FIRST_BACKOFF_US, LONGEST_BACKOFF_US = 10 * SECOND_US, 600 * SECOND_US
ENDINGS = {
    "BackoffLimitExceeded": "Job has reached the specified backoff limit",
    "DeadlineExceeded": "Job was active longer than specified deadline",
    "CompletionsReached": "Reached expected number of succeeded pods",
}
"""Reason of the last condition → its text."""


def _concerns_job(event: WatchEvent) -> bool:
    """Return True if a Job may count a pod otherwise, or its index, after a change."""
    old, new = event.old, event.new
    return (
        concerns_owner(event)
        or not (isinstance(new, Pod) and is_active(new))
        or old is None
        or old.annotations != new.annotations
    )


@dataclass(slots=True)
class JobController(WorkloadController):
    """``ended``: uid of a Job → uids of its pods that have ended; ``pasts``: uid of a Job → what these add up to. A pod
    deleted before its end has failed. ``lowest``: uid of a Job → an index below which none is free.
    """

    KIND: ClassVar[str] = "Job"
    WANTS: ClassVar[Wants] = wants_of("Job", Pod=_concerns_job)
    OBSERVES: ClassVar[bool] = False
    ended: Groups[str, str, None] = field(default_factory=Groups)
    pasts: Table[str, Past] = field(default_factory=Table)
    lowest: Table[str, int] = field(default_factory=Table)

    def notice(self, event: WatchEvent) -> None:
        if concerns_owner(event):
            WorkloadController.notice(self, event)
        if event.kind == self.KIND and event.new is None and event.old is not None:
            self.lowest.pop(event.old.uid, None)
            if event.old.uid in self.pasts:
                del self.ended[event.old.uid], self.pasts[event.old.uid]
        pod = event.new or event.old
        if isinstance(pod, Pod) and (event.new is None or not is_active(pod)):
            reference = pod.controller_ref or {}
            owner = self.api.get(self.KIND, f"{pod.namespace}/{reference.get('name')}")
            if owner is not None and reference.get("uid") == owner.uid:
                self._note(owner, pod, "succeeded" if pod.phase == "Succeeded" else "failed")
        if isinstance(event.old, Pod):
            self._free_index(event.old, event.new if isinstance(event.new, Pod) else None)

    def _note(self, owner: KubeObject, pod: Pod, result: str) -> None:
        """Note the first ending of a pod: succeeded, failed or dropped (by the Job)."""
        if pod.uid not in self.ended.get(owner.uid, {}):
            self.ended.change(owner.uid)[pod.uid] = None
            self.pasts[owner.uid] = after(
                self._past(owner), result, pod.annotations.get(JOB_INDEX, ""), self.timeline.now_us
            )

    def _free_index(self, old: Pod, new: Pod | None) -> None:
        """Note that an index may be free, unless the pod still has it or has succeeded with it."""
        (_, uid), index = owner_of(old), old.annotations.get(JOB_INDEX, "")
        if uid not in self.lowest or not is_index(index):
            return
        same = new is not None and owner_of(new)[1] == uid and new.annotations.get(JOB_INDEX) == index
        if new is None or not same or not is_active(new):
            free = gaps(self.pasts.get(uid, NO_PAST).indexes, int(index) + 1, int(index))
            self.lowest[uid] = min((*free, self.lowest[uid]))

    def _past(self, owner: KubeObject) -> Past:
        return self.pasts.get(owner.uid, NO_PAST)

    def sync(self, owner: KubeObject) -> None:
        if any(owner.condition_status(kind) == "True" for kind in ("Complete", "Failed")):
            return
        if owner.spec.get("suspend"):
            self._suspend(owner)
            return
        if not owner.status.get("startTime"):
            self.set_status(owner, startTime=timestamp(self.timeline.now_us))
        active = self.count_active(owner)
        reason = self._reason_to_end(owner, active)
        if reason:
            self._end(owner, reason)
            return
        self._resume(owner)
        wanted = self._wanted(owner, active)
        if wanted < active:
            for pod in removal_order(self.active_of(owner))[: active - wanted]:
                self._give_up(owner, pod, "dropped")
        elif wanted > active and self.may_make(owner) and self._may_start(owner):
            self._start(owner, wanted - active)
        self._status(owner)

    # --- decisions ---

    def _done(self, owner: KubeObject) -> Runs:
        """Return the wanted indexes that have succeeded."""
        return below(self._past(owner).indexes, owner.spec["completions"])

    def _succeeded(self, owner: KubeObject) -> int:
        """Count succeeded pods, or each wanted index once."""
        return size(self._done(owner)) if _indexed(owner) else self._past(owner).succeeded

    def _wanted(self, owner: KubeObject, active: int) -> int:
        parallelism, completions = owner.spec.get("parallelism", 1), owner.spec.get("completions")
        succeeded = self._succeeded(owner)
        if completions is not None:
            return int(min(parallelism, completions - succeeded))
        return min(active, parallelism) if succeeded else int(parallelism)

    def _reason_to_end(self, owner: KubeObject, active: int) -> str:
        limit, completions = owner.spec.get("backoffLimit", 6), owner.spec.get("completions")
        standings = self.standings(owner).items()
        restarted = sum(standing.restarts * number for standing, number in standings if standing.active)
        on_failure = (owner.spec["template"].get("spec") or {}).get("restartPolicy") == "OnFailure"
        if self._past(owner).failed > limit or (on_failure and restarted and restarted >= limit):
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
        past = self._past(owner)
        if not past.streak:
            return True
        at_us = past.last_us + min(FIRST_BACKOFF_US << min(past.streak - 1, 10), LONGEST_BACKOFF_US)
        self.enqueue_at(owner.key, at_us)
        return self.timeline.now_us >= at_us

    # --- actions ---

    def _start(self, owner: KubeObject, number: int) -> None:
        labels = {
            "batch.kubernetes.io/controller-uid": owner.uid,
            "batch.kubernetes.io/job-name": owner.name,
            "controller-uid": owner.uid,
            "job-name": owner.name,
        }
        for index in self._free_indexes(owner, number):
            metadata: Manifest = {"labels": {**labels, JOB_INDEX: index} if index else labels}
            if index:
                metadata["annotations"] = {JOB_INDEX: index}
            base = f"{owner.name}-{index}" if index else owner.name
            if self.create_pod(owner, self.pod_manifest(owner, owner.spec["template"], base=base, metadata=metadata)):
                return

    def _free_indexes(self, owner: KubeObject, number: int) -> Iterator[str]:
        """Yield the lowest indexes that neither succeeded nor run, or ``number`` times "" without indexes.

        Lazily, because there may be more than a sandbox can hold.
        """
        if not _indexed(owner):
            return repeat("", number)
        return islice(self._from_lowest(owner), number)

    def _from_lowest(self, owner: KubeObject) -> Iterator[str]:
        """Yield all free indexes, and note the first."""
        taken = self.api.pod_index.indexes.get((owner.namespace, owner.uid), {})
        lowest = self.lowest.get(owner.uid, 0)
        indexes = gaps(self._done(owner), owner.spec["completions"], lowest)
        free = (index for index in indexes if str(index) not in taken)
        for first in islice(free, 1):
            self.lowest[owner.uid] = first
            yield str(first)
        yield from map(str, free)

    def _give_up(self, owner: KubeObject, pod: Pod, result: str) -> None:
        self._note(owner, pod, result)
        self.delete_pod(owner, pod)

    def _end(self, owner: KubeObject, reason: str) -> None:
        for pod in self.active_of(owner):
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

    def _suspend(self, owner: KubeObject) -> None:
        for pod in self.active_of(owner):
            self._give_up(owner, pod, "dropped")
        if owner.condition_status("Suspended") == "True":
            self._status(owner)
            return
        held = owner.status.get("conditions") or []
        conditions = condition_set(held, self.timeline.now_us, "Suspended", "True", "JobSuspended", "Job suspended")
        # Otherwise the time stays until the Job is resumed, and with it a deadline that may pass meanwhile.
        restarts = {"startTime": None} if self.api.rules.changes_suspended_directives else {}
        self._status(owner, conditions=conditions, **restarts)
        self.tell(owner, "Suspended", "Job suspended")

    def _resume(self, owner: KubeObject) -> None:
        """Note that a suspended Job runs again: it starts now."""
        if owner.condition_status("Suspended") != "True":
            return
        now_us, held = self.timeline.now_us, owner.status.get("conditions") or []
        conditions = condition_set(held, now_us, "Suspended", "False", "JobResumed", "Job resumed")
        self.tell(owner, "Resumed", "Job resumed")
        self.set_status(owner, conditions=conditions, startTime=timestamp(now_us))

    def _status(self, owner: KubeObject, **changes: Any) -> None:
        past, standings = self._past(owner), self.standings(owner).items()
        fields = {
            "active": self.count_active(owner),
            "succeeded": self._succeeded(owner),
            "failed": past.failed,
        }
        self.set_status(
            owner,
            **{name: number or None for name, number in fields.items()},
            ready=self.count_ready(owner),
            terminating=sum(number for state, number in standings if state.terminating and not state.finished),
            completedIndexes=spelled(self._done(owner)) if _indexed(owner) and past.succeeded else None,
            **changes,
        )


def _indexed(owner: KubeObject) -> bool:
    return owner.spec.get("completionMode") == "Indexed" and owner.spec.get("completions") is not None
