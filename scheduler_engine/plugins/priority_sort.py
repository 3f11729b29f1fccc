"""PrioritySort: the order of activeQ, higher priority first, then the longer wait.

Source: seed 002 §9; upstream ``plugins/queuesort/priority_sort.go``.
"""

from __future__ import annotations

from scheduler_engine.framework.interface import Plugin, QueuedPodInfo


class PrioritySort(Plugin):
    name = "PrioritySort"

    def less(self, left: QueuedPodInfo, right: QueuedPodInfo) -> bool:
        """Return True if ``left`` is scheduled before ``right``."""
        first, second = left.pod.priority, right.pod.priority
        return first > second or (first == second and left.timestamp_us < right.timestamp_us)
