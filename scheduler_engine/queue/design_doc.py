"""The queue as in the design document: move requests by scheduling cycle, and no hints.

Differs from v1.34 in what a move request concerns (every unschedulable pod), where pods are popped (activeQ only), in
the backoff (initial × 2^attempts, to the microsecond, errors included) and in the age of leftovers (30 s).
Source: seed 000; where it is silent, upstream without queueing hints.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.events import (
    ASSIGNED_POD,
    ASSIGNED_POD_ADD,
    NODE,
    UNSCHEDULABLE_POD,
    ClusterEvent,
    is_wildcard,
)
from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.queue.backoff_queue import SECOND_US, BackoffQueue
from scheduler_engine.queue.heap import Heap
from scheduler_engine.queue.hints import RETRY, STAY, Decision, QueueingHints
from scheduler_engine.queue.lanes import ACTIVE_Q
from scheduler_engine.queue.scheduling_queue import POP, SchedulingQueue

RESOURCES = (
    ASSIGNED_POD,
    UNSCHEDULABLE_POD,
    NODE,
    "Service",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "storage.k8s.io/StorageClass",
    "storage.k8s.io/CSINode",
)
"""A change to any of these is a move request."""

WRITTEN_BY_SERVER = ("resourceVersion", "generation", "managedFields", "finalizers")
LEFTOVER_AGE_US = 30 * SECOND_US


class MoveRequests(QueueingHints):
    """Ask no plugin: any event of interest moves every pod."""

    def of_interest(self, event: ClusterEvent) -> bool:
        return is_wildcard(event) or event.resource in RESOURCES

    def gate_may_open(self, info: QueuedPodInfo, event: ClusterEvent) -> bool:
        """Return False: only an update of the pod itself opens a gate."""
        return False

    def decide(
        self, info: QueuedPodInfo, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
    ) -> Decision:
        return RETRY


class DesignDocBackoffQueue(BackoffQueue):
    """One heap, ordered by the end of the backoff."""

    def heaps_for(self, info: QueuedPodInfo) -> tuple[Heap, Heap]:
        return self.backoff_q, self.error_backoff_q

    def over_us(self, info: QueuedPodInfo) -> int | None:
        return self.expiration_us(info)

    def expiration_us(self, info: QueuedPodInfo) -> int | None:
        """Return timestamp + initial × 2^attempts, at most the maximum: 2, 4, 8, … s if initial is 1 s."""
        failed = info.unschedulable_count or info.consecutive_errors_count
        if not failed or self.max_us == 0:
            return None
        if info.backoff_expiration_us is None:
            info.backoff_expiration_us = info.timestamp_us + min(self.initial_us << info.attempts, self.max_us)
        return info.backoff_expiration_us


class DesignDocQueue(SchedulingQueue):
    """The same lanes and operations under the design document's rules."""

    rules: ClassVar[str] = "design-doc"
    hints_class: ClassVar[type[QueueingHints]] = MoveRequests
    backoff_queue_class: ClassVar[type[BackoffQueue]] = DesignDocBackoffQueue

    def assigned_pod_added(self, pod: Pod) -> None:
        self._move_pods(self._drawn_to(pod), ASSIGNED_POD_ADD, None, pod)

    def assigned_pod_updated(self, old: Pod, new: Pod, event: ClusterEvent) -> None:
        self._move_pods(self._drawn_to(new), event, old, new)

    def _drawn_to(self, pod: Pod) -> list[QueuedPodInfo]:
        """Return unschedulable pods with a required affinity term that ``pod`` matches."""
        namespace = self.objects.get("Namespace", pod.namespace) if self.objects is not None else None
        labels = namespace.labels if namespace is not None else None
        return [
            info
            for info in self.unschedulable_pods.infos.values()
            if any(term.matches(pod, labels) for term in info.pod_info.required_affinity_terms)
        ]

    def _requeue_updated(self, info: QueuedPodInfo, old: Pod, new: Pod, events: Iterable[ClusterEvent]) -> None:
        """Requeue unless only the status changed: news that the pod is unschedulable is no reason to retry."""
        if _without_status(old) != _without_status(new):
            super()._requeue_updated(info, old, new, events)

    def _pop_first(self) -> tuple[QueuedPodInfo, str, str] | None:
        info = self.active_q.pop()
        return None if info is None else (info, ACTIVE_Q, POP)

    def _decide_after_attempt(self, info: QueuedPodInfo, scheduling_cycle: int) -> Decision:
        """Retry only if a move request came in this scheduling cycle or later."""
        return RETRY if self.move_request_cycle >= scheduling_cycle else STAY

    def _left_over(self, info: QueuedPodInfo) -> bool:
        return self.recorder.now_us - info.timestamp_us >= LEFTOVER_AGE_US


def _without_status(pod: Pod) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (metadata, spec) without the fields that the server writes."""
    metadata = {key: value for key, value in pod.metadata.items() if key not in WRITTEN_BY_SERVER}
    return metadata, pod.spec


QUEUES: dict[str, type[SchedulingQueue]] = {queue.rules: queue for queue in (SchedulingQueue, DesignDocQueue)}
"""Name of the rules → queue; both take the same arguments."""
