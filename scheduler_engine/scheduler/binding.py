"""The binding cycle, stage by stage. It runs alongside later scheduling cycles.

Source: seed 002 §6, 004; upstream ``schedule_one.go`` (``bindingCycle``, ``handleBindingCycleError``).
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.api.objects import Pod
from scheduler_engine.durations import format_duration
from scheduler_engine.framework.events import ASSIGNED_POD_DELETE
from scheduler_engine.framework.status import Code, Status, error, unschedulable
from scheduler_engine.scheduler import extending
from scheduler_engine.scheduler.counted import AFTER_FLUSH
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.failure import cycle_failed, fit_failed, nomination_after_failure
from scheduler_engine.scheduler.parts import SchedulerParts
from scheduler_engine.scheduler.schedule_one import rejection_on, unreserve_and_forget
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import CycleFinished, EventRecorded
from scheduler_engine.words import say

POLL_US = SECOND_US
"""How often a plugin that waits for something in PreBind or Bind is called again."""


@dataclass(frozen=True, slots=True)
class OtherThan:
    """A pre-check that passes every pod except one."""

    uid: str

    def __call__(self, pod: Pod) -> bool:
        return pod.uid != self.uid


def wait_on_permit(scheduler: SchedulerParts, cycle: Cycle) -> str:
    """Finish the wait on Permit. Reject the pod if it was denied or if the first timeout has passed."""
    cycle.wait_until_us = None
    cycle.note = say("notes.may-be-bound")
    if cycle.preempted:
        why = f"waiting on permit for pod: {cycle.rejected_because}"
        return _binding_failed(scheduler, cycle, error(why).by(cycle.rejected_by))
    if cycle.rejected_because:
        return _rejected_on_permit(scheduler, cycle, unschedulable(cycle.rejected_because).by(cycle.rejected_by))
    if cycle.waits:
        plugin = min(cycle.waits, key=lambda name: cycle.waits[name])
        waited = format_duration(cycle.waits[plugin] * 1000)
        text = f"rejected due to timeout after waiting {waited} at plugin {plugin}"
        return _rejected_on_permit(scheduler, cycle, unschedulable(text).by(plugin))
    return "PreBind"


def pre_bind(scheduler: SchedulerParts, cycle: Cycle) -> str:
    if cycle.cannot_bind:
        return _binding_failed(scheduler, cycle, error(cycle.cannot_bind))
    scheduler.queue.done(cycle.placed.uid)
    if cycle.preempted:
        return _binding_failed(scheduler, cycle, _canceled(cycle))
    status = cycle.framework.run_pre_bind_plugins(cycle.state, cycle.placed, cycle.host)
    cycle.note = say("notes.ready")
    if status is not None and status.code is Code.WAIT:
        cycle.note = say("notes.still-waiting")
        cycle.waits_for = status.plugin
        scheduler.wait(cycle, POLL_US)
        return "PreBind"
    if status is not None:
        return _binding_failed(scheduler, cycle, status)
    return "Bind"


def _canceled(cycle: Cycle) -> Status:
    """Return the error of a pod that is preempted in PreBind: the cause takes the place of the waiting plugin's own
    error.
    """
    why = f'running PreBind plugin "{cycle.waits_for}": preempted by {cycle.rejected_by}'
    return error(why).by(cycle.waits_for)


def bind(scheduler: SchedulerParts, cycle: Cycle) -> str:
    pod = cycle.placed
    is_bound, status = extending.bind(cycle.framework.handle, cycle.number, pod, cycle.host)
    if not is_bound:
        status = cycle.framework.run_bind_plugins(cycle.state, pod, cycle.host)
    if status is not None and status.code is Code.WAIT:
        cycle.note = say("notes.still-waiting")
        scheduler.wait(cycle, POLL_US)
        return "Bind"
    scheduler.cache.finish_binding(pod)
    cycle.note = say("notes.bound", node=cycle.host)
    if status is not None and not status.is_success:
        return _binding_failed(scheduler, cycle, status)
    if cycle.info.was_flushed:
        scheduler.count(AFTER_FLUSH)
    text = f"Successfully assigned {pod.namespace}/{pod.name} to {cycle.host}"
    scheduler.recorder.add(EventRecorded("Pod", pod.key, "Normal", "Scheduled", text, uid=pod.uid))
    return "PostBind"


def post_bind(scheduler: SchedulerParts, cycle: Cycle) -> str:
    cycle.framework.run_post_bind_plugins(cycle.state, cycle.placed, cycle.host)
    cycle.note = say("notes.over")
    scheduler.recorder.add(CycleFinished(cycle.number, cycle.pod.key, "bound", cycle.host, ""))
    return ""


def _rejected_on_permit(scheduler: SchedulerParts, cycle: Cycle, status: Status) -> str:
    """Fail the pod as unschedulable. The plugin's hints decide when to retry it; later failures are errors."""
    forgotten = _give_back(scheduler, cycle, status)
    fit_failed(scheduler, cycle, rejection_on(cycle.host, status), 1, nomination_after_failure(cycle))
    if forgotten:
        _its_going_helps_others(scheduler, cycle)
    return ""


def _binding_failed(scheduler: SchedulerParts, cycle: Cycle, status: Status) -> str:
    """Fail the attempt after Permit. Even a rejection is an error here: the pod is retried after its backoff."""
    forgotten = _give_back(scheduler, cycle, status)
    if forgotten and not status.is_rejected:
        scheduler.queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, cycle.placed, None)
    cycle_failed(scheduler, cycle, status, status.message)
    if forgotten and status.is_rejected:
        _its_going_helps_others(scheduler, cycle)
    return ""


def _give_back(scheduler: SchedulerParts, cycle: Cycle, status: Status) -> bool:
    """Release the pod's place in the cache. Return True if it is free again."""
    cycle.note = _objection(cycle, status)
    return unreserve_and_forget(scheduler, cycle)


def _objection(cycle: Cycle, status: Status) -> str:
    """Return who rejects the pod, or what failed. No plugin rejects a pod that is deleted or that waits too long."""
    if cycle.waits and not cycle.rejected_because:
        return say("notes.not-allowed-in-time")
    if status.is_rejected and not status.plugin and cycle.rejected_because:
        return say("notes.deleted-while-waiting")
    who = status.plugin or say("notes.the-binding")
    return say("notes.rejected", who=who) if status.is_rejected else say("notes.broke", who=who)


def _its_going_helps_others(scheduler: SchedulerParts, cycle: Cycle) -> None:
    """Queue other pods that may fit now. Call this after the pod itself is queued again."""
    pod = cycle.placed
    scheduler.queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, pod, None, OtherThan(pod.uid))
