"""Nominations: pods that wait for others to leave their node.

Source: seed 002 §7 (preemption); upstream ``backend/queue/nominator.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.interface import ObjectReader, QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.sharing import Groups, Table
from scheduler_engine.trace.events import NominationChanged, Recorder


class Lane(Protocol):
    """A lookup of queued pods by key."""

    def get(self, key: str) -> QueuedPodInfo | None: ...


@dataclass(frozen=True, slots=True)
class PodRef:
    name: str
    namespace: str
    uid: str

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Nominator:
    """Implements ``NominatorView``.

    ``nominated_pods``: node name → uid → pod, in order of nomination; failed pods without a nomination are under "",
    thousands at times. ``nodes``: pod uid → node. ``lanes`` are searched in order for the pods. ``objects`` shows if a
    pod still exists unscheduled; without it (None) every pod does.
    """

    def __init__(self, recorder: Recorder, objects: ObjectReader | None, lanes: Sequence[Lane]) -> None:
        self.recorder = recorder
        self.objects = objects
        self.lanes = tuple(lanes)
        self.nominated_pods: Groups[str, str, PodRef] = Groups()
        self.nodes: Table[str, str] = Table()

    def add_nominated_pod(self, pod: Pod, node_name: str | None = None) -> None:
        """Nominate ``pod`` for ``node_name`` ("" clears); None uses the pod's ``status.nominatedNodeName``.

        If the pod is gone or has a node by now, only its old nomination is removed.
        """
        before = self.nodes.get(pod.uid, "")
        self._add(pod, node_name)
        self._tell(pod, before)

    def update_nominated_pod(self, old: Pod, new: Pod) -> None:
        """Replace ``old`` by ``new``; a nomination that only the scheduler knows yet is kept."""
        before = self.nodes.get(old.uid, "")
        kept = None
        if not old.nominated_node_name and not new.nominated_node_name:
            kept = self.nodes.get(old.uid)
        self._delete(old.uid)
        self._add(new, kept)
        self._tell(new, before)

    def delete_nominated_pod_if_exists(self, pod: Pod) -> None:
        before = self.nodes.get(pod.uid, "")
        self._delete(pod.uid)
        self._tell(pod, before)

    def has_nominations(self) -> bool:
        """Return True if any pod is nominated."""
        return bool(self.nominated_pods)

    def nominated_nodes(self) -> Sequence[str]:
        """Return the nodes that pods are nominated for."""
        return [*self.nominated_pods]

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]:
        """Return pods in order of nomination. A pod in no queue (it is in flight) has no spec, as upstream."""
        refs = self.nominated_pods.get(node_name)
        if not refs:
            return ()
        return [self._pod_info(ref) for ref in refs.values()]

    def _pod_info(self, ref: PodRef) -> PodInfo:
        for lane in self.lanes:
            info = lane.get(ref.key)
            if info is not None:
                return info.pod_info
        return PodInfo(Pod({"metadata": {"name": ref.name, "namespace": ref.namespace, "uid": ref.uid}}))

    def _add(self, pod: Pod, node_name: str | None) -> None:
        self._delete(pod.uid)
        if node_name is None:
            node_name = pod.nominated_node_name
            if not node_name:
                return
        if not self._waits(pod):
            return
        self.nodes[pod.uid] = node_name
        self.nominated_pods.change(node_name)[pod.uid] = PodRef(pod.name, pod.namespace, pod.uid)

    def _waits(self, pod: Pod) -> bool:
        if self.objects is None:
            return True
        stored = self.objects.get("Pod", pod.key)
        return isinstance(stored, Pod) and stored.uid == pod.uid and not stored.node_name and not stored.finished

    def _delete(self, uid: str) -> None:
        node_name = self.nodes.pop(uid, None)
        if node_name is not None:
            self.nominated_pods.take(node_name, uid)

    def _tell(self, pod: Pod, before: str) -> None:
        now = self.nodes.get(pod.uid, "")
        if now != before:
            self.recorder.add(NominationChanged(pod.key, now))

    def check(self) -> None:
        """Raise AssertionError if the two mappings disagree."""
        listed = {uid: node for node, refs in self.nominated_pods.items() for uid in refs}
        assert listed == self.nodes
        assert sum(len(refs) for refs in self.nominated_pods.values()) == len(self.nodes)
        assert all(self.nominated_pods.values())
