"""The taint eviction controller: NoExecute taints drive pods away, at once or after their tolerationSeconds.

Source: seed 002 §5 (Taint based Evictions); upstream ``pkg/controller/tainteviction``. As upstream, a planned eviction
keeps its time, even if tolerations change, until the pod tolerates no taint or every taint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.api.taints import Taint, Toleration
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, WatchEvent, every_change
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


@dataclass(frozen=True, slots=True)
class Stay:
    """How long a pod may stay on its node: for ``seconds``, None = forever, or not at all. ``taint`` decides."""

    taint: str = ""
    seconds: int | None = None
    tolerated: bool = True


def _may_leave(event: WatchEvent) -> bool:
    """Return True if a pod goes, comes to a node, or tolerates other taints than before."""
    old, new = event.old, event.new
    if not isinstance(old, Pod) or not isinstance(new, Pod):
        return not isinstance(new, Pod) or bool(new.node_name)
    return old.uid != new.uid or old.node_name != new.node_name or old.tolerations != new.tolerations


@dataclass(slots=True)
class TaintEvictionController:
    """``planned``: key of a pod → its planned eviction."""

    WANTS: ClassVar[Wants] = {"Node": every_change, "Pod": _may_leave}

    api: ApiServer
    timeline: Timeline
    watch: Watch
    planned: dict[str, Planned] = field(default_factory=dict)

    def work(self) -> bool:
        """Handle one change; return False if there was none."""
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
                self._cancel(old.key, "deleted")
        if isinstance(new, Pod) and new.node_name:
            before = old if isinstance(old, Pod) else None
            if before is None or before.node_name != new.node_name or before.tolerations != new.tolerations:
                current = self.api.pod(new.key)
                if current is not None:
                    self._process(current)

    def _process(self, pod: Pod) -> None:
        """Evict, plan to evict or leave one pod, as its node's taints now require."""
        taints = no_execute(self.api.get("Node", pod.node_name))
        if pod.terminating or not taints:
            self._cancel(pod.key, "deleted" if pod.terminating else "removed")
            return
        stay = stay_of(taints, pod.tolerations, self.api.rules.tolerations_compare)
        if not stay.tolerated:
            self._cancel(pod.key, "evicted", stay)
            self.evict(pod.key, pod.uid, stay.taint)
            return
        if stay.seconds is None:
            self._cancel(pod.key, "tolerated")
            return
        now_us = self.timeline.now_us
        held = self.planned.get(pod.key)
        if held is not None and held.uid == pod.uid and held.since_us < now_us:
            return
        self._cancel(pod.key, "evicted" if stay.seconds <= 0 else "stays", stay)
        after_us = max(0, stay.seconds) * SECOND_US
        if after_us:
            timer = self.timeline.after(after_us, self.evict, pod.key, pod.uid, stay.taint)
            self.planned[pod.key] = Planned(pod.uid, pod.node_name, now_us, timer)
        planned = TaintEvictionPlanned(pod.key, pod.node_name, now_us + after_us, stay.taint, max(0, stay.seconds))
        self.api.recorder.add(planned)
        if not after_us:
            self.evict(pod.key, pod.uid, stay.taint)

    def evict(self, pod_key: str, uid: str, taint: str) -> None:
        """Mark the pod and delete it gracefully."""
        self.planned.pop(pod_key, None)
        pod = self.api.pod(pod_key)
        if pod is None or pod.uid != uid or pod.terminating:
            return
        self._tell(pod_key, f"Marking for deletion Pod {pod_key}", taint)
        self.api.delete_pod(pod_key, REASON, MESSAGE)

    def _cancel(self, pod_key: str, why: str, stay: Stay | None = None) -> None:
        """Record each cancelled plan, even if ``stay`` brings another plan or an immediate eviction."""
        plan = self.planned.pop(pod_key, None)
        if plan is not None:
            self.timeline.cancel(plan.timer)
            taint_and_seconds = (stay.taint, stay.seconds) if stay is not None else ("", None)
            self.api.recorder.add(TaintEvictionPlanned(pod_key, plan.node, None, *taint_and_seconds, why))
            self._tell(pod_key, f"Cancelling deletion of Pod {pod_key}")

    def _tell(self, pod_key: str, text: str, taint: str = "") -> None:
        self.api.recorder.add(EventRecorded("Pod", pod_key, "Normal", "TaintManagerEviction", text, taint))


def _taints_may_differ(event: WatchEvent) -> bool:
    """Return False if a node goes, as plans stay, and True for a new one of its name, whatever its taints."""
    if event.new is None:
        return False
    return event.old is None or no_execute(event.old) != no_execute(event.new)


def no_execute(node: KubeObject | None) -> tuple[Taint, ...]:
    """Return the taints of a node that drive pods away."""
    return tuple(taint for taint in node.taints if taint.effect == "NoExecute") if isinstance(node, Node) else ()


def stay_of(taints: Iterable[Taint], tolerations: Iterable[Toleration], compares: bool) -> Stay:
    """Return the stay by the first taint that is not tolerated, else by the one tolerated for the shortest time; for
    each taint the first toleration counts.
    """
    held, soonest = tuple(tolerations), Stay()
    for taint in taints:
        used = next((item for item in held if item.tolerates(taint, compares)), None)
        if used is None:
            return Stay(taint.text, tolerated=False)
        if used.seconds is not None and (soonest.seconds is None or used.seconds < soonest.seconds):
            soonest = Stay(taint.text, used.seconds)
    return soonest
