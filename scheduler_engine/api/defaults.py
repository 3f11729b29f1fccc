"""The defaults that the API server sets before validation.

One table, ``DEFAULTS``: kind → function. It works on a fresh copy, so the input never changes.
Source: upstream ``pkg/apis/{core,storage,scheduling}/v1/defaults.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_engine.api import defaults_workloads as workloads
from scheduler_engine.api.defaults_pod import containers_of, fill, persistent_volume_claim, pod_spec, volume_source
from scheduler_engine.api.fields import TYPES, without_empty, written_form
from scheduler_engine.api.pod_level_defaults import default_pod_level_resources
from scheduler_engine.api.scheme import KINDS

Data = dict[str, Any]


def set_defaults(manifest: Mapping[str, Any]) -> Data:
    """Return the manifest as the API server writes it after defaulting: namespace, defaults of its kind, nothing empty.

    The manifest must be well typed (``fields.check_fields``). Kinds without a field table only get their namespace.
    """
    data = with_defaults(manifest)
    kind = str(manifest.get("kind", ""))
    return without_empty(data, kind) if kind in TYPES else data


def with_defaults(manifest: Mapping[str, Any]) -> Data:
    """Like ``set_defaults``, but keep empty lists and mappings of the input, as validation sees them."""
    kind = str(manifest.get("kind", ""))
    data = written_form(manifest, kind) if kind in TYPES else dict(manifest)
    if kind in KINDS and KINDS[kind].namespaced and not (data.get("metadata") or {}).get("namespace"):
        data["metadata"] = {**(data.get("metadata") or {}), "namespace": "default"}
    if kind in DEFAULTS:
        DEFAULTS[kind](data)
    return data


def _pod(data: Data) -> None:
    spec = data.setdefault("spec", {})
    pod_spec(spec)
    for container in containers_of(spec, "containers", "initContainers"):
        resources = container.get("resources") or {}
        if "limits" in resources:
            requests = {**resources["limits"], **(resources.get("requests") or {})}
            container["resources"] = {**resources, "requests": requests}
    default_pod_level_resources(spec)
    fill(spec, enableServiceLinks=True)
    if spec.get("hostNetwork"):
        for container in containers_of(spec, "containers", "initContainers"):
            for port in container.get("ports") or ():
                fill(port, **({"hostPort": port["containerPort"]} if port["containerPort"] else {}))


def _node(data: Data) -> None:
    status = data.get("status") or {}
    if "allocatable" not in status and "capacity" in status:
        status["allocatable"] = dict(status["capacity"])


def _namespace(data: Data) -> None:
    metadata = data.setdefault("metadata", {})
    if metadata.get("name"):
        metadata["labels"] = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata["name"]}
    fill(data.setdefault("status", {}), phase="Active")


def _persistent_volume(data: Data) -> None:
    spec = data.setdefault("spec", {})
    fill(spec, persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    fill(data.setdefault("status", {}), phase="Pending")
    volume_source(spec)


def _service(data: Data) -> None:
    spec = data.setdefault("spec", {})
    fill(spec, sessionAffinity="None", type="ClusterIP")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client_ip = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800, **client_ip}}
    for port in spec.get("ports") or ():
        fill(port, protocol="TCP", targetPort=port.get("port", 0))
    kind = spec["type"]
    if kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and spec.get("externalIPs")):
        fill(spec, externalTrafficPolicy="Cluster")
    if kind in ("NodePort", "LoadBalancer", "ClusterIP"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def _storage_class(data: Data) -> None:
    fill(data, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _csi_driver(data: Data) -> None:
    spec = data.setdefault("spec", {})
    fill(spec, attachRequired=True, podInfoOnMount=False, storageCapacity=False, requiresRepublish=False)
    fill(spec, fsGroupPolicy="ReadWriteOnceWithFSType", volumeLifecycleModes=["Persistent"], seLinuxMount=False)


def _priority_class(data: Data) -> None:
    fill(data, preemptionPolicy="PreemptLowerPriority")


def _endpoints(data: Data) -> None:
    for subset in data.get("subsets") or ():
        for port in subset.get("ports") or ():
            fill(port, protocol="TCP")


def _resource_claim(data: Data) -> None:
    _claimed_devices(data.get("spec") or {})


def _resource_claim_template(data: Data) -> None:
    _claimed_devices((data.get("spec") or {}).get("spec") or {})


def _claimed_devices(spec: Data) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        exactly = request.get("exactly")
        for wanted in (*(request.get("firstAvailable") or ()), *(() if exactly is None else (exactly,))):
            fill(wanted, allocationMode="ExactCount")
            if wanted["allocationMode"] == "ExactCount":
                fill(wanted, count=1)


DEFAULTS: dict[str, Callable[[Data], None]] = {
    "Pod": _pod,
    "Node": _node,
    "Namespace": _namespace,
    "PersistentVolume": _persistent_volume,
    "PersistentVolumeClaim": persistent_volume_claim,
    "Service": _service,
    "StorageClass": _storage_class,
    "CSIDriver": _csi_driver,
    "PriorityClass": _priority_class,
    "ReplicaSet": workloads.replica_set,
    "ReplicationController": workloads.replication_controller,
    "Deployment": workloads.deployment,
    "DaemonSet": workloads.daemon_set,
    "StatefulSet": workloads.stateful_set,
    "Job": workloads.job,
    "Endpoints": _endpoints,
    "ResourceClaim": _resource_claim,
    "ResourceClaimTemplate": _resource_claim_template,
}
