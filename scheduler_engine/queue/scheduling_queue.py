"""The queues where pods wait to be scheduled: activeQ, backoffQ, unschedulablePods, and the moves between them.

::

    add ──► activeQ ──pop──► in flight ──done──► scheduled
              ▲  ▲               │
       flush  │  │ event         │ add_unschedulable_if_not_present
              │  │ helps         ▼
         backoffQ ◄──────  unschedulablePods (gated ones too)
                   event helps, but the pod still backs off

Source: seed 000; upstream ``backend/queue/scheduling_queue.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Protocol

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.events import (
    ASSIGNED_POD_ADD,
    BACKOFF_COMPLETE,
    FORCE_ACTIVATE,
    POP_FROM_BACKOFF_Q,
    SCHEDULE_ATTEMPT_FAILURE,
    UNSCHEDULABLE_TIMEOUT,
    UNSCHEDULED_POD_ADD,
    UNSCHEDULED_POD_DELETE,
    UNSCHEDULED_POD_UPDATE,
    ClusterEvent,
    pod_scheduling_properties_change,
)
from scheduler_engine.framework.events_registry import QueueingHintMap
from scheduler_engine.framework.interface import ObjectReader, PluginError, QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.framework.status import Status, error
from scheduler_engine.queue.backoff_queue import SECOND_US
from scheduler_engine.queue.heap import Less
from scheduler_engine.queue.hints import RETRY, STAY, Decision, Strategy
from scheduler_engine.queue.lanes import (
    ACTIVE_Q,
    BACKOFF_Q,
    ERROR_BACKOFF_Q,
    GATED,
    IN_FLIGHT,
    OUTSIDE,
    UNSCHEDULABLE_PODS,
    Lanes,
    OrderTime,
)
from scheduler_engine.trace.events import PodMoved, Recorder
from scheduler_engine.versions import DEFAULT_RULES, Rules

POP, SCHEDULED, DISCARDED = "Pop", "Scheduled", "Discarded"
"""Causes of a move that Kubernetes does not count."""

ALREADY_IN = {
    ACTIVE_Q: "the active queue",
    BACKOFF_Q: "the backoff queue",
    ERROR_BACKOFF_Q: "the backoff queue",
    UNSCHEDULABLE_PODS: "unschedulable queue",
    GATED: "unschedulable queue",
}

PreCheck = Callable[[Pod], bool]
"""Selects the pods that a move request concerns. A bound method or a picklable object; it is not stored."""


class PreEnqueuePlugin(Protocol):
    name: ClassVar[str]

    def pre_enqueue(self, pod: Pod) -> Status | None: ...


class QueueError(Exception):
    """An operation that the queue refuses. The text comes from Kubernetes."""


class SchedulingQueue(Lanes):
    """The PriorityQueue of Kubernetes v1.34.1.

    ``less`` is the QueueSort plugin's; hints and PreEnqueue plugins are passed per scheduler name (the plugin lists
    may change: a fault replaces a plugin); ``objects`` are the API objects (None: assume that every pod exists);
    ``rules`` are those of the version of Kubernetes, beside the queue's own ones.
    Times are simulated microseconds, now is ``recorder.now_us``. Nothing runs automatically: the caller calls
    ``flush_backoff_q_completed`` each whole second and ``flush_unschedulable_pods_leftover`` every 30 s.
    """

    rules: ClassVar[str] = "v1.34"

    def __init__(
        self,
        less: Less,
        recorder: Recorder,
        *,
        queueing_hints: Mapping[str, QueueingHintMap],
        pre_enqueue_plugins: Mapping[str, Sequence[PreEnqueuePlugin]] | None = None,
        objects: ObjectReader | None = None,
        rules: Rules = DEFAULT_RULES,
        pod_initial_backoff_us: int = SECOND_US,
        pod_max_backoff_us: int = 10 * SECOND_US,
        pod_max_in_unschedulable_pods_us: int = 300 * SECOND_US,
        order_us: OrderTime | None = None,
    ) -> None:
        super().__init__(less, recorder, queueing_hints, objects, pod_initial_backoff_us, pod_max_backoff_us, order_us)
        self.pre_enqueue_plugins = dict(pre_enqueue_plugins or {})
        self.kubernetes_rules = rules
        self.pod_max_in_unschedulable_pods_us = pod_max_in_unschedulable_pods_us

    def take_over(self, before: SchedulingQueue) -> None:
        """Continue where ``before`` stopped: with its pods in this queue's order, running attempts, nominations and
        counters. Signatures are made again.
        """
        for heap, old in (
            (self.active_q, before.active_q),
            (self.backoff_q.backoff_q, before.backoff_q.backoff_q),
            (self.backoff_q.error_backoff_q, before.backoff_q.error_backoff_q),
        ):
            for info in old.sorted():
                heap.add_or_update(info)
        self.active_q.in_flight = before.active_q.in_flight
        self.active_q.scheduling_cycle = before.active_q.scheduling_cycle
        self.unschedulable_pods.infos = before.unschedulable_pods.infos
        self.nominator.nominated_pods = before.nominator.nominated_pods
        self.nominator.nodes = before.nominator.nodes
        self.move_request_cycle = before.move_request_cycle
        self.incoming_pods = before.incoming_pods
        for info in (info for infos in self.lanes().values() for info in infos):
            info.signed = None
        self._ask_gates_again()

    def _ask_gates_again(self) -> None:
        """Ask the new PreEnqueue plugins, which may open a gate or close one."""
        for lane, infos in self.lanes().items():
            for info in infos:
                self._run_pre_enqueue_plugins(info)
                if info.gating_plugin and lane != GATED:
                    self._take_out(info.pod.key)
                    self._park(info, str(UNSCHEDULED_POD_ADD), lane)
                elif lane == GATED and not info.gating_plugin:
                    self._move_to_active_q(info, str(UNSCHEDULED_POD_ADD), lane)

    # --- adding and removing pods --------------------------------------------------------------------------------

    def add(self, pod: Pod) -> None:
        """Add a new pod without a node."""
        self._move_to_active_q(self._new_info(pod), str(UNSCHEDULED_POD_ADD), self.lane_of(pod.key))

    def pop(self) -> QueuedPodInfo | None:
        """Take the first pod of activeQ, or, if that is empty, of backoffQ, however long it still backs off.

        None if both are empty. The caller must call ``done`` or ``add_unschedulable_if_not_present`` for it.
        """
        while (popped := self._pop_first()) is not None:
            info, source, cause = popped
            if self.active_q.start_attempt(info):
                self._tell(info, source, IN_FLIGHT, cause)
                return info
            self._tell(info, source, OUTSIDE, DISCARDED)
        return None

    def _pop_first(self) -> tuple[QueuedPodInfo, str, str] | None:
        info = self.active_q.pop()
        if info is not None:
            return info, ACTIVE_Q, POP
        info = self.backoff_q.backoff_q.pop()
        if info is not None:
            self._count("active", POP_FROM_BACKOFF_Q)
            return info, BACKOFF_Q, POP_FROM_BACKOFF_Q
        return None

    def done(self, uid: str, cause: str = SCHEDULED) -> None:
        """End the attempt for a popped pod; do nothing if it is over already."""
        pod = self.active_q.in_flight.done(uid)
        if pod is not None:
            self.recorder.add(PodMoved(pod.key, IN_FLIGHT, OUTSIDE, cause, priority=pod.priority, uid=pod.uid))

    def add_unschedulable_if_not_present(self, info: QueuedPodInfo, scheduling_cycle: int) -> None:
        """Requeue a popped pod that failed by the plugins in ``info``, or else by an error; end its attempt.

        Raises QueueError when a pod of that name is already queued.
        """
        lane = self.lane_of(info.pod.key)
        if lane:
            self.done(info.pod.uid, DISCARDED)
            raise QueueError(f"Pod {info.pod.key} is already present in {ALREADY_IN[lane]}")
        if info.unschedulable_plugins or info.pending_plugins:
            info.unschedulable_count += 1
            info.consecutive_errors_count = 0
        else:
            info.consecutive_errors_count += 1
        info.timestamp_us = self.recorder.now_us
        info.backoff_expiration_us = None
        info.was_flushed = False
        # A pod that fails after Permit left the pods in flight when PreBind began.
        source = IN_FLIGHT if info.pod.uid in self.active_q.in_flight else OUTSIDE
        self._requeue(info, self._decide_after_attempt(info, scheduling_cycle), SCHEDULE_ATTEMPT_FAILURE, source)
        self.active_q.in_flight.done(info.pod.uid)

    def update(self, old: Pod, new: Pod) -> None:
        """Update a pod without a node where it is; the change may move it out of unschedulablePods."""
        events = pod_scheduling_properties_change(new, old)
        if self.active_q.in_flight.add_events_for_pod(old, new, events):
            for event in events:
                self._tell_noted(event, new)
            return
        lane = self.lane_of(old.key)
        if lane in (ACTIVE_Q, BACKOFF_Q, ERROR_BACKOFF_Q):
            self._update_in_place(lane, old, new)
        elif (info := self.unschedulable_pods.get(new.key)) is not None:
            info.update(new)
            self.nominator.update_nominated_pod(old, new)
            self._requeue_updated(info, old, new, events)
        else:
            self._move_to_active_q(self._new_info(new), str(UNSCHEDULED_POD_UPDATE), OUTSIDE)

    def _update_in_place(self, lane: str, old: Pod, new: Pod) -> None:
        heaps = {
            ACTIVE_Q: self.active_q,
            BACKOFF_Q: self.backoff_q.backoff_q,
            ERROR_BACKOFF_Q: self.backoff_q.error_backoff_q,
        }
        info = heaps[lane].items[old.key].info
        info.update(new)
        heaps[lane].add_or_update(info)
        self.nominator.update_nominated_pod(old, new)
        self._tell(info, lane, lane, str(UNSCHEDULED_POD_UPDATE))

    def _requeue_updated(self, info: QueuedPodInfo, old: Pod, new: Pod, events: Iterable[ClusterEvent]) -> None:
        lane = self.lane_of(new.key)
        for event in events:
            decision = self.hints.decide(info, event, old, new)
            if self._requeue(info, decision, str(event), lane) != UNSCHEDULABLE_PODS:
                self.unschedulable_pods.delete(new.key)
                return

    def delete(self, pod: Pod) -> None:
        """Remove a pod that is gone or has a node. If it is in flight, it stays so until its attempt ends."""
        self.nominator.delete_nominated_pod_if_exists(pod)
        lane = self.lane_of(pod.key)
        info = self._take_out(pod.key)
        if info is not None:
            self._tell(info, lane, OUTSIDE, str(UNSCHEDULED_POD_DELETE))

    def _take_out(self, key: str) -> QueuedPodInfo | None:
        return self.active_q.delete(key) or self.backoff_q.delete(key) or self.unschedulable_pods.delete(key)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Move ``pods`` to activeQ at once; one in flight will be queued again when it comes back."""
        for pod in pods:
            if self._activate(pod):
                continue
            if self.active_q.in_flight.add_events_for_pod(None, pod, (FORCE_ACTIVATE,)):
                self._tell_noted(FORCE_ACTIVATE, pod)
            self.move_request_cycle = self.scheduling_cycle

    def _activate(self, pod: Pod) -> bool:
        lane = self.lane_of(pod.key)
        info = self.unschedulable_pods.get(pod.key) or self.backoff_q.delete(pod.key)
        return info is not None and self._move_to_active_q(info, str(FORCE_ACTIVATE), lane)

    # --- cluster changes -----------------------------------------------------------------------------------------

    def move_all_to_active_or_backoff_queue(
        self, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None, pre_check: PreCheck | None = None
    ) -> None:
        """Handle an event that may help unschedulable pods: queue those again that a hint approves."""
        concerned = self.unschedulable_pods.infos.values()
        self._move_pods([info for info in concerned if pre_check is None or pre_check(info.pod)], event, old, new)

    def assigned_pod_added(self, pod: Pod) -> None:
        """Handle a pod that got a node or arrived with one."""
        self.move_all_to_active_or_backoff_queue(ASSIGNED_POD_ADD, None, pod)

    def assigned_pod_updated(self, old: Pod, new: Pod, event: ClusterEvent) -> None:
        """Handle a change to a pod on a node; ``event`` is one of the update's events."""
        self.move_all_to_active_or_backoff_queue(event, old, new)

    def flush_backoff_q_completed(self) -> None:
        """Move pods whose backoff is over to activeQ."""
        for info in self.backoff_q.pop_all_completed():
            self._move_to_active_q(info, BACKOFF_COMPLETE, self._backoff_lane(info))

    def flush_unschedulable_pods_leftover(self) -> None:
        """Queue pods again that no event has helped for too long."""
        left = [info for info in self.unschedulable_pods.infos.values() if self._left_over(info)]
        for info in left:
            # Upstream marks gated pods as well, though they stay.
            info.was_flushed = True
        if left:
            self._move_pods(left, UNSCHEDULABLE_TIMEOUT, None, None)

    def _left_over(self, info: QueuedPodInfo) -> bool:
        return self.recorder.now_us - info.timestamp_us > self.pod_max_in_unschedulable_pods_us

    def _move_pods(
        self, infos: Iterable[QueuedPodInfo], event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
    ) -> None:
        """Leave a trace, here and for pods in flight, only for events that a plugin registered for."""
        if not self.hints.of_interest(event):
            return
        moved = []
        for info in infos:
            if info.gating_plugin and not self.hints.gate_may_open(info, event):
                continue
            decision = self.hints.decide(info, event, old, new)
            if decision.strategy is Strategy.SKIP:
                continue
            source = self.lane_of(info.pod.key)
            self.unschedulable_pods.delete(info.pod.key)
            if self._requeue(info, decision, str(event), source) != UNSCHEDULABLE_PODS:
                moved.append(info.pod.key)
        self.move_request_cycle = self.scheduling_cycle
        self.active_q.in_flight.add_event(event, old, new)
        self._tell_move(event, new or old, tuple(moved))

    # --- moves between lanes -------------------------------------------------------------------------------------

    def _decide_after_attempt(self, info: QueuedPodInfo, scheduling_cycle: int) -> Decision:
        """Check if an event during the attempt may help; always retry after an error."""
        if not info.unschedulable_plugins and not info.pending_plugins:
            return RETRY
        noted = self.active_q.in_flight.events_since(info.pod.uid)
        if noted is None:
            return RETRY
        best = STAY
        for entry in noted:
            decision = self.hints.decide(info, entry.event, entry.old, entry.new)
            if decision.strategy is Strategy.IMMEDIATELY:
                return decision
            if decision.strategy is Strategy.AFTER_BACKOFF:
                best = decision
                if not info.pending_plugins:
                    break
        return best

    def _requeue(self, info: QueuedPodInfo, decision: Decision, cause: str, source: str) -> str:
        """Put ``info`` where ``decision`` says; return the lane (a gated pod counts as unschedulable)."""
        if decision.strategy is Strategy.SKIP:
            self._park(info, cause, source, decision)
            return UNSCHEDULABLE_PODS
        if decision.strategy is Strategy.AFTER_BACKOFF and self.backoff_q.is_backing_off(info):
            return BACKOFF_Q if self._move_to_backoff_q(info, cause, source, decision) else UNSCHEDULABLE_PODS
        return ACTIVE_Q if self._move_to_active_q(info, cause, source, decision) else UNSCHEDULABLE_PODS

    def _park(self, info: QueuedPodInfo, cause: str, source: str, decision: Decision = RETRY) -> None:
        if self.unschedulable_pods.add_or_update(info):
            self._count("unschedulable", cause)
            self._tell(info, source, GATED if info.gating_plugin else UNSCHEDULABLE_PODS, cause, decision)

    def _move_to_active_q(self, info: QueuedPodInfo, cause: str, source: str, decision: Decision = RETRY) -> bool:
        """Return False if a PreEnqueue plugin holds the pod back; pods from backoffQ passed PreEnqueue before."""
        activated = cause == str(FORCE_ACTIVATE) and source in (BACKOFF_Q, ERROR_BACKOFF_Q)
        passed = activated and not self.kubernetes_rules.activation_asks_gates_again
        if cause != BACKOFF_COMPLETE and not passed:
            self._run_pre_enqueue_plugins(info)
        key = info.pod.key
        if info.gating_plugin:
            self._hold_back(info, cause, source, decision)
            return False
        if info.initial_attempt_us is None:
            info.initial_attempt_us = self.recorder.now_us
        self.active_q.add_or_update(info)
        self._count("active", cause)
        self.unschedulable_pods.delete(key)
        self.backoff_q.delete(key)
        self._tell(info, source, ACTIVE_Q, cause, decision)
        if cause in (str(UNSCHEDULED_POD_ADD), str(UNSCHEDULED_POD_UPDATE)):
            self.nominator.add_nominated_pod(info.pod)
        return True

    def _move_to_backoff_q(self, info: QueuedPodInfo, cause: str, source: str, decision: Decision) -> bool:
        """Return False if a PreEnqueue plugin holds the pod back."""
        self._run_pre_enqueue_plugins(info)
        if info.gating_plugin:
            self._hold_back(info, cause, source, decision)
            return False
        if self.backoff_q.add(info):
            self._count("backoff", cause)
        self._tell(info, source, self._backoff_lane(info), cause, decision)
        return True

    def _hold_back(self, info: QueuedPodInfo, cause: str, source: str, decision: Decision) -> None:
        """Park a pod that a PreEnqueue plugin holds back. One that is parked already only counts as gated from now."""
        if not self.lane_of(info.pod.key):
            self._park(info, cause, source, decision)
        elif source == UNSCHEDULABLE_PODS:
            self._tell(info, source, GATED, cause, decision)

    def _run_pre_enqueue_plugins(self, info: QueuedPodInfo) -> None:
        """Ask the plugin that last held the pod back, then the others, until the first no."""
        plugins = self.pre_enqueue_plugins.get(info.pod.scheduler_name, ())
        for plugin in sorted(plugins, key=lambda plugin: plugin.name != info.gating_plugin):
            try:
                status = plugin.pre_enqueue(info.pod)
            except PluginError as problem:
                status = error(str(problem))
            if status is not None and not status.is_success:
                info.unschedulable_plugins[plugin.name] = None
                info.gating_plugin = plugin.name
                return
        info.gating_plugin = ""

    def _new_info(self, pod: Pod) -> QueuedPodInfo:
        return QueuedPodInfo(PodInfo(pod), timestamp_us=self.recorder.now_us)
