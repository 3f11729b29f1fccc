"""Pods that failed and wait for an event that may help, and pods that a PreEnqueue plugin holds back.

Source: seed 000 (unschedulable queue); upstream ``backend/queue/unschedulable_pods.go``.
"""

from __future__ import annotations

from scheduler_engine.framework.interface import QueuedPodInfo


class UnschedulablePods:
    """``infos``: pod key → QueuedPodInfo, in order of arrival."""

    __slots__ = ("infos",)

    def __init__(self) -> None:
        self.infos: dict[str, QueuedPodInfo] = {}

    def __len__(self) -> int:
        return len(self.infos)

    def __contains__(self, key: str) -> bool:
        return key in self.infos

    def get(self, key: str) -> QueuedPodInfo | None:
        return self.infos.get(key)

    def add_or_update(self, info: QueuedPodInfo) -> bool:
        """Return True if the pod was not in before."""
        added = info.pod.key not in self.infos
        self.infos[info.pod.key] = info
        return added

    def delete(self, key: str) -> QueuedPodInfo | None:
        return self.infos.pop(key, None)

    def gated_count(self) -> int:
        """Return the number of gated pods."""
        return sum(1 for info in self.infos.values() if info.gating_plugin)
