"""Typed, immutable views over manifests.

A view keeps the manifest (after defaulting); what the scheduler reads is computed once and cached. Nothing
changes a view or its manifest: an update makes a new view (``evolve``). Copies therefore share views, and pickles store
the manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

from scheduler_engine.api.computed import computed
from scheduler_engine.api.node_affinity import (
    PreferredSchedulingTerm,
    RequiredNodeAffinity,
    preferred_terms,
    required_node_affinity,
)
from scheduler_engine.api.taints import Taint, Toleration, taint_from, toleration_from

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
"""Simulated second 0 as a date, for manifests that need one (``status.startTime``)."""

ObjectT = TypeVar("ObjectT", bound="KubeObject")


def time_us(text: str | None) -> int | None:
    """Convert an RFC 3339 time to microseconds since ``EPOCH`` (may be negative); None stays None."""
    if text is None:
        return None
    delta = datetime.fromisoformat(text.replace("Z", "+00:00")) - EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def timestamp(now_us: int) -> str:
    """Format simulated microseconds as a Kubernetes time (RFC 3339, whole seconds)."""
    return _of_second(now_us // 1_000_000)


@lru_cache(maxsize=64)
def _of_second(second: int) -> str:
    return (EPOCH + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def scalar_text(value: str | int | float) -> str:
    """Return a value of a manifest as YAML has it: ``true``, not ``True``."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def merge(manifest: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with ``changes`` merged in; dicts merge, None deletes the key, all else replaces."""
    merged = dict(manifest)
    for key, value in changes.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            held = merged.get(key)
            merged[key] = merge(held if isinstance(held, dict) else {}, value)
        else:
            merged[key] = value
    return merged


class KubeObject:
    """An object of any kind; ``kind`` and namespacing come from ``api/scheme.py``."""

    def __init__(self, manifest: dict[str, Any]) -> None:
        self.manifest = manifest
        self.metadata: dict[str, Any] = manifest.get("metadata") or {}
        self.spec: dict[str, Any] = manifest.get("spec") or {}
        self.status: dict[str, Any] = manifest.get("status") or {}
        metadata = self.metadata
        self.kind: str = manifest.get("kind", "")
        self.name: str = metadata.get("name", "")
        self.namespace: str = metadata.get("namespace") or ""
        self.uid: str = metadata.get("uid") or ""
        self.labels: dict[str, str] = metadata.get("labels") or {}
        self.terminating: bool = metadata.get("deletionTimestamp") is not None
        self.key: str = f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def annotations(self) -> dict[str, str]:
        return self.metadata.get("annotations") or {}

    @property
    def resource_version(self) -> str:
        return self.metadata.get("resourceVersion") or ""

    @computed
    def controller_ref(self) -> dict[str, Any] | None:
        """Return the owner reference with ``controller: true``."""
        owners = self.metadata.get("ownerReferences") or ()
        return next((owner for owner in owners if owner.get("controller")), None)

    def condition(self, kind: str) -> dict[str, Any] | None:
        """Return the condition of this type in the status."""
        return next((item for item in self.status.get("conditions") or () if item.get("type") == kind), None)

    def condition_status(self, kind: str) -> str:
        """Return True, False or Unknown; "" if there is no condition of this type."""
        return str((self.condition(kind) or {}).get("status") or "")

    def evolve(self: ObjectT, changes: Mapping[str, Any]) -> ObjectT:
        """Return a new view with ``changes`` merged into the manifest (see ``merge``)."""
        return type(self)(merge(self.manifest, changes))

    def __deepcopy__(self: ObjectT, memo: dict[int, object]) -> ObjectT:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.manifest,)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.key}>"


