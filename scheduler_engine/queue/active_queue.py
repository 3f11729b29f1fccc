"""Pods ready to be scheduled, the number of the scheduling cycle, and the pods in flight.

Source: seed 000 (active queue); upstream ``backend/queue/active_queue.go``.
"""

from __future__ import annotations

from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.queue.heap import Heap, Less
from scheduler_engine.queue.in_flight import InFlight


class ActiveQueue(Heap):
    """``scheduling_cycle`` counts the pods popped."""

    __slots__ = ("in_flight", "scheduling_cycle")

    def __init__(self, less: Less) -> None:
        super().__init__(less)
        self.in_flight = InFlight()
        self.scheduling_cycle = 0

    def start_attempt(self, info: QueuedPodInfo) -> bool:
        """Begin the next attempt of ``info``, which was popped.

        Return False if a pod of that uid is already in flight: upstream discards the second one.
        """
        info.attempts += 1
        if info.pod.uid in self.in_flight:
            return False
        self.in_flight.add_pod(info.pod)
        self.scheduling_cycle += 1
        info.unschedulable_plugins.clear()
        info.pending_plugins.clear()
        info.gating_plugin = ""
        return True
