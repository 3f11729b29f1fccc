"""The object that electors compete for: a Lease, or the annotation of an Endpoints or a ConfigMap.

v1.34 supports only leases; the other two are the locks of seed 003. Source: seed 003; upstream
``client-go/tools/leaderelection/resourcelock``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scheduler_engine.api.objects import merge
from scheduler_engine.errors import Rejected
from scheduler_engine.leaderelection.client import LockClient, Manifest, no_answer
from scheduler_engine.leaderelection.record import (
    LeaderElectionRecord,
    annotation_json,
    compared_json,
    from_annotation,
    from_lease_spec,
    lease_spec,
)
from scheduler_engine.trace.events import EventRecorded, LockChanged, Recorder

ANNOTATION = "control-plane.alpha.kubernetes.io/leader"


@dataclass(frozen=True, slots=True)
class LockKind:
    """The object of a lock type. ``annotated``: the record is in ``ANNOTATION`` rather than in ``spec``."""

    kind: str
    api_version: str
    noun: str
    annotated: bool


LOCK_KINDS = {
    "leases": LockKind("Lease", "coordination.k8s.io/v1", "lease", annotated=False),
    "endpoints": LockKind("Endpoints", "v1", "endpoint", annotated=True),
    "configmaps": LockKind("ConfigMap", "v1", "configmap", annotated=True),
}

REMOVED = {
    "endpoints": "endpoints lock is removed, migrate to leases",
    "configmaps": "configmaps lock is removed, migrate to leases",
    "endpointsleases": "endpointsleases lock is removed, migrate to leases",
    "configmapsleases": "configmapsleases lock is removed, migrated to leases",
}
"""v1.34's texts for the lock types of older versions; the last differs there, too."""


def v1_34_refusal(lock_type: str) -> str:
    """Return why v1.34 refuses a lock of this type; "" if it does not."""
    return "" if lock_type == "leases" else REMOVED.get(lock_type, f"Invalid lock-type {lock_type}")


@dataclass(slots=True)
class ResourceLock:
    """One elector's view of the lock object. ``held`` is the object as last read or written: an update fails by its
    resourceVersion if someone else wrote in between.
    """

    lock_type: str
    namespace: str
    name: str
    identity: str
    client: LockClient
    recorder: Recorder | None = None
    held: Manifest | None = None

    @property
    def kind(self) -> LockKind:
        return LOCK_KINDS[self.lock_type]

    def describe(self) -> str:
        return f"{self.namespace}/{self.name}"

    def get(self) -> tuple[LeaderElectionRecord, str]:
        """Return (the record, the text that reveals changes). Raises ApiError."""
        self.held = self.client.get(self.kind.kind, self.describe())
        try:
            return self._read(self.held)
        except ValueError as problem:
            raise no_answer(str(problem)) from problem

    def _read(self, manifest: Manifest) -> tuple[LeaderElectionRecord, str]:
        if self.kind.annotated:
            text = ((manifest.get("metadata") or {}).get("annotations") or {}).get(ANNOTATION)
            return (LeaderElectionRecord(), "") if text is None else (from_annotation(text), text)
        record = from_lease_spec(manifest.get("spec") or {})
        return record, compared_json(record)

    def create(self, record: LeaderElectionRecord) -> None:
        """Create the lock object. Raises ApiError, and then holds none: the next update fails before it is sent."""
        self.held = None
        bare = {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": {"name": self.name, "namespace": self.namespace},
        }
        self.held = self.client.create(self._with(bare, record))
        self._tell(record)

    def update(self, record: LeaderElectionRecord) -> None:
        """Overwrite the object as last seen. Raises ApiError."""
        if self.held is None:
            raise no_answer(f"{self.kind.noun} not initialized, call get or create first")
        self.held = self.client.update(self._with(self.held, record))
        self._tell(record)

    def _tell(self, record: LeaderElectionRecord) -> None:
        if self.recorder is not None:
            changed = LockChanged(
                self.identity,
                record.holder_identity,
                record.lease_duration_seconds,
                record.acquire_time_us,
                record.renew_time_us,
                record.leader_transitions,
            )
            self.recorder.add(changed)

    def _with(self, manifest: Manifest, record: LeaderElectionRecord) -> dict[str, Any]:
        if self.kind.annotated:
            return merge(manifest, {"metadata": {"annotations": {ANNOTATION: annotation_json(record)}}})
        return {**manifest, "spec": lease_spec(record)}

    def record_event(self, text: str) -> None:
        """Record a Kubernetes Event on the lock object, "a became leader"."""
        if self.recorder is not None:
            message = f"{self.identity} {text}"
            self.recorder.add(EventRecorded(self.kind.kind, self.describe(), "Normal", "LeaderElection", message))


def new_lock(
    lock_type: str, namespace: str, name: str, client: LockClient, identity: str, recorder: Recorder | None = None
) -> ResourceLock:
    """Create a lock of any of the three kinds. Raises Rejected for another type, in Kubernetes' words."""
    if lock_type not in LOCK_KINDS:
        raise Rejected(v1_34_refusal(lock_type))
    return ResourceLock(lock_type, namespace, name, identity, client, recorder)
