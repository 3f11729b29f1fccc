"""The ReplicaSet controller: keeps ``spec.replicas`` pods. ReplicationControllers work the same way.

Source: seed 002 §4 (scale-down does not look at the spread) and §9 (victims come back through their owner); upstream
``pkg/controller/replicaset`` and ``pkg/controller/replication``. Not here: bursts of 500 and the slow start, as writes
take no time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scheduler_engine.api.conditions import condition_set, is_ready
from scheduler_engine.api.labels import Selector, selector_from_set
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.controllers.pod_state import deletion_order, is_active, is_available
from scheduler_engine.controllers.workload import WorkloadController, replicas_of

REPLICA_FAILURE = "ReplicaFailure"


@dataclass(slots=True)
class ReplicaSetController(WorkloadController):
    KIND: ClassVar[str] = "ReplicaSet"

    def may_adopt(self, owner: KubeObject, item: KubeObject) -> bool:
        return isinstance(item, Pod) and is_active(item)

    def sync(self, owner: KubeObject) -> None:
        pods = self._claimed(owner)
        missing = replicas_of(owner) - len(pods)
        if missing < 0:
            order = deletion_order(pods, self._related(owner), self.timeline.now_us)
            for pod in order[:-missing]:
                self.delete_pod(owner, pod)
        problem = self._create(owner, missing)
        if missing:
            pods = self._active(owner)
        self.watch_availability(owner, pods)
        self._status(owner, pods, problem)

    def watch_end(self, owner: KubeObject) -> None:
        self._status(owner, self._active(owner), "")

    def _claimed(self, owner: KubeObject) -> list[Pod]:
        """Return the owner's active pods, after claiming and releasing pods. Finished or terminating pods keep their
        owner, whatever their labels say.
        """
        claimed = self.claim(owner, "Pod", self._active_in(owner.namespace))
        return [pod for pod in claimed if isinstance(pod, Pod)]

    def _active_in(self, namespace: str) -> list[Pod]:
        return [pod for pod in self.api.unfinished(namespace) if is_active(pod)]

    def _active(self, owner: KubeObject) -> list[Pod]:
        """Return the active pods without claiming any."""
        pairs = ((pod, pod.controller_ref) for pod in self._active_in(owner.namespace))
        return [pod for pod, reference in pairs if reference is not None and reference["uid"] == owner.uid]

    def _create(self, owner: KubeObject, missing: int) -> str:
        """Create pods; return why one was refused, else ""."""
        if missing <= 0:
            self.last_messages.pop(owner.key, None)
        elif not self.may_make(owner):
            return ""
        for _ in range(missing):
            problem = self.create_pod(owner, self.pod_manifest(owner, owner.spec["template"]))
            if problem:
                return problem
        return ""

    def _related(self, owner: KubeObject) -> list[Pod]:
        """Return the active pods selected by the sets with the same controller. A set without one has none."""
        parent = owner.controller_ref
        if parent is None:
            return []
        sets = self.api.list(self.KIND, owner.namespace)
        selectors = [self.selector(item) for item in sets if (item.controller_ref or {}).get("uid") == parent["uid"]]
        return [
            pod
            for pod in self._active_in(owner.namespace)
            if any(selector.matches(pod.labels) for selector in selectors)
        ]

    def _status(self, owner: KubeObject, pods: list[Pod], problem: str) -> None:
        seconds, now_us = owner.spec.get("minReadySeconds") or 0, self.timeline.now_us
        ready = [pod for pod in pods if is_ready(pod)]
        available = [pod for pod in ready if is_available(pod, seconds, now_us)]
        labels = (owner.spec["template"].get("metadata") or {}).get("labels") or {}
        conditions = owner.status.get("conditions") or []
        if problem:
            conditions = condition_set(conditions, now_us, REPLICA_FAILURE, "True", "FailedCreate", problem)
        else:
            conditions = [item for item in conditions if item.get("type") != REPLICA_FAILURE]
        self.set_status(
            owner,
            replicas=len(pods),
            fullyLabeledReplicas=sum(labels.items() <= pod.labels.items() for pod in pods) or None,
            readyReplicas=len(ready) or None,
            availableReplicas=len(available) or None,
            conditions=conditions or None,
        )


@dataclass(slots=True)
class ReplicationManager(ReplicaSetController):
    KIND: ClassVar[str] = "ReplicationController"

    def selector(self, owner: KubeObject) -> Selector:
        return selector_from_set(owner.spec.get("selector"))
