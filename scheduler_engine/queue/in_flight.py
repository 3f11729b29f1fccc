"""Pods being scheduled, and the events seen since they were popped.

Both are in one list in order of arrival: entries behind a pod happened during its attempt. Events are dropped
only from the head, once no pod precedes them. Source: upstream ``backend/queue/active_queue.go``.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.events import ClusterEvent
from scheduler_engine.records import record


@record(frozen=True, slots=True)
class InFlightEvent:
    """An event with the object before and after; None = it did, or does, not exist."""

    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None


class InFlight:
    """``entries``: serial → a pod in flight or an event, in order; ``pods``: uid → serial of its entry."""

    __slots__ = ("arrivals", "entries", "pods")

    def __init__(self) -> None:
        self.entries: dict[int, Pod | InFlightEvent] = {}
        self.pods: dict[str, int] = {}
        self.arrivals = 0

    def __contains__(self, uid: str) -> bool:
        return uid in self.pods

    def add_pod(self, pod: Pod) -> None:
        self.pods[pod.uid] = self._append(pod)

    def add_events_for_pod(self, old: Pod | None, new: Pod, events: Iterable[ClusterEvent]) -> bool:
        """Note ``events`` of ``new`` itself and return True if it is in flight."""
        if new.uid not in self.pods:
            return False
        for event in events:
            self._append(InFlightEvent(event, old, new))
        return True

    def add_event(self, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None) -> bool:
        """Note ``event`` and return True if any pod is in flight."""
        if self.pods:
            self._append(InFlightEvent(event, old, new))
        return bool(self.pods)

    def events_since(self, uid: str) -> list[InFlightEvent] | None:
        """Return the events since the pod was popped; None if it is not in flight."""
        serial = self.pods.get(uid)
        if serial is None:
            return None
        return [entry for number, entry in self.entries.items() if number > serial and isinstance(entry, InFlightEvent)]

    def done(self, uid: str) -> Pod | None:
        """Forget the pod and the events that no other pod needs; None if it is not in flight."""
        serial = self.pods.pop(uid, None)
        if serial is None:
            return None
        pod = self.entries.pop(serial)
        unneeded = []
        for number, entry in self.entries.items():
            if isinstance(entry, Pod):
                break
            unneeded.append(number)
        for number in unneeded:
            del self.entries[number]
        assert isinstance(pod, Pod)
        return pod

    def pod_keys(self) -> tuple[str, ...]:
        """Return the keys of the pods in flight, in order of their Pop.

        A pod that was deleted in flight and its successor of the same name are one key.
        """
        return tuple(dict.fromkeys(entry.key for entry in self.entries.values() if isinstance(entry, Pod)))

    def _append(self, entry: Pod | InFlightEvent) -> int:
        self.arrivals += 1
        self.entries[self.arrivals] = entry
        return self.arrivals
