"""Pods that a plugin calls back to activeQ, and how often.

Source: upstream ``framework/types.go`` (``PodsToActivate``) and ``schedule_one.go`` (the end of ``schedulingCycle``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from scheduler_engine.api.objects import Pod
from scheduler_engine.queue.lanes import ACTIVE_Q, OUTSIDE
from scheduler_engine.queue.scheduling_queue import SchedulingQueue
from scheduler_engine.timeline import SECOND_US, Timers


class HasQueue(Protocol):
    """A scheduler. A new configuration replaces its queue."""

    queue: SchedulingQueue


@dataclass(slots=True)
class Activations:
    """``done``: uid of a pod → when a plugin last called it; ``later``: uids of those to call after a second.

    Upstream sets no limit: the pods of a group that does not fit call each other without any backoff, as fast as the
    scheduler works. A stage takes no time here, so that would never end. Therefore a pod is called once a second.
    """

    timeline: Timers
    done: dict[str, int] = field(default_factory=dict)
    later: dict[str, None] = field(default_factory=dict)

    def activate(self, scheduler: HasQueue, pods: Iterable[Pod]) -> None:
        """Move pods to activeQ: at once, or a second after the last time."""
        now_us = self.timeline.now_us
        self.done = {uid: at_us for uid, at_us in self.done.items() if at_us + SECOND_US > now_us}
        for pod in pods:
            if pod.uid not in self.done:
                if scheduler.queue.lane_of(pod.key) not in (OUTSIDE, ACTIVE_Q):
                    self.done[pod.uid] = now_us
                scheduler.queue.activate((pod,))
            elif pod.uid not in self.later:
                self.later[pod.uid] = None
                left_us = self.done[pod.uid] + SECOND_US - now_us
                self.timeline.after(left_us, self._again, scheduler, pod, housekeeping=True)

    def _again(self, scheduler: HasQueue, pod: Pod) -> None:
        del self.later[pod.uid]
        self.activate(scheduler, (pod,))
