"""The taint eviction controller: NoExecute taints drive pods away, at once or after their tolerationSeconds.

Source: seed 002 §5 (Taint based Evictions); upstream ``pkg/controller/tainteviction``. As upstream, an eviction that is
planned keeps its time, whatever tolerations are changed meanwhile, until the pod tolerates no taint or every taint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.api.taints import Taint, Toleration
from scheduler_engine.apiserver.store import ApiServer, Watch, WatchEvent
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import EventRecorded, TaintEvictionPlanned

REASON = "DeletionByTaintManager"
MESSAGE = "Taint manager: deleting due to NoExecute taint"


@dataclass(frozen=True, slots=True)
class Planned:
    """``since_us``: when it was planned, ``timer``: the timer's number."""

    uid: str
    node: str
    since_us: int
    timer: int


@dataclass(slots=True)
class TaintEvictionController:
    """``planned``: key of a pod → its eviction to come."""

    api: ApiServer
    timeline: Timeline
    watch: Watch
    planned: dict[str, Planned] = field(default_factory=dict)

    def work(self) -> bool:
        """Handle what is new; False when there was nothing."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if event.kind == "Pod":
            self._pod_changed(event)
        elif event.kind == "Node" and _taints_may_differ(event):
            for pod in self.api.pods_on(event.key):
                self._process(pod)
        return True

    def _pod_changed(self, event: WatchEvent) -> None:
        old, new = event.old, event.new
        if isinstance(old, Pod) and (new is None or new.uid != old.uid):
            plan = self.planned.get(old.key)
            if plan is not None and plan.uid == old.uid:
                self._cancel(old.key)
        if isinstance(new, Pod) and new.node_name:
            before = old if isinstance(old, Pod) else None
            if before is None or before.node_name != new.node_name or before.tolerations != new.tolerations:
                current = self.api.pod(new.key)
                if current is not None:
                    self._process(current)

    def _process(self, pod: Pod) -> None:
        """Evict, plan to evict or leave in peace one pod, as the taints of its node now ask for."""
        found = no_execute(self.api.get("Node", pod.node_name))
        if pod.terminating or not found:
            self._cancel(pod.key)
            return
        used = matching(found, pod.tolerations)
        if used is None:
            self._cancel(pod.key)
            self.evict(pod.key, pod.uid)
            return
        seconds = shortest_seconds(used)
        if seconds is None:
            self._cancel(pod.key)
            return
        now_us = self.timeline.now_us
        held = self.planned.get(pod.key)
        if held is not None and held.uid == pod.uid and held.since_us < now_us:
            return
        self._cancel(pod.key)
        if seconds <= 0:
            self.evict(pod.key, pod.uid)
            return
        timer = self.timeline.after(seconds * SECOND_US, self.evict, pod.key, pod.uid)
        self.planned[pod.key] = Planned(pod.uid, pod.node_name, now_us, timer)
        self.api.recorder.add(TaintEvictionPlanned(pod.key, pod.node_name, now_us + seconds * SECOND_US))

    def evict(self, pod_key: str, uid: str) -> None:
        """Mark the pod and delete it gracefully."""
        self.planned.pop(pod_key, None)
        pod = self.api.pod(pod_key)
        if pod is None or pod.uid != uid or pod.terminating:
            return
        self._tell(pod_key, f"Marking for deletion Pod {pod_key}")
        self.api.delete_pod(pod_key, REASON, MESSAGE)

    def _cancel(self, pod_key: str) -> None:
        """Every plan that is given up is told of, also where another one or the eviction itself follows at once."""
        plan = self.planned.pop(pod_key, None)
        if plan is not None:
            self.timeline.cancel(plan.timer)
            self.api.recorder.add(TaintEvictionPlanned(pod_key, plan.node, None))
            self._tell(pod_key, f"Cancelling deletion of Pod {pod_key}")

    def _tell(self, pod_key: str, text: str) -> None:
        self.api.recorder.add(EventRecorded("Pod", pod_key, "Normal", "TaintManagerEviction", text))


def _taints_may_differ(event: WatchEvent) -> bool:
    """The end of a node leaves plans as they are; a new one of its name is looked at, whatever its taints."""
    if event.new is None:
        return False
    return event.old is None or no_execute(event.old) != no_execute(event.new)


def no_execute(node: KubeObject | None) -> tuple[Taint, ...]:
    """The taints of a node that drive pods away."""
    return tuple(taint for taint in node.taints if taint.effect == "NoExecute") if isinstance(node, Node) else ()


def matching(found: Iterable[Taint], tolerations: Iterable[Toleration]) -> list[Toleration] | None:
    """The first toleration for each taint; None when one of them is not tolerated."""
    held = tuple(tolerations)
    used = [next((item for item in held if item.tolerates(taint)), None) for taint in found]
    matched = [item for item in used if item is not None]
    return matched if len(matched) == len(used) else None


def shortest_seconds(used: Iterable[Toleration]) -> int | None:
    """How long a pod may stay: the minimum of what is given, None = for ever."""
    return min((item.seconds for item in used if item.seconds is not None), default=None)
