"""Handle a pod whose attempt failed: requeue it, record an event, set a condition and a nomination.

Source: seed 000; upstream ``schedule_one.go`` (``handleSchedulingFailure``).
"""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.conditions import with_condition
from scheduler_engine.api.objects import Pod
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.framework.status import Status, unschedulable
from scheduler_engine.queue.scheduling_queue import DISCARDED, QueueError
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.fit_error import Diagnosis, event_note, fit_message
from scheduler_engine.scheduler.parts import SchedulerParts
from scheduler_engine.trace.events import CycleFinished, EventRecorded
from scheduler_engine.words import say


def cycle_failed(scheduler: SchedulerParts, cycle: Cycle, status: Status, message: str) -> str:
    """End an attempt without a FitError: an internal error, or an empty cluster."""
    _fail(scheduler, cycle, status, message, nomination_after_failure(cycle))
    return ""


def nomination_after_failure(cycle: Cycle) -> str | None:
    """Return the ``nominated_node`` of an attempt in which no PostFilter plugin decided about it."""
    return None if cycle.rules.failures_keep_nomination else ""


def fit_failed(
    scheduler: SchedulerParts, cycle: Cycle, diagnosis: Diagnosis, num_all_nodes: int, nominated_node: str | None
) -> str:
    """End an attempt where no node fits. ``nominated_node``: "" clears an old nomination, None keeps it."""
    cycle.info.unschedulable_plugins = dict(diagnosis.unschedulable_plugins)
    cycle.info.pending_plugins = dict(diagnosis.pending_plugins)
    _fail(scheduler, cycle, unschedulable(), fit_message(num_all_nodes, diagnosis), nominated_node)
    return ""


def _fail(scheduler: SchedulerParts, cycle: Cycle, status: Status, message: str, nominated_node: str | None) -> None:
    popped, cycle.note = cycle.pod, cycle.note or say("notes.failed")
    live, unqueued = _still_to_be_scheduled(scheduler, popped), ""
    if live is not None and live.uid != popped.uid and not cycle.rules.requeues_recreated_pods:
        scheduler.queue.done(popped.uid, DISCARDED)
        scheduler.recorder.add(CycleFinished(cycle.number, popped.key, _outcome(status, nominated_node), "", message))
        return
    if live is None:
        scheduler.queue.done(popped.uid, DISCARDED)
        scheduler.queue.nominator.delete_nominated_pod_if_exists(popped)
    else:
        _take_latest(scheduler, cycle, live)
        try:
            scheduler.queue.add_unschedulable_if_not_present(cycle.info, scheduler.queue.scheduling_cycle)
        except QueueError as problem:
            # Another pod has this name now. Upstream only logs this, and forgets that the first pod is in flight.
            unqueued = f"; {problem}"
        scheduler.queue.nominator.add_nominated_pod(live, nominated_node)
    note = event_note(message)
    scheduler.recorder.add(EventRecorded("Pod", popped.key, "Warning", "FailedScheduling", note, uid=popped.uid))
    stored = scheduler.api.pod(popped.key)
    if stored is not None:
        # Upstream does not check for changes to the pod: one that has finished, got a node, or was replaced under the
        # same name also gets the condition, and keeps a nomination that the attempt did not know of.
        known = live if live is not None and cycle.rules.judges_status_of_latest_pod else popped
        changed = nominated_node if nominated_node != known.nominated_node_name else None
        message += _update_status(scheduler, known, stored, status, message, changed)
    outcome = _outcome(status, nominated_node)
    scheduler.recorder.add(CycleFinished(cycle.number, popped.key, outcome, nominated_node or "", message + unqueued))


def _take_latest(scheduler: SchedulerParts, cycle: Cycle, live: Pod) -> None:
    """Go on with the latest version of the pod. By the rule ``signs_in_queue`` its signature stays that of the version
    before; a change of the configuration makes signatures anew.
    """
    info = cycle.info
    keeps = cycle.rules.signs_in_queue and scheduler.profiles.get(cycle.framework.profile_name) is cycle.framework
    signed = (info.signed or cycle.pod) if keeps else None
    info.update(live)
    info.signed = signed


def _outcome(status: Status, nominated_node: str | None) -> str:
    return "nominated" if nominated_node else "unschedulable" if status.is_rejected else "error"


def _still_to_be_scheduled(scheduler: SchedulerParts, popped: Pod) -> Pod | None:
    """Return the API server's current pod of that name, which may be another one. Return None if there is none, it is
    finished or on a node, or no profile serves it.
    """
    live = scheduler.api.pod(popped.key)
    if live is None or live.finished or live.node_name:
        return None
    return live if live.scheduler_name in scheduler.profiles else None


def _update_status(
    scheduler: SchedulerParts, known: Pod, stored: Pod, status: Status, message: str, nominated_node: str | None
) -> str:
    """Return what to add to the message if the API server rejected the status.

    As upstream, changes are judged against a version of the pod, ``known``: nothing is sent if that one said the same.
    """
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable" if status.is_rejected else "SchedulerError",
        "message": message,
    }
    if nominated_node is None and any(condition.items() <= held.items() for held in known.conditions):
        return ""
    changes: dict[str, Any] = {"conditions": with_condition(stored.conditions, condition)}
    if nominated_node is not None:
        changes["nominatedNodeName"] = nominated_node or None
    try:
        scheduler.api.patch("Pod", stored.key, {"status": changes})
    except ApiError as problem:
        return f"; error updating the pod's status: {problem.message}"
    return ""
