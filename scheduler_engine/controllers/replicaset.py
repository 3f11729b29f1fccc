"""The ReplicaSet controller: keeps ``spec.replicas`` pods. ReplicationControllers work the same way.

Source: seed 002 §4 (scale-down does not look at the spread) and §9 (victims come back through their owner); upstream
``pkg/controller/replicaset`` and ``pkg/controller/replication``. Not here: bursts of 500 and the slow start, as writes
take no time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from scheduler_engine.api.conditions import condition_set
from scheduler_engine.api.labels import Selector, selector_from_set
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.apiserver.pod_index import Labels
from scheduler_engine.apiserver.watching import Wants
from scheduler_engine.controllers.pod_state import deletion_order, is_active
from scheduler_engine.controllers.workload import WorkloadController, replicas_of, wants_of

REPLICA_FAILURE = "ReplicaFailure"


@dataclass(slots=True)
class ReplicaSetController(WorkloadController):
    KIND: ClassVar[str] = "ReplicaSet"
    WANTS: ClassVar[Wants] = wants_of("ReplicaSet")
    COUNTS_TERMINATING: ClassVar[bool] = True
    """The kind's status has terminatingReplicas, in the versions that count them."""

    def may_adopt(self, owner: KubeObject, item: KubeObject) -> bool:
        return isinstance(item, Pod) and is_active(item)

    def sync(self, owner: KubeObject) -> None:
        self._claim(owner)
        missing = replicas_of(owner) - self.count_active(owner)
        if missing < 0:
            order = deletion_order(self.active_of(owner), self._related(owner), self.timeline.now_us)
            for pod in order[:-missing]:
                self.delete_pod(owner, pod)
        problem = self._create(owner, missing)
        self.watch_availability(owner, self.active_of(owner))
        self._status(owner, problem)

    def watch_end(self, owner: KubeObject) -> None:
        self._status(owner, "")

    def _claim(self, owner: KubeObject) -> None:
        """Claim and release pods, if there are any to claim or release. Finished or terminating pods keep their owner,
        whatever their labels say.
        """
        selector = self.selector(owner)
        kept = all(selector.matches(dict(labels)) for labels in self._labels(owner))
        free = filter(is_active, self.api.pods_of(owner.namespace, ""))
        if not kept or any(selector.matches(pod.labels) for pod in free):
            pods = self.api.pods_of(owner.namespace, owner.uid, "")
            self.claim(owner, "Pod", [pod for pod in pods if is_active(pod)])

    def _labels(self, owner: KubeObject) -> Mapping[Labels, int]:
        return self.api.pod_index.labels.get((owner.namespace, owner.uid), {})

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
        active = filter(is_active, self.api.unfinished(owner.namespace))
        return [pod for pod in active if any(selector.matches(pod.labels) for selector in selectors)]

    def _status(self, owner: KubeObject, problem: str) -> None:
        now_us = self.timeline.now_us
        ready, available = self.count_ready(owner), self.count_available(owner)
        labels = (owner.spec["template"].get("metadata") or {}).get("labels") or {}
        full = sum(number for there, number in self._labels(owner).items() if labels.items() <= dict(there).items())
        conditions = owner.status.get("conditions") or []
        if problem:
            conditions = condition_set(conditions, now_us, REPLICA_FAILURE, "True", "FailedCreate", problem)
        else:
            conditions = [item for item in conditions if item.get("type") != REPLICA_FAILURE]
        self.set_status(
            owner,
            replicas=self.count_active(owner),
            fullyLabeledReplicas=full or None,
            readyReplicas=ready or None,
            availableReplicas=available or None,
            terminatingReplicas=self._terminating(owner),
            conditions=conditions or None,
        )

    def _terminating(self, owner: KubeObject) -> int | None:
        """Count its pods that are being deleted; None where nobody counts them."""
        if not (self.COUNTS_TERMINATING and self.api.rules.counts_terminating_replicas):
            return None
        if not any(standing.terminating and not standing.finished for standing in self.standings(owner)):
            return 0
        selector = self.selector(owner)
        going = (pod for pod in self.pods_of(owner) if pod.terminating and not pod.finished)
        return sum(selector.matches(pod.labels) for pod in going)


@dataclass(slots=True)
class ReplicationManager(ReplicaSetController):
    KIND: ClassVar[str] = "ReplicationController"
    WANTS: ClassVar[Wants] = wants_of("ReplicationController")
    COUNTS_TERMINATING: ClassVar[bool] = False

    def selector(self, owner: KubeObject) -> Selector:
        return selector_from_set(owner.spec.get("selector"))
