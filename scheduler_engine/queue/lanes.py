"""The lanes where pending pods wait, access to them, and the counters and trace of every move.

Source: seed 000 (metrics); upstream ``backend/queue/scheduling_queue.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.events import ClusterEvent
from scheduler_engine.framework.events_registry import QueueingHintMap
from scheduler_engine.framework.interface import ObjectReader, QueuedPodInfo
from scheduler_engine.queue.active_queue import ActiveQueue
from scheduler_engine.queue.backoff_queue import BackoffQueue
from scheduler_engine.queue.heap import Less
from scheduler_engine.queue.hints import RETRY, Decision, QueueingHints
from scheduler_engine.queue.nominator import Nominator
from scheduler_engine.queue.unschedulable_pods import UnschedulablePods
from scheduler_engine.trace.events import EventNoted, MoveRequested, PodMoved, Recorder

OUTSIDE, ACTIVE_Q, BACKOFF_Q, ERROR_BACKOFF_Q = "", "activeQ", "backoffQ", "errorBackoffQ"
UNSCHEDULABLE_PODS, GATED, IN_FLIGHT = "unschedulablePods", "gated", "inFlight"
"""Lanes, as the trace names them. Gated pods are in unschedulablePods too, but shown separately."""

BACKING_OFF = (BACKOFF_Q, ERROR_BACKOFF_Q, UNSCHEDULABLE_PODS)
"""Lanes where the end of the backoff decides what happens next."""


OrderTime = Callable[[QueuedPodInfo], int]


class Lanes:
    """``incoming_pods``: (queue, event) → number of pods that entered.

    ``move_request_cycle``: the scheduling cycle of the last move request, -1 = none yet. ``order_us``: returns the time
    by which ``less`` orders pods of one priority, for the trace; None: their timestamp.
    """

    backoff_queue_class: ClassVar[type[BackoffQueue]] = BackoffQueue
    hints_class: ClassVar[type[QueueingHints]] = QueueingHints

    def __init__(
        self,
        less: Less,
        recorder: Recorder,
        queueing_hints: Mapping[str, QueueingHintMap],
        objects: ObjectReader | None,
        pod_initial_backoff_us: int,
        pod_max_backoff_us: int,
        order_us: OrderTime | None = None,
    ) -> None:
        self.recorder, self.order_us = recorder, order_us
        self.objects = objects
        self.hints = self.hints_class(queueing_hints, recorder)
        self.active_q = ActiveQueue(less)
        self.backoff_q = self.backoff_queue_class(recorder, less, pod_initial_backoff_us, pod_max_backoff_us)
        self.unschedulable_pods = UnschedulablePods()
        self.nominator = Nominator(recorder, objects, (self.active_q, self.unschedulable_pods, self.backoff_q))
        self.move_request_cycle = -1
        self.incoming_pods: dict[tuple[str, str], int] = {}

    @property
    def scheduling_cycle(self) -> int:
        """Return the number of pods popped."""
        return self.active_q.scheduling_cycle

    def lane_of(self, key: str) -> str:
        """Return the pod's lane; "" if it has none (it may be in flight)."""
        if key in self.active_q:
            return ACTIVE_Q
        if key in self.backoff_q.backoff_q:
            return BACKOFF_Q
        if key in self.backoff_q.error_backoff_q:
            return ERROR_BACKOFF_Q
        info = self.unschedulable_pods.get(key)
        if info is None:
            return OUTSIDE
        return GATED if info.gating_plugin else UNSCHEDULABLE_PODS

    def _backoff_lane(self, info: QueuedPodInfo) -> str:
        """Return the backoff lane for the pod."""
        target, _ = self.backoff_q.heaps_for(info)
        return BACKOFF_Q if target is self.backoff_q.backoff_q else ERROR_BACKOFF_Q

    def lanes(self) -> dict[str, tuple[QueuedPodInfo, ...]]:
        """Return the pods of each lane in pop order (unschedulable ones: in order of arrival)."""
        parked = self.unschedulable_pods.infos.values()
        return {
            ACTIVE_Q: tuple(self.active_q.sorted()),
            BACKOFF_Q: tuple(self.backoff_q.backoff_q.sorted()),
            ERROR_BACKOFF_Q: tuple(self.backoff_q.error_backoff_q.sorted()),
            UNSCHEDULABLE_PODS: tuple(info for info in parked if not info.gating_plugin),
            GATED: tuple(info for info in parked if info.gating_plugin),
        }

    def pending_pods(self) -> dict[str, int]:
        """Return the metric ``pending_pods{queue}``."""
        gated = self.unschedulable_pods.gated_count()
        return {
            "active": len(self.active_q),
            "backoff": len(self.backoff_q),
            "unschedulable": len(self.unschedulable_pods) - gated,
            "gated": gated,
        }

    def check(self) -> None:
        """Raise AssertionError if an invariant is broken."""
        heaps = (self.active_q, self.backoff_q.backoff_q, self.backoff_q.error_backoff_q)
        for heap in heaps:
            heap.check()
        keys = [key for heap in heaps for key in heap.items] + list(self.unschedulable_pods.infos)
        assert len(keys) == len(set(keys)), "a pod is in two queues"
        assert self.unschedulable_pods.gated_count() <= len(self.unschedulable_pods)
        self.nominator.check()

    # --- counters and trace --------------------------------------------------------------------------------------

    def _count(self, queue: str, event: str) -> None:
        """Count the metric ``queue_incoming_pods_total{queue,event}``."""
        self.incoming_pods[queue, event] = self.incoming_pods.get((queue, event), 0) + 1

    def _tell(self, info: QueuedPodInfo, source: str, target: str, cause: str, decision: Decision = RETRY) -> None:
        backoff_until = self.backoff_q.expiration_us(info) if target in BACKING_OFF else None
        flushed = self.backoff_q.flushed_us(info) if target in (BACKOFF_Q, ERROR_BACKOFF_Q) else None
        self.recorder.add(
            PodMoved(
                info.pod.key,
                source,
                target,
                cause,
                decision.plugin,
                decision.hint,
                info.pod.priority,
                info.attempts,
                info.timestamp_us,
                backoff_until,
                tuple(info.unschedulable_plugins),
                tuple(info.pending_plugins),
                info.gating_plugin,
                info.pod.uid,
                flushed,
                self.order_us(info) if self.order_us is not None and target == ACTIVE_Q else None,
            )
        )

    def _tell_noted(self, event: ClusterEvent, pod: Pod) -> None:
        self.recorder.add(EventNoted(str(event), pod.key, self.active_q.in_flight.pod_keys()))

    def _tell_move(self, event: ClusterEvent, about: KubeObject | None, moved: tuple[str, ...]) -> None:
        key = about.key if about is not None else ""
        in_flight = self.active_q.in_flight.pod_keys()
        self.recorder.add(MoveRequested(str(event), key, self.scheduling_cycle, in_flight, moved))
