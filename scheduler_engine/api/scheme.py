"""The table of kinds that the sandbox knows.

Source: upstream ``api/*/register.go`` and the Kubernetes deprecation guide (versions no longer served in v1.34).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.errors import FieldError, Rejected


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: ``api_versions`` are accepted (the first is the usual one), ``gone`` are no longer served."""

    name: str
    api_versions: tuple[str, ...]
    plural: str
    namespaced: bool
    about: str
    gone: tuple[str, ...] = ()
    view: type[KubeObject] = KubeObject


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("Pod", ("v1",), "pods", True, "One or more containers that run together on one node.", view=Pod),
        Kind("Node", ("v1",), "nodes", False, "A machine that pods run on.", view=Node),
        Kind("Namespace", ("v1",), "namespaces", False, "A scope for names; its labels serve namespace selectors."),
        Kind("Service", ("v1",), "services", True, "Selects pods; the default spread constraints look at it."),
        Kind("PersistentVolume", ("v1",), "persistentvolumes", False, "A piece of storage, often tied to a zone."),
        Kind("PersistentVolumeClaim", ("v1",), "persistentvolumeclaims", True, "A pod's request for storage."),
        Kind(
            "StorageClass",
            ("storage.k8s.io/v1",),
            "storageclasses",
            False,
            "How volumes are provisioned, and when claims are bound.",
            gone=("storage.k8s.io/v1beta1",),
        ),
        Kind(
            "CSINode",
            ("storage.k8s.io/v1",),
            "csinodes",
            False,
            "The CSI drivers on a node and how many volumes they attach.",
            gone=("storage.k8s.io/v1beta1",),
        ),
        Kind(
            "CSIDriver",
            ("storage.k8s.io/v1",),
            "csidrivers",
            False,
            "What a CSI driver can do, capacity tracking included.",
            gone=("storage.k8s.io/v1beta1",),
        ),
        Kind(
            "CSIStorageCapacity",
            ("storage.k8s.io/v1",),
            "csistoragecapacities",
            True,
            "Free storage of a class in a topology segment.",
            gone=("storage.k8s.io/v1beta1", "storage.k8s.io/v1alpha1"),
        ),
        Kind(
            "VolumeAttachment",
            ("storage.k8s.io/v1",),
            "volumeattachments",
            False,
            "A volume attached to a node.",
            gone=("storage.k8s.io/v1beta1", "storage.k8s.io/v1alpha1"),
        ),
        Kind(
            "PriorityClass",
            ("scheduling.k8s.io/v1",),
            "priorityclasses",
            False,
            "A name for a pod priority.",
            gone=("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha1"),
        ),
        Kind(
            "RuntimeClass",
            ("node.k8s.io/v1",),
            "runtimeclasses",
            False,
            "A container runtime, with the overhead it adds to a pod.",
            gone=("node.k8s.io/v1beta1", "node.k8s.io/v1alpha1"),
        ),
        Kind(
            "PodDisruptionBudget",
            ("policy/v1",),
            "poddisruptionbudgets",
            True,
            "How many pods of a group may be disrupted at once.",
            gone=("policy/v1beta1",),
        ),
        Kind(
            "ReplicaSet",
            ("apps/v1",),
            "replicasets",
            True,
            "Owner of equal pods; the default spread constraints look at it.",
            gone=("apps/v1beta2", "extensions/v1beta1"),
        ),
        Kind(
            "ReplicationController",
            ("v1",),
            "replicationcontrollers",
            True,
            "The older owner of equal pods; the default spread constraints look at it.",
        ),
        Kind(
            "Deployment",
            ("apps/v1",),
            "deployments",
            True,
            "Owner of replica sets: it replaces the pods of one by those of the next.",
            gone=("apps/v1beta2", "apps/v1beta1", "extensions/v1beta1"),
        ),
        Kind(
            "DaemonSet",
            ("apps/v1",),
            "daemonsets",
            True,
            "Owner of one pod on every node that it fits.",
            gone=("apps/v1beta2", "extensions/v1beta1"),
        ),
        Kind("Job", ("batch/v1",), "jobs", True, "Owner of pods that run to their end."),
        Kind(
            "Lease",
            ("coordination.k8s.io/v1",),
            "leases",
            True,
            "A lock that one leader holds and renews.",
            gone=("coordination.k8s.io/v1beta1",),
        ),
        Kind("ConfigMap", ("v1",), "configmaps", True, "Settings for pods; older schedulers kept their lock in one."),
        Kind("Endpoints", ("v1",), "endpoints", True, "The addresses behind a service; once also a lock of leaders."),
        Kind(
            "StatefulSet",
            ("apps/v1",),
            "statefulsets",
            True,
            "Owner of numbered pods; the default spread constraints look at it.",
            gone=("apps/v1beta2", "apps/v1beta1"),
        ),
    )
}


NO_OBJECTS = {
    "KubeSchedulerConfiguration": "it is a file for the scheduler; apply it as the scheduler's configuration",
    "KubeletConfiguration": "it is a file for the kubelet; give it to a node's kubelet",
    "Eviction": "it is a request to the eviction subresource of a pod; evict the pod instead",
}
"""Kinds in people's files that no API server stores → what they are."""


def kind_of(manifest: Mapping[str, Any]) -> Kind:
    """Return the table's row for a manifest.

    Raises Rejected when ``apiVersion`` or ``kind`` is missing, unknown, or a version that is gone.
    """
    name, version = manifest.get("kind"), manifest.get("apiVersion")
    if not isinstance(name, str) or not name:
        raise _rejected("kind", "FieldValueRequired", "Required value: every object needs a kind, such as Pod or Node")
    if not isinstance(version, str) or not version:
        raise _rejected("apiVersion", "FieldValueRequired", f"Required value{_usual_version(name)}")
    kind = KINDS.get(name)
    if kind is None:
        text = f'no matches for kind "{name}" in version "{version}"'
        note = f": {NO_OBJECTS[name]}" if name in NO_OBJECTS else _similar_kind(name)
        raise _rejected("kind", "FieldValueNotFound", text + note)
    if version in kind.api_versions:
        return kind
    text = f'no matches for kind "{name}" in version "{version}"'
    known = " or ".join(f'"{item}"' for item in kind.api_versions)
    reason = f"v1.34 no longer serves it; use {known}" if version in kind.gone else f"use {known}"
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
    return f': a {name} has apiVersion "{kind.api_versions[0]}"' if kind else ""


def _similar_kind(name: str) -> str:
    folded = {known.lower(): known for known in KINDS} | {kind.plural: kind.name for kind in KINDS.values()}
    near = get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    return f' (did you mean "{folded[near[0]]}"?)' if near else ""