class Pod(KubeObject):
    """A pod as the scheduler reads it."""

    def take_over(self, old: Pod) -> None:
        """Take over what the ``old`` view has computed from its spec, if only the node's name differs in it."""
        if self.spec is old.spec or _same_but_for_node(old.spec, self.spec):
            held, own = old.__dict__, self.__dict__
            for name in FROM_SPEC:
                if name in held:
                    own[name] = held[name]
            # Then the requests come from the spec alone.
            if "requests_text" in held and not old.has_status_of_resources and not self.has_status_of_resources:
                own["requests_text"] = held["requests_text"]

    def evolve(self, changes: Mapping[str, Any]) -> Pod:
        evolved = super().evolve(changes)
        evolved.take_over(self)
        return evolved

    def __init__(self, manifest: dict[str, Any]) -> None:
        super().__init__(manifest)
        spec, status = self.spec, self.status
        self.phase: str = status.get("phase") or ""
        self.node_name: str = spec.get("nodeName") or ""
        self.scheduler_name: str = spec.get("schedulerName") or "default-scheduler"
        self.priority: int = spec.get("priority") or 0
        self.nominated_node_name: str = status.get("nominatedNodeName") or ""

    @property
    def preemption_policy(self) -> str:
        return self.spec.get("preemptionPolicy") or "PreemptLowerPriority"

    @computed
    def ready(self) -> bool:
        """Return True if its condition Ready is True."""
        return self.condition_status("Ready") == "True"

    @property
    def finished(self) -> bool:
        """Return True if Succeeded or Failed: the scheduler ignores it."""
        return self.phase in ("Succeeded", "Failed")

    @computed
    def start_time_us(self) -> int | None:
        """Return ``status.startTime`` in simulated microseconds, None if not started."""
        return time_us(self.status.get("startTime"))

    @computed
    def containers(self) -> tuple[dict[str, Any], ...]:
        return tuple(self.spec.get("containers") or ())

    @computed
    def init_containers(self) -> tuple[dict[str, Any], ...]:
        return tuple(self.spec.get("initContainers") or ())

    @computed
    def volumes(self) -> tuple[dict[str, Any], ...]:
        return tuple(self.spec.get("volumes") or ())

    @computed
    def claim_names(self) -> tuple[str, ...]:
        """Return the PersistentVolumeClaims that its volumes name directly, in order."""
        return tuple(
            volume["persistentVolumeClaim"]["claimName"]
            for volume in self.volumes
            if volume.get("persistentVolumeClaim")
        )

    @computed
    def tolerations(self) -> tuple[Toleration, ...]:
        return tuple(toleration_from(item) for item in self.spec.get("tolerations") or ())

    @computed
    def scheduling_gates(self) -> tuple[str, ...]:
        return tuple(gate["name"] for gate in self.spec.get("schedulingGates") or ())

    @computed
    def affinity(self) -> dict[str, Any]:
        return self.spec.get("affinity") or {}

    @computed
    def required_node_affinity(self) -> RequiredNodeAffinity:
        return required_node_affinity(self.spec)

    @computed
    def preferred_node_terms(self) -> tuple[PreferredSchedulingTerm, ...]:
        return preferred_terms(self.affinity.get("nodeAffinity"))

    @computed
    def has_pod_affinity(self) -> bool:
        """Return True if any pod affinity or anti-affinity is set, even empty (upstream ``podWithAffinity``)."""
        return self.affinity.get("podAffinity") is not None or self.affinity.get("podAntiAffinity") is not None

    @computed
    def has_required_anti_affinity(self) -> bool:
        terms = (self.affinity.get("podAntiAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
        return bool(terms)

    @computed
    def topology_spread_constraints(self) -> tuple[dict[str, Any], ...]:
        return tuple(self.spec.get("topologySpreadConstraints") or ())

    @computed
    def host_ports(self) -> tuple[tuple[str, str, int], ...]:
        """Return (host IP, protocol, host port) of every container port with a host port, also of sidecars."""
        sidecars = [item for item in self.init_containers if item.get("restartPolicy") == "Always"]
        return tuple(
            (port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port["hostPort"])
            for container in (*sidecars, *self.containers)
            for port in container.get("ports") or ()
            if (port.get("hostPort") or 0) > 0
        )

    @property
    def has_status_of_resources(self) -> bool:
        """Return True if the status may say what the pod or its containers have, as after a resize."""
        return any(name in self.status for name in ("containerStatuses", "initContainerStatuses", "resources"))

    @computed
    def requests_text(self) -> str:
        """Return a text that is the same for pods with the same requests."""
        listed = [(item.get("resources"), item.get("restartPolicy")) for item in self.init_containers]
        parts = [[item.get("resources") for item in self.containers], listed]
        parts += [self.spec.get("resources"), self.spec.get("overhead")]
        if self.has_status_of_resources:
            names = [item.get("name") for item in (*self.init_containers, *self.containers)]
            statuses = [self.status.get("containerStatuses"), self.status.get("initContainerStatuses")]
            whole = [self.status.get("resources"), self.status.get("allocatedResources")]
            parts += [names, statuses, whole, self.condition("PodResizePending")]
        return repr(parts)

    @property
    def conditions(self) -> list[dict[str, Any]]:
        return self.status.get("conditions") or []


FROM_SPEC = (
    "affinity",
    "claim_names",
    "containers",
    "has_pod_affinity",
    "has_required_anti_affinity",
    "host_ports",
    "init_containers",
    "preferred_node_terms",
    "required_node_affinity",
    "scheduling_gates",
    "tolerations",
    "topology_spread_constraints",
    "volumes",
)
"""What a pod computes from its spec alone, without the node's name."""


def _same_but_for_node(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return all(old.get(name) is value for name, value in new.items() if name != "nodeName") and all(
        name in new for name in old
    )


class Node(KubeObject):
    """A node as the scheduler reads it."""

    @computed
    def taints(self) -> tuple[Taint, ...]:
        return tuple(taint_from(item) for item in self.spec.get("taints") or ())

    @property
    def unschedulable(self) -> bool:
        return bool(self.spec.get("unschedulable"))

    @property
    def ready_status(self) -> str:
        """Return the status of condition Ready; True for a node that does not report it."""
        return self.condition_status("Ready") or "True"

    @computed
    def allocatable(self) -> dict[str, Any]:
        """Return resource name → quantity as written."""
        return self.status.get("allocatable") or {}

    @computed
    def images(self) -> tuple[tuple[tuple[str, ...], int], ...]:
        """Return (names, size in bytes) per image."""
        return tuple(
            (tuple(image.get("names") or ()), image.get("sizeBytes") or 0) for image in self.status.get("images") or ()
        )
