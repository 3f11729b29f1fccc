"""Who drains nodes: cordons them and asks the API server to evict their pods, again and again where it refuses.

Source: seed 002 §11; upstream ``kubectl drain`` (``k8s.io/kubectl/pkg/drain``), with its 5 s between two requests. Pods
of DaemonSets stay. Unlike kubectl it goes on asking after a 500, so that a stuck eviction can be seen to come loose.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.apiserver.eviction import evict
from scheduler_engine.apiserver.store import ApiServer, Watch
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import DrainChanged

RETRY_US = 5 * SECOND_US


@dataclass(slots=True)
class Drainer:
    """``draining``: node under way → number of its next timer, 0 = none is needed."""

    api: ApiServer
    timeline: Timeline
    watch: Watch
    draining: dict[str, int] = field(default_factory=dict)

    def work(self) -> bool:
        """Handle what is new; False when there was nothing."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if event.kind == "Node" and event.old is not None and event.old.name in self.draining:
            node = self.api.get("Node", event.old.name)
            if not isinstance(node, Node) or not node.unschedulable:
                self.stop(event.old.name)
        elif isinstance(event.old, Pod) and event.new is None:
            self._finish(event.old.node_name)
        elif isinstance(event.new, Pod) and event.new.node_name in self.draining and not _was_bound(event.old):
            self.ask(event.new.node_name)
        return True

    def start(self, node: str) -> None:
        """Cordon and begin. Raises ApiError when there is no such node."""
        self.api.patch("Node", node, {"spec": {"unschedulable": True}})
        if node not in self.draining:
            self.draining[node] = 0
            _, kept = self._pods(node)
            self.api.recorder.add(DrainChanged(node, "started", kept=_keys(kept)))
        self.ask(node)

    def stop(self, node: str) -> None:
        """Give up: nobody is asked any more."""
        timer = self.draining.pop(node, None)
        if timer is not None:
            self.timeline.cancel(timer)
            self.api.recorder.add(DrainChanged(node, "stopped"))

    def ask(self, node: str) -> None:
        """Ask for every pod that is not on its way out yet; ask again later where that was refused."""
        self.timeline.cancel(self.draining[node])
        self.draining[node] = 0
        refused: list[str] = []
        leaving, kept = self._pods(node)
        for pod in leaving:
            if pod.terminating:
                continue
            if evict(self.api, pod.key, node).code != 200:
                refused.append(pod.key)
        if refused:
            next_us = self.timeline.now_us + RETRY_US
            self.draining[node] = self.timeline.after(RETRY_US, self.ask, node, housekeeping=True)
            self.api.recorder.add(DrainChanged(node, "waiting", tuple(refused), _keys(kept), next_us))
        elif self._pods(node)[0]:
            self.api.recorder.add(DrainChanged(node, "evicted", _keys(leaving), _keys(kept)))
        else:
            self._finish(node)

    def _finish(self, node: str) -> None:
        """The drain is over when nothing is left but what stays."""
        if node not in self.draining:
            return
        leaving, kept = self._pods(node)
        if not leaving:
            self.timeline.cancel(self.draining.pop(node))
            self.api.recorder.add(DrainChanged(node, "finished", kept=_keys(kept)))

    def _pods(self, node: str) -> tuple[list[Pod], list[Pod]]:
        """(pods to evict, pods of DaemonSets)"""
        leaving: list[Pod] = []
        kept: list[Pod] = []
        for pod in self.api.pods_on(node):
            stays = pod.controller_ref is not None and pod.controller_ref["kind"] == "DaemonSet"
            (kept if stays else leaving).append(pod)
        return leaving, kept


def _was_bound(old: KubeObject | None) -> bool:
    return isinstance(old, Pod) and bool(old.node_name)


def _keys(pods: list[Pod]) -> tuple[str, ...]:
    return tuple(pod.key for pod in pods)
