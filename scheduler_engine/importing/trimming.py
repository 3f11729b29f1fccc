"""What of a live object is taken over: what a person would write, and the status that the sandbox reads.

The rest is what a cluster has written (``uid`` of pods, addresses, heartbeats), or what nobody should hand on: values
of environment variables, commands, probes, annotations that nobody reads here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scheduler_engine.importing.result import Told

Manifest = dict[str, Any]

KEPT_METADATA = ("name", "namespace", "labels", "annotations", "ownerReferences", "uid")
"""A volume and its claim name each other by uid, and so do owners and what they own."""
READ_ANNOTATIONS = (
    *("sandbox/", "deployment.kubernetes.io/", "batch.kubernetes.io/", "pv.kubernetes.io/", "volume.kubernetes.io/"),
    *("volume.beta.kubernetes.io/", "storageclass.kubernetes.io/", "storageclass.beta.kubernetes.io/"),
    *("storage.alpha.kubernetes.io/", "scheduler.alpha.kubernetes.io/", "controller.kubernetes.io/pod-deletion-cost"),
    *("kubernetes.io/config.mirror", "kubernetes.io/config.source", "kubectl.kubernetes.io/restartedAt"),
)
"""Beginnings of the annotations that the scheduler or the sandbox reads."""
NEVER = ("kubectl.kubernetes.io/last-applied-configuration",)
"""It holds the whole object once more."""

SECRET_FIELDS = ("command", "args", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
ENVIRONMENT = ("env", "envFrom")
VOLUME_SECRETS = ("volumeAttributes", "options", "parameters")
"""In volumes, their claims' classes and drivers: what a driver is told, passwords included."""
CONTAINER_STATUS = ("name", "ready", "restartCount", "allocatedResources", "resources")
CONDITION = ("type", "status", "reason", "message", "lastTransitionTime", "lastUpdateTime")
CONTAINERS = ("containers", "initContainers")
TEMPLATED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")

STATUS: dict[str, tuple[str, ...]] = {
    "Pod": ("phase", "conditions", "nominatedNodeName", "startTime", "containerStatuses", "reason"),
    "Node": ("capacity", "allocatable", "conditions", "images"),
    "PersistentVolume": ("phase",),
    "PersistentVolumeClaim": ("phase", "accessModes", "capacity"),
    "VolumeAttachment": ("attached",),
    "Deployment": ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "conditions"),
    "ReplicaSet": ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    "ReplicationController": ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"),
    "StatefulSet": ("replicas", "readyReplicas", "availableReplicas"),
    "Job": ("startTime", "active", "ready", "conditions"),
}
"""Kind → fields of its status that are kept; of other kinds none are."""


def trimmed(manifest: Manifest, drop_secrets: bool, told: Told) -> Manifest:
    """A new object with what is taken over. Tolerant: what has a wrong type stays, for validation to name it."""
    kind, manifest = manifest["kind"], without_nulls({**manifest, "metadata": _metadata(manifest["metadata"])})
    result = {name: value for name, value in manifest.items() if name not in ("status", "metadata")}
    metadata = manifest["metadata"]
    result["metadata"] = {name: metadata[name] for name in KEPT_METADATA if metadata.get(name) is not None}
    if kind == "Pod":
        result["metadata"].pop("uid", None)
    _keep_annotations(result["metadata"], drop_secrets, told)
    status = manifest.get("status")
    if isinstance(status, dict) and kind in STATUS:
        kept = {name: _status(name, status[name]) for name in STATUS[kind] if status.get(name) is not None}
        if kept:
            result["status"] = kept
    spec = result.get("spec")
    if isinstance(spec, dict):
        trim = SPECS.get(kind)
        result["spec"] = trim(dict(spec), drop_secrets, told) if trim else spec
    if drop_secrets:
        for name in VOLUME_SECRETS:
            result.pop(name, None)
    return result


def _metadata(metadata: Manifest) -> Manifest:
    return {name: value for name, value in metadata.items() if name in KEPT_METADATA}


