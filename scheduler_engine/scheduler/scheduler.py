"""The scheduler: cache, queue, profiles, and running cycles. It sees the world only through a watch.

Source: seed 000, 001, 002 §6, 004; upstream ``scheduler.go``.
"""

from __future__ import annotations

from scheduler_engine.apiserver.watching import WatchEvent
from scheduler_engine.queue.scheduling_queue import DISCARDED
from scheduler_engine.scheduler import eventhandlers, stages
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.parts import CycleNumbers, SchedulerParts
from scheduler_engine.scheduler.schedule_one import pod_is_skipped
from scheduler_engine.scheduler.stages import BINDING
from scheduler_engine.trace.events import (
    CycleFinished,
    CycleStarted,
    EventRecorded,
    StageFinished,
)
from scheduler_engine.words import say

__all__ = ["CycleNumbers", "Scheduler"]


class Scheduler(SchedulerParts):
    """One kube-scheduler, stage by stage."""

    def list_objects(self) -> None:
        """Fill cache and queue with the existing pods and nodes. Other kinds only help waiting pods."""
        for kind in ("Node", "Pod"):
            for item in self.api.list(kind):
                eventhandlers.handle(self, WatchEvent(kind, None, item))

    def work(self) -> bool:
        """Handle one watch event; return False if there is none."""
        event = self.heard.pop(0) if self.heard else self.api.next_event(self.watch)
        if event is None:
            return False
        item = event.new or event.old
        late = self.unheard.get(item.uid) if item is not None and self.unheard else None
        if late is not None:
            late.append(event)
        else:
            eventhandlers.handle(self, event)
        return True

    # --- stepping ---

    def step(self) -> bool:
        """Run the next stage of the scheduling cycle, else of the oldest binding cycle that need not wait, else Pop."""
        if self.cycle is not None:
            self._run_stage(self.cycle)
            return True
        for binding in self.bindings:
            if not self._must_wait(binding):
                self._run_stage(binding)
                return True
        return self._pop()

    def busy(self) -> bool:
        """Return True if a running cycle can continue now."""
        return self.cycle is not None or any(not self._must_wait(binding) for binding in self.bindings)

    def waits_for_time(self) -> bool:
        """Return True if pods back off or wait on Permit: passing time will bring work."""
        return bool(self.bindings) or len(self.queue.backoff_q) > 0

    def _must_wait(self, binding: Cycle) -> bool:
        return binding.wait_until_us is not None and self.timeline.now_us < binding.wait_until_us

    def _pop(self) -> bool:
        info = self.queue.pop()
        if info is None:
            return False
        pod = info.pod
        why_not = pod_is_skipped(self, pod)
        self.numbers.count += 1
        self.recorder.add(
            CycleStarted(self.cycle_count, pod.key, pod.scheduler_name, info.attempts, pod.nominated_node_name)
        )
        if why_not:
            if pod.terminating:
                self.recorder.add(EventRecorded("Pod", pod.key, "Warning", "FailedScheduling", why_not, uid=pod.uid))
            self.queue.done(pod.uid, DISCARDED)
            self.recorder.add(StageFinished(self.cycle_count, pod.key, "Pop", say("notes.skipped"), ""))
            self.recorder.add(CycleFinished(self.cycle_count, pod.key, "skipped", "", why_not))
            return True
        framework = self.profiles[pod.scheduler_name]
        percentage = self.configuration.percentage_of_nodes_to_score or 0
        self.cycle = self.latest = Cycle(self.cycle_count, info, framework, "Snapshot", percentage)
        note = say("notes.attempt", number=info.attempts)
        self.recorder.add(StageFinished(self.cycle_count, pod.key, "Pop", note, self.cycle.stage))
        return True

    def _run_stage(self, cycle: Cycle) -> None:
        ran = cycle.stage
        cycle.framework.handle.cycle = cycle.number
        pod_key, cycle.note = cycle.pod.key, ""
        stages.run(self, cycle)
        self.recorder.add(StageFinished(cycle.number, pod_key, ran, cycle.note, cycle.stage))
        if not cycle.stage:
            self.ended = cycle
        if cycle is self.cycle and (not cycle.stage or cycle.stage in BINDING):
            self.cycle = None
            if cycle.stage:
                self.bindings.append(cycle)
        elif not cycle.stage:
            self.bindings.remove(cycle)
