"""Pass watch events to cache and queue, in the real scheduler's order.

Source: seed 000 and 001; upstream ``eventhandlers.go``. Node deletion reaches the queue before the cache; a pod that
becomes assigned reaches the cache, fires AssignedPodAdd, and only then leaves the queue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.apiserver.watching import WatchEvent
from scheduler_engine.framework.events import (
    ASSIGNED_POD_DELETE,
    ActionType,
    ClusterEvent,
    node_scheduling_properties_change,
    pod_scheduling_properties_change,
)
from scheduler_engine.scheduler.parts import RESOURCES, SchedulerParts


@dataclass(frozen=True, slots=True)
class AtMostPriority:
    """A pre-check: only pods of this priority or lower."""

    priority: int

    def __call__(self, pod: Pod) -> bool:
        return pod.priority <= self.priority


def handle(scheduler: SchedulerParts, event: WatchEvent) -> None:
    """Apply one change from the API server to cache and queue."""
    if event.kind == "Pod":
        _pod(scheduler, _as_pod(event.old), _as_pod(event.new))
    elif event.kind == "Node":
        _node(scheduler, _as_node(event.old), _as_node(event.new))
    elif event.kind in RESOURCES:
        action = ActionType.ADD if event.old is None else ActionType.DELETE if event.new is None else ActionType.UPDATE
        changed = ClusterEvent(RESOURCES[event.kind], action)
        scheduler.queue.move_all_to_active_or_backoff_queue(changed, event.old, event.new)


def _as_pod(item: KubeObject | None) -> Pod | None:
    return item if isinstance(item, Pod) else None


def _as_node(item: KubeObject | None) -> Node | None:
    return item if isinstance(item, Node) else None


# --- nodes -----------------------------------------------------------------------------------------------------------


def _node(scheduler: SchedulerParts, old: Node | None, new: Node | None) -> None:
    move = scheduler.queue.move_all_to_active_or_backoff_queue
    if new is None:
        assert old is not None
        move(ClusterEvent("Node", ActionType.DELETE), old, None)
        scheduler.cache.remove_node(old)
    elif old is None:
        scheduler.cache.add_node(new)
        move(ClusterEvent("Node", ActionType.ADD), None, new)
    else:
        scheduler.cache.update_node(old, new)
        for event in node_scheduling_properties_change(new, old, scheduler.rules):
            move(event, old, new)


# --- pods ------------------------------------------------------------------------------------------------------------


def _pod(scheduler: SchedulerParts, old: Pod | None, new: Pod | None) -> None:
    """Act as upstream's two filtered handlers: assigned pods go to the cache, unassigned ones to the queue."""
    if new is not None and new.finished and new.node_name and scheduler.cache.is_assumed_pod(new):
        # The pod finished while it was being bound. No later event will confirm it, so the cache would count it for
        # ever.
        _cache_delete(scheduler, new)
    old, new = _unless_finished(old), _unless_finished(new)
    _filtered(scheduler, old, new, _is_assigned, _cache_add, _cache_update, _cache_delete)
    bound = new is not None and bool(new.node_name) and not scheduler.rules.binding_frees_nomination
    remove = _queue_remove_bound if bound else _queue_delete
    _filtered(scheduler, old, new, _is_ours_to_schedule, _queue_add, _queue_update, remove)


def _unless_finished(pod: Pod | None) -> Pod | None:
    """Return None for a finished pod: the scheduler ignores it."""
    return None if pod is None or pod.finished else pod


def _filtered(
    scheduler: SchedulerParts,
    old: Pod | None,
    new: Pod | None,
    belongs: Callable[[SchedulerParts, Pod], bool],
    add: Callable[[SchedulerParts, Pod], None],
    update: Callable[[SchedulerParts, Pod, Pod], None],
    delete: Callable[[SchedulerParts, Pod], None],
) -> None:
    before = old if old is not None and belongs(scheduler, old) else None
    after = new if new is not None and belongs(scheduler, new) else None
    if before is not None and after is not None:
        update(scheduler, before, after)
    elif after is not None:
        add(scheduler, after)
    elif before is not None:
        delete(scheduler, before)


def _is_assigned(scheduler: SchedulerParts, pod: Pod) -> bool:
    return bool(pod.node_name)


def _is_ours_to_schedule(scheduler: SchedulerParts, pod: Pod) -> bool:
    return not pod.node_name and pod.scheduler_name in scheduler.profiles


def _cache_add(scheduler: SchedulerParts, pod: Pod) -> None:
    scheduler.cache.add_pod(pod)
    scheduler.queue.assigned_pod_added(pod)


def _cache_update(scheduler: SchedulerParts, old: Pod, new: Pod) -> None:
    scheduler.cache.update_pod(old, new)
    for event in pod_scheduling_properties_change(new, old):
        scheduler.queue.assigned_pod_updated(old, new, event)


def _cache_delete(scheduler: SchedulerParts, pod: Pod) -> None:
    scheduler.cache.remove_pod(pod)
    scheduler.queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, pod, None)


def _queue_add(scheduler: SchedulerParts, pod: Pod) -> None:
    scheduler.queue.add(pod)


def _queue_update(scheduler: SchedulerParts, old: Pod, new: Pod) -> None:
    if old.resource_version == new.resource_version:
        return
    if scheduler.cache.is_assumed_pod(new):
        if scheduler.rules.forgets_deleted_assumed_pods and new.terminating and not old.terminating:
            _assumed_pod_deleted(scheduler, new)
        return
    scheduler.queue.update(old, new)
    if old.nominated_node_name and old.nominated_node_name != new.nominated_node_name:
        check = AtMostPriority(old.priority)
        scheduler.queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, old, None, check)


def _queue_remove_bound(scheduler: SchedulerParts, pod: Pod) -> None:
    """Take a pod that was bound out of the queue: its place is not free."""
    scheduler.queue.delete(pod)


def _assumed_pod_deleted(scheduler: SchedulerParts, pod: Pod) -> None:
    """Free the place of a pod that is deleted while it is being bound. Its binding will fail."""
    assumed = scheduler.cache.get_pod(pod)
    if not scheduler.reject_waiting_pod(pod.uid, "", "removed"):
        scheduler.cache.forget_pod(assumed)
    scheduler.queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, assumed, None)


def _queue_delete(scheduler: SchedulerParts, pod: Pod) -> None:
    scheduler.queue.delete(pod)
    if scheduler.rules.forgets_deleted_assumed_pods and scheduler.cache.is_assumed_pod(pod):
        _assumed_pod_deleted(scheduler, pod)
    elif scheduler.reject_waiting_pod(pod.uid, "", "removed"):
        scheduler.queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, pod, None)
    elif pod.nominated_node_name:
        check = AtMostPriority(pod.priority)
        scheduler.queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, pod, None, check)