def without_nulls(value: Any) -> Any:
    """The same without fields and items that are null, which mean what is not there."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value if item is not None]
    return value


def _keep_annotations(metadata: Manifest, drop_secrets: bool, told: Told) -> None:
    held = metadata.get("annotations")
    if not isinstance(held, dict):
        return
    kept = {
        name: text
        for name, text in held.items()
        if name not in NEVER and (not drop_secrets or str(name).startswith(READ_ANNOTATIONS))
    }
    told.note("annotations", count=len(held) - len(kept))
    metadata["annotations"] = kept
    if not kept:
        del metadata["annotations"]


def _status(name: str, value: Any) -> Any:
    if name in ("conditions", "containerStatuses") and isinstance(value, list):
        fields = CONDITION if name == "conditions" else CONTAINER_STATUS
        return [_only(item, fields) if isinstance(item, dict) else item for item in value]
    return value


def _only(item: Manifest, fields: tuple[str, ...]) -> Manifest:
    return {name: item[name] for name in fields if item.get(name) is not None}


# --- specs ------------------------------------------------------------------------------------------------------------


def _pod_spec(spec: Manifest, drop_secrets: bool, told: Told) -> Manifest:
    if spec.pop("ephemeralContainers", None):
        told.note("ephemeral-containers")
    spec.pop("imagePullSecrets", None)
    if not drop_secrets:
        return spec
    for listed in CONTAINERS:
        if isinstance(spec.get(listed), list):
            spec[listed] = [_container(item, told) if isinstance(item, dict) else item for item in spec[listed]]
    if isinstance(spec.get("volumes"), list):
        spec["volumes"] = [_volume(item) if isinstance(item, dict) else item for item in spec["volumes"]]
    return spec


def _container(container: Manifest, told: Told) -> Manifest:
    variables = sum(len(container.get(name) or ()) for name in ENVIRONMENT if isinstance(container.get(name), list))
    if variables:
        told.note("environment", count=variables)
    if any(container.get(name) for name in SECRET_FIELDS):
        told.note("commands")
    return {name: value for name, value in container.items() if name not in (*SECRET_FIELDS, *ENVIRONMENT)}


def _volume(volume: Manifest) -> Manifest:
    return {
        name: {key: item for key, item in value.items() if key not in VOLUME_SECRETS}
        if isinstance(value, dict)
        else value
        for name, value in volume.items()
    }


def _with_template(spec: Manifest, drop_secrets: bool, told: Told) -> Manifest:
    template = spec.get("template")
    if isinstance(template, dict):
        # What is dropped from templates was counted in their pods.
        quiet, changed = Told(), dict(template)
        if isinstance(template.get("spec"), dict):
            changed["spec"] = _pod_spec(dict(template["spec"]), drop_secrets, quiet)
        if isinstance(template.get("metadata"), dict):
            changed["metadata"] = {name: item for name, item in template["metadata"].items() if item is not None}
            changed["metadata"].pop("managedFields", None)
            _keep_annotations(changed["metadata"], drop_secrets, quiet)
        spec["template"] = changed
    return spec


def _node_spec(spec: Manifest, drop_secrets: bool, told: Told) -> Manifest:
    return {name: value for name, value in spec.items() if name in ("taints", "unschedulable", "podCIDR", "podCIDRs")}


def _volume_spec(spec: Manifest, drop_secrets: bool, told: Told) -> Manifest:
    return _volume(spec) if drop_secrets else spec


def _no_spec(spec: Manifest, drop_secrets: bool, told: Told) -> Manifest:
    return {}


SPECS: dict[str, Callable[[Manifest, bool, Told], Manifest]] = {
    "Pod": _pod_spec,
    "Node": _node_spec,
    "Namespace": _no_spec,
    "PersistentVolume": _volume_spec,
    **dict.fromkeys(TEMPLATED, _with_template),
}
"""Kind → what is kept of its spec, where that is not all."""


def pod_specs(manifest: Manifest) -> Iterator[Manifest]:
    """The spec of a pod, or of a workload's template."""
    if manifest["kind"] == "Pod":
        yield manifest.get("spec") or {}
    elif manifest["kind"] in TEMPLATED:
        yield ((manifest.get("spec") or {}).get("template") or {}).get("spec") or {}
