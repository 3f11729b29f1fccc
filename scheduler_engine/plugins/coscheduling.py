"""Coscheduling from kubernetes-sigs/scheduler-plugins: the pods of a PodGroup are bound together, or none is.

It is not a plugin of Kubernetes, and no default configuration enables it. Permit holds the pods of a group until
enough of them have a node. Unreserve gives all their places back if one of them fails.

Two things differ from upstream. The pods that have a node are counted in the scheduler's cache: upstream keeps a set
of names, which lacks pods that another scheduler bound while this one knew them as pending. And a pod comes back to
activeQ at most once a second because of its siblings: see ``scheduler/activating.py``.
Source: scheduler-plugins ``pkg/coscheduling/coscheduling.go`` and ``core/core.go`` (built for Kubernetes v1.35.7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.objects import KubeObject, Pod, time_us
from scheduler_engine.api.pod_groups import POD_GROUP, group_of, members, min_member, min_resources, timeout_seconds
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.interface import (
    EventRegistration,
    Handle,
    NodeToStatus,
    Plugin,
    PostFilterResult,
    PreFilterResult,
    QueuedPodInfo,
)
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.permit import PODS_TO_ACTIVATE, QUORUM, Quorum
from scheduler_engine.framework.status import Code, Status, unresolvable, unschedulable
from scheduler_engine.plugins.cluster_resources import resource_gap
from scheduler_engine.timeline import SECOND_US

RESOURCE = "podgroups.v1alpha1.scheduling.x-k8s.io"
"""The name of PodGroups in cluster events."""
DEFAULT_WAIT_US = 60 * SECOND_US
SHORTEST_KEPT_US = 3 * SECOND_US
"""How long a group counts as checked if pods may wait for no time at all."""


class Coscheduling(Plugin):
    """Arguments: ``permitWaitingTimeSeconds`` (60), ``podGroupBackoffSeconds`` (0), ``podGroupRejectPercentage`` (10).

    All three dicts map the key of a group to simulated microseconds: ``checked``: until when its ``minResources`` need
    no other check; ``backs_off``: until when its pods are refused; ``failed``: when it failed last.
    """

    name = "Coscheduling"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.wait_us: int = args.get("permitWaitingTimeSeconds", 60) * SECOND_US
        self.backoff_us: int = args.get("podGroupBackoffSeconds", 0) * SECOND_US
        self.reject_share: float = args.get("podGroupRejectPercentage", 10) / 100
        self.checked: dict[str, int] = {}
        self.backs_off: dict[str, int] = {}
        self.failed: dict[str, int] = {}

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        return (
            EventRegistration(ClusterEvent("Pod", ActionType.ADD)),
            EventRegistration(ClusterEvent(RESOURCE, ActionType.ADD | ActionType.UPDATE)),
        )

    # --- the order of activeQ ---

    def less(self, left: QueuedPodInfo, right: QueuedPodInfo) -> bool:
        """Order by priority, then by the age of group or pod, then by the pod's key."""
        first, second = left.pod.priority, right.pod.priority
        if first != second:
            return first > second
        return (self.order_us(left), left.pod.key) < (self.order_us(right), right.pod.key)

    def order_us(self, info: QueuedPodInfo) -> int:
        """Return when its group failed last, or else was created, to the second; for a pod without one, when it came
        to activeQ.
        """
        key = group_of(info.pod)
        if key in self.failed:
            return self.failed[key]
        group = self._group(key)
        created = None if group is None else time_us(group.metadata.get("creationTimestamp"))
        return (info.initial_attempt_us or 0) if created is None else created

    # --- the group ---

    def _group(self, key: str) -> KubeObject | None:
        return self.handle.objects.get(POD_GROUP, key) if key else None

    def _members(self, pod: Pod) -> list[Pod]:
        return members(group_of(pod), self.handle.objects.list("Pod", pod.namespace))

    def _others_assigned(self, pod: Pod) -> int:
        """Count the other pods of its group that have a node, bound or assumed."""
        has_place = self.handle.scheduler.has_place
        return sum(member.uid != pod.uid and has_place(member) for member in self._members(pod))

    def _waiting(self, key: str) -> list[Pod]:
        return [waiting for waiting in self.handle.scheduler.waiting_pods() if group_of(waiting) == key]

    def _reject_waiting(self, key: str, reason: str) -> None:
        """Reject all pods of a group that wait on Permit."""
        for waiting in self._waiting(key):
            self.handle.scheduler.reject_waiting_pod(waiting.uid, self.name, reason)

    def _back_off(self, key: str) -> None:
        """Refuse the pods of a group for some time. A group that backs off already does so no longer than before."""
        if not _lasts(self.backs_off, key, self.handle.now_us):
            self.backs_off[key] = self.handle.now_us + self.backoff_us

    def _note_failure(self, key: str) -> None:
        """Let the group wait behind those that are older than this failure."""
        self.checked.pop(key, None)
        self.failed[key] = self.handle.now_us

    # --- PreFilter and PostFilter ---

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        key = group_of(pod)
        group = self._group(key)
        problem = "" if group is None else self._problem(key, group, pod)
        return None, unresolvable(problem) if problem else None

    def _problem(self, key: str, group: KubeObject, pod: Pod) -> str:
        """Return why no pod of the group may be tried now, "" if one may."""
        if _lasts(self.backs_off, key, self.handle.now_us):
            return f"podGroup {key} failed recently"
        pods, needed = self._members(pod), min_member(group)
        if len(pods) < needed:
            return (
                f"pre-filter pod {pod.name} cannot find enough sibling pods, "
                f"current pods number: {len(pods)}, minMember of group: {needed}"
            )
        if sum(not member.scheduling_gates for member in pods) < needed:
            return f"pre-filter pod {pod.name} cannot proceed due to gated pods in the same PodGroup"
        return self._resource_problem(key, group, needed)

    def _resource_problem(self, key: str, group: KubeObject, needed: int) -> str:
        asked = min_resources(group)
        if asked is None or _lasts(self.checked, key, self.handle.now_us):
            return ""
        gap = resource_gap(self.handle.snapshot.list(), {**asked, "pods": needed}, key)
        if gap:
            return f"resource gap: {gap}"
        self.checked[key] = self.handle.now_us + (self.wait_us or SHORTEST_KEPT_US)
        return ""

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeToStatus
    ) -> tuple[PostFilterResult | None, Status]:
        """Give up the whole group, unless enough of its pods have a node, or nearly enough."""
        key = group_of(pod)
        group = self._group(key)
        if group is None:
            return None, unschedulable("can not find pod group")
        assigned, needed = self._others_assigned(pod), min_member(group)
        if assigned >= needed or (needed - assigned) / needed <= self.reject_share:
            return None, unschedulable()
        self._reject_waiting(key, "optimistic rejection in PostFilter")
        if self.backoff_us and len(self._members(pod)) >= needed:
            self._back_off(key)
        self._note_failure(key)
        text = f"PodGroup {key} gets rejected due to Pod {pod.name} is unschedulable even after PostFilter"
        return None, unschedulable(text)

    # --- from Reserve to Permit ---

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Reserve nothing: the cache counts the pod."""
        return None

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        key = group_of(pod)
        if not key:
            return None, 0
        group = self._group(key)
        if group is None:
            return unschedulable("PodGroup not found"), 0
        assigned, needed = self._others_assigned(pod) + 1, min_member(group)
        state.write(QUORUM, Quorum(key, assigned, needed))
        if assigned >= needed:
            self.failed.pop(key, None)
            for waiting in self._waiting(key):
                self.handle.scheduler.allow_waiting(waiting.uid, self.name)
            return None, 0
        if assigned == 1:
            siblings = tuple(member for member in self._members(pod) if member.uid != pod.uid)
            state.write(PODS_TO_ACTIVATE, siblings)
        return Status(Code.WAIT), self._longest_wait_us(group)

    def _longest_wait_us(self, group: KubeObject) -> int:
        """Return the group's own timeout; without one the argument, and without that a minute."""
        seconds = timeout_seconds(group)
        return seconds * SECOND_US if seconds else self.wait_us or (DEFAULT_WAIT_US if seconds is None else 0)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Reject the pods of the group that still wait: it is all of them or none."""
        key = group_of(pod)
        group = self._group(key)
        if group is None:
            return
        state.write(QUORUM, Quorum(key, self._others_assigned(pod), min_member(group)))
        self._reject_waiting(key, "rejection in Unreserve")
        self._note_failure(key)


def _lasts(until_us: Mapping[str, int], key: str, now_us: int) -> bool:
    return until_us.get(key, -1) >= now_us
