"""The pod garbage collector: deletes pods that nothing else can end.

These are pods on a node that has been gone for 40 s, terminating pods on a node out of service, and terminating pods
without a node. Source: upstream ``pkg/controller/podgc``. It runs every 20 s of simulated time, but only while there
is a pod to check. Not here: the threshold of 12,500 finished pods, more than a sandbox holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from scheduler_engine.api.conditions import condition_set
from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.api.taints import OUT_OF_SERVICE
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, WatchEvent, every_change
from scheduler_engine.timeline import SECOND_US, Timeline

PERIOD_US = 20 * SECOND_US
QUARANTINE_US = 40 * SECOND_US
ORPHANED = ("DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists")
"""Type, status, reason and message of the condition."""


def _may_be_left(event: WatchEvent) -> bool:
    """Return True if a pod is being deleted, or is on another node than before, which may be missing."""
    old, new = event.old, event.new
    if not isinstance(new, Pod):
        return False
    elsewhere = not isinstance(old, Pod) or old.uid != new.uid or old.node_name != new.node_name
    return new.terminating or (elsewhere and bool(new.node_name))


@dataclass(slots=True)
class PodGarbageCollector:
    """``missing``: name of a missing node that still has pods → since when that is known, or when pods were last
    deleted there, in simulated microseconds; ``ticks``: a timer is set.
    """

    WANTS: ClassVar[Wants] = {"Node": every_change, "Pod": _may_be_left}

    api: ApiServer
    timeline: Timeline
    watch: Watch
    missing: dict[str, int] = field(default_factory=dict)
    ticks: bool = False

    def work(self) -> bool:
        """Handle one change; return False if there was none."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        concerned = isinstance(event.new, Pod) and self._concerns(event.new)
        if concerned or (event.kind == "Node" and (event.new is None or _out_of_service(event.new))):
            self._wait()
        return True

    def _concerns(self, pod: Pod) -> bool:
        node = self.api.get("Node", pod.node_name)
        if pod.node_name and node is None:
            return True
        return pod.terminating and (not pod.node_name or _out_of_service(node))

    def _wait(self) -> None:
        """Check again at the next full period, if any pod needs it."""
        if not self.ticks and any(self._concerns(pod) for pod in self.api.pods()):
            self.ticks = True
            now_us = self.timeline.now_us
            self.timeline.after(PERIOD_US - now_us % PERIOD_US, self.collect, housekeeping=True)

    def collect(self) -> None:
        """Check all pods once."""
        self.ticks = False
        now_us, pods = self.timeline.now_us, self.api.pods()
        orphans = [pod for pod in pods if pod.node_name and self.api.get("Node", pod.node_name) is None]
        self.missing = {pod.node_name: self.missing.get(pod.node_name, now_us) for pod in orphans}
        for pod in pods:
            if pod.terminating and (not pod.node_name or _out_of_service(self.api.get("Node", pod.node_name))):
                self._end(pod)
        over = {name: now_us for name, since_us in self.missing.items() if now_us - since_us >= QUARANTINE_US}
        for pod in orphans:
            if pod.node_name in over:
                self._end(pod, orphaned=True)
        # Pods bound to this node later get a new quarantine: upstream's queue has dropped the node.
        self.missing |= over
        self._wait()

    def _end(self, pod: Pod, orphaned: bool = False) -> None:
        if not pod.finished:
            conditions = pod.conditions
            if orphaned:
                conditions = condition_set(conditions, self.timeline.now_us, *ORPHANED)
            self.api.patch("Pod", pod.key, {"status": {"phase": "Failed", "conditions": conditions or None}})
        self.api.remove("Pod", pod.key)


def _out_of_service(node: KubeObject | None) -> bool:
    """Return True if it is not ready, and someone who knows that it is down has tainted it."""
    if not isinstance(node, Node) or node.ready_status == "True":
        return False
    return any(taint.key == OUT_OF_SERVICE for taint in node.taints)
