"""The table of kinds that the sandbox knows.

Source: upstream ``api/*/register.go`` and the Kubernetes deprecation guide (versions no longer served in v1.34).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from scheduler_engine.api.devices import ResourceClaim, ResourceSlice
from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.words import say


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: ``api_versions`` are accepted (the first is the usual one), ``gone`` are no longer served."""

    name: str
    api_versions: tuple[str, ...]
    plural: str
    namespaced: bool
    gone: tuple[str, ...] = ()
    view: type[KubeObject] = KubeObject


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("Pod", ("v1",), "pods", True, view=Pod),
        Kind("Node", ("v1",), "nodes", False, view=Node),
        Kind("Namespace", ("v1",), "namespaces", False),
        Kind("Service", ("v1",), "services", True),
        Kind("PersistentVolume", ("v1",), "persistentvolumes", False),
        Kind("PersistentVolumeClaim", ("v1",), "persistentvolumeclaims", True),
        Kind(
            "StorageClass",
            ("storage.k8s.io/v1",),
            "storageclasses",
            False,
            gone=("storage.k8s.io/v1beta1",),
        ),
        Kind(
            "CSINode",
            ("storage.k8s.io/v1",),
            "csinodes",
            False,
            gone=("storage.k8s.io/v1beta1",),
        ),
        Kind(
            "CSIDriver",
            ("storage.k8s.io/v1",),
            "csidrivers",
            False,
            gone=("storage.k8s.io/v1beta1",),
        ),
        Kind(
            "CSIStorageCapacity",
            ("storage.k8s.io/v1",),
            "csistoragecapacities",
            True,
            gone=("storage.k8s.io/v1beta1", "storage.k8s.io/v1alpha1"),
        ),
        Kind(
            "VolumeAttachment",
            ("storage.k8s.io/v1",),
            "volumeattachments",
            False,
            gone=("storage.k8s.io/v1beta1", "storage.k8s.io/v1alpha1"),
        ),
        Kind(
            "PriorityClass",
            ("scheduling.k8s.io/v1",),
            "priorityclasses",
            False,
            gone=("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha1"),
        ),
        Kind("PodGroup", ("scheduling.x-k8s.io/v1alpha1",), "podgroups", True),
        Kind(
            "RuntimeClass",
            ("node.k8s.io/v1",),
            "runtimeclasses",
            False,
            gone=("node.k8s.io/v1beta1", "node.k8s.io/v1alpha1"),
        ),
        Kind(
            "PodDisruptionBudget",
            ("policy/v1",),
            "poddisruptionbudgets",
            True,
            gone=("policy/v1beta1",),
        ),
        Kind(
            "ReplicaSet",
            ("apps/v1",),
            "replicasets",
            True,
            gone=("apps/v1beta2", "extensions/v1beta1"),
        ),
        Kind(
            "ReplicationController",
            ("v1",),
            "replicationcontrollers",
            True,
        ),
        Kind(
            "Deployment",
            ("apps/v1",),
            "deployments",
            True,
            gone=("apps/v1beta2", "apps/v1beta1", "extensions/v1beta1"),
        ),
        Kind(
            "DaemonSet",
            ("apps/v1",),
            "daemonsets",
            True,
            gone=("apps/v1beta2", "extensions/v1beta1"),
        ),
        Kind("Job", ("batch/v1",), "jobs", True),
        Kind(
            "Lease",
            ("coordination.k8s.io/v1",),
            "leases",
            True,
            gone=("coordination.k8s.io/v1beta1",),
        ),
        Kind("ConfigMap", ("v1",), "configmaps", True),
        Kind("Endpoints", ("v1",), "endpoints", True),
        Kind(
            "StatefulSet",
            ("apps/v1",),
            "statefulsets",
            True,
            gone=("apps/v1beta2", "apps/v1beta1"),
        ),
        Kind(
            "ResourceClaim",
            ("resource.k8s.io/v1",),
            "resourceclaims",
            True,
            gone=("resource.k8s.io/v1alpha3", "resource.k8s.io/v1alpha2", "resource.k8s.io/v1alpha1"),
            view=ResourceClaim,
        ),
        Kind(
            "ResourceClaimTemplate",
            ("resource.k8s.io/v1",),
            "resourceclaimtemplates",
            True,
            gone=("resource.k8s.io/v1alpha3", "resource.k8s.io/v1alpha2", "resource.k8s.io/v1alpha1"),
        ),
        Kind(
            "DeviceClass",
            ("resource.k8s.io/v1",),
            "deviceclasses",
            False,
            gone=("resource.k8s.io/v1alpha3",),
        ),
        Kind(
            "ResourceSlice",
            ("resource.k8s.io/v1",),
            "resourceslices",
            False,
            gone=("resource.k8s.io/v1alpha3", "resource.k8s.io/v1alpha2"),
            view=ResourceSlice,
        ),
    )
}


NO_OBJECTS = {
    "KubeSchedulerConfiguration": "kind-errors.scheduler-configuration",
    "KubeletConfiguration": "kind-errors.kubelet-configuration",
    "Eviction": "kind-errors.eviction",
}
"""Kinds in people's files that no API server stores → the row that says what they are."""


def kind_of(manifest: Mapping[str, Any]) -> Kind:
    """Return the table's row for a manifest.

    Raises Rejected when ``apiVersion`` or ``kind`` is missing, unknown, or a version that is gone.
    """
    name, version = manifest.get("kind"), manifest.get("apiVersion")
    if not isinstance(name, str) or not name:
        raise _rejected("kind", "FieldValueRequired", say("kind-errors.no-kind"))
    if not isinstance(version, str) or not version:
        raise _rejected("apiVersion", "FieldValueRequired", f"Required value{_usual_version(name)}")
    kind = KINDS.get(name)
    if kind is None:
        text = f'no matches for kind "{name}" in version "{version}"'
        note = f": {say(NO_OBJECTS[name])}" if name in NO_OBJECTS else _similar_kind(name)
        raise _rejected("kind", "FieldValueNotFound", text + note)
    if version in kind.api_versions:
        return kind
    text = f'no matches for kind "{name}" in version "{version}"'
    known = say("types.or").join(f'"{item}"' for item in kind.api_versions)
    gone = version in kind.gone
    reason = say("kind-errors.version-gone", known=known) if gone else say("kind-errors.use", known=known)
    raise _rejected("apiVersion", "FieldValueNotFound", f"{text}: {reason}")


def view(manifest: dict[str, Any]) -> KubeObject:
    """Return the typed view of a manifest of a known kind. Raises Rejected like ``kind_of``."""
    return kind_of(manifest).view(manifest)


def key_of(manifest: Mapping[str, Any]) -> str:
    """Return ``namespace/name``, or only the name if cluster-scoped; a missing namespace counts as ``default``."""
    metadata = manifest.get("metadata") or {}
    name = str(metadata.get("name") or "")
    if not kind_of(manifest).namespaced:
        return name
    return f"{metadata.get('namespace') or 'default'}/{name}"


def _rejected(path: str, kind: str, message: str) -> Rejected:
    return Rejected([FieldError(path, kind, message)])


def _usual_version(name: str) -> str:
    kind = KINDS.get(name)
    return say("kind-errors.usual-version", kind=name, version=kind.api_versions[0]) if kind else ""


def _similar_kind(name: str) -> str:
    folded = {known.lower(): known for known in KINDS} | {kind.plural: kind.name for kind in KINDS.values()}
    near = get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    return say("value-errors.did-you-mean", name=folded[near[0]]) if near else ""
