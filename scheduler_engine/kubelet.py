"""The kubelet, as far as the scheduler can see it: bound pods start, deleted pods end after their grace period.

Source: seed 002 §9 (graceful termination of victims) and §11; upstream ``pkg/kubelet``. It learns of pods through a
watch and writes their status to the API server.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.api.objects import Pod, timestamp
from scheduler_engine.apiserver.store import ApiServer, Watch
from scheduler_engine.timeline import SECOND_US, Timeline


@dataclass(slots=True)
class Kubelet:
    """The kubelets of all nodes together."""

    api: ApiServer
    timeline: Timeline
    watch: Watch

    def work(self) -> bool:
        """Handle what is new; False when there was nothing."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if event.kind == "Pod" and isinstance(event.new, Pod):
            self._pod_changed(event.old if isinstance(event.old, Pod) else None, event.new)
        return True

    def _pod_changed(self, old: Pod | None, new: Pod) -> None:
        if not new.node_name or self.api.get("Node", new.node_name) is None:
            return
        if new.terminating:
            if old is None or not old.terminating:
                seconds = new.metadata.get("deletionGracePeriodSeconds", 0)
                self.timeline.after(seconds * SECOND_US, self.terminated, new.key, new.uid)
        elif new.phase in ("", "Pending") and self.api.pod(new.key) is new:
            started = {"phase": "Running"}
            if new.start_time_us is None:
                started["startTime"] = timestamp(self.timeline.now_us)
            self.api.patch("Pod", new.key, {"status": started})

    def terminated(self, pod_key: str, uid: str) -> None:
        """The grace period is over: the pod is gone."""
        pod = self.api.pod(pod_key)
        if pod is not None and pod.uid == uid:
            self.api.remove("Pod", pod_key)
