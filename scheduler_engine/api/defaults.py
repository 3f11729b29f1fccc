"""What the API server fills in before validation.

One table, ``DEFAULTS``: kind → function. It works on a fresh copy, so nothing given is ever changed.
Source: upstream ``pkg/apis/{core,storage,scheduling,apps}/v1/defaults.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scheduler_engine.api.fields import TYPES, without_empty, written_form
from scheduler_engine.api.pod_level_defaults import default_pod_level_resources
from scheduler_engine.api.scheme import KINDS

Data = dict[str, Any]

_IMAGE = re.compile(
    r"(?:[a-zA-Z0-9.-]+(?::[0-9]+)?/)?[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?P<digest>@[A-Za-z][\w+.-]*:[0-9a-fA-F]{32,})?"
)


def set_defaults(manifest: Mapping[str, Any]) -> Data:
    """The manifest as the API server writes it after defaulting: namespace, defaults of its kind, nothing empty.

    The manifest must be well typed (``fields.check_fields``). Kinds without a field table only get their namespace.
    """
    data = with_defaults(manifest)
    kind = str(manifest.get("kind", ""))
    return without_empty(data, kind) if kind in TYPES else data


def with_defaults(manifest: Mapping[str, Any]) -> Data:
    """Like ``set_defaults``, but empty lists and mappings that were given are still there, as validation sees them."""
    kind = str(manifest.get("kind", ""))
    data = written_form(manifest, kind) if kind in TYPES else dict(manifest)
    if kind in KINDS and KINDS[kind].namespaced and not (data.get("metadata") or {}).get("namespace"):
        data["metadata"] = {**(data.get("metadata") or {}), "namespace": "default"}
    if kind in DEFAULTS:
        DEFAULTS[kind](data)
    return data


def _fill(data: Data, **values: Any) -> None:
    """Set what is missing or empty."""
    for name, value in values.items():
        if name not in data or data[name] == "":
            data[name] = value


def _containers(spec: Data, *lists: str) -> Iterator[Data]:
    for name in lists or ("containers", "initContainers", "ephemeralContainers"):
        yield from spec.get(name) or ()


def _image_pull_policy(image: str) -> str:
    match = _IMAGE.fullmatch(image)
    if match is None:
        return "IfNotPresent"
    tag = match["tag"] or ("" if match["digest"] else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"


def pod_spec(spec: Data) -> None:
    """What every pod spec gets, that of a template included."""
    _fill(
        spec,
        dnsPolicy="ClusterFirst",
        restartPolicy="Always",
        securityContext={},
        terminationGracePeriodSeconds=30,
        schedulerName="default-scheduler",
    )
    for volume in spec.get("volumes") or ():
        _volume(volume)
    for container in _containers(spec):
        _container(container)


def _container(container: Data) -> None:
    _fill(
        container,
        imagePullPolicy=_image_pull_policy(container.get("image", "")),
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    for port in container.get("ports") or ():
        _fill(port, protocol="TCP")
    for variable in container.get("env") or ():
        _field_reference(variable.get("valueFrom") or {})
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            probe = container[name]
            _fill(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
            _handler(probe)
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _handler(handler)


def _field_reference(source: Data) -> None:
    if "fieldRef" in source:
        _fill(source["fieldRef"], apiVersion="v1")


def _handler(handler: Data) -> None:
    if "httpGet" in handler:
        _fill(handler["httpGet"], path="/", scheme="HTTP")
    if "grpc" in handler:
        _fill(handler["grpc"], service="")


VOLUME_DEFAULTS: dict[str, Data] = {
    "secret": {"defaultMode": 420},
    "configMap": {"defaultMode": 420},
    "downwardAPI": {"defaultMode": 420},
    "projected": {"defaultMode": 420},
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
    "azureDisk": {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False},
}


def _volume_source(volume: Data) -> None:
    for name, values in VOLUME_DEFAULTS.items():
        if name in volume:
            _fill(volume[name], **values)


def _volume(volume: Data) -> None:
    if set(volume) <= {"name"}:
        volume["emptyDir"] = {}
    _volume_source(volume)
    if "image" in volume:
        _fill(volume["image"], pullPolicy=_image_pull_policy(volume["image"].get("reference", "")))
    if "ephemeral" in volume:
        _fill((volume["ephemeral"].get("volumeClaimTemplate") or {}).get("spec", {}), volumeMode="Filesystem")
    for item in (volume.get("downwardAPI") or {}).get("items") or ():
        _field_reference(item)
    for source in (volume.get("projected") or {}).get("sources") or ():
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            _field_reference(item)
        if "serviceAccountToken" in source:
            _fill(source["serviceAccountToken"], expirationSeconds=3600)


def _pod(data: Data) -> None:
    spec = data.setdefault("spec", {})
    pod_spec(spec)
    for container in _containers(spec, "containers", "initContainers"):
        resources = container.get("resources") or {}
        if "limits" in resources:
            requests = {**resources["limits"], **(resources.get("requests") or {})}
            container["resources"] = {**resources, "requests": requests}
    default_pod_level_resources(spec)
    _fill(spec, enableServiceLinks=True)
    if spec.get("hostNetwork"):
        for container in _containers(spec, "containers", "initContainers"):
            for port in container.get("ports") or ():
                _fill(port, hostPort=port.get("containerPort", 0))


def _node(data: Data) -> None:
    status = data.get("status") or {}
    if "allocatable" not in status and "capacity" in status:
        status["allocatable"] = dict(status["capacity"])


def _namespace(data: Data) -> None:
    metadata = data.setdefault("metadata", {})
    if metadata.get("name"):
        metadata["labels"] = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata["name"]}
    _fill(data.setdefault("status", {}), phase="Active")


def _persistent_volume(data: Data) -> None:
    spec = data.setdefault("spec", {})
    _fill(spec, persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    _fill(data.setdefault("status", {}), phase="Pending")
    _volume_source(spec)


def _persistent_volume_claim(data: Data) -> None:
    _fill(data.setdefault("spec", {}), volumeMode="Filesystem")
    _fill(data.setdefault("status", {}), phase="Pending")


def _service(data: Data) -> None:
    spec = data.setdefault("spec", {})
    _fill(spec, sessionAffinity="None", type="ClusterIP")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client_ip = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800, **client_ip}}
    for port in spec.get("ports") or ():
        _fill(port, protocol="TCP", targetPort=port.get("port", 0))
    kind = spec["type"]
    if kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and spec.get("externalIPs")):
        _fill(spec, externalTrafficPolicy="Cluster")
    if kind in ("NodePort", "LoadBalancer", "ClusterIP"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def _storage_class(data: Data) -> None:
    _fill(data, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _csi_driver(data: Data) -> None:
    spec = data.setdefault("spec", {})
    _fill(spec, attachRequired=True, podInfoOnMount=False, storageCapacity=False, requiresRepublish=False)
    _fill(spec, fsGroupPolicy="ReadWriteOnceWithFSType", volumeLifecycleModes=["Persistent"], seLinuxMount=False)


def _priority_class(data: Data) -> None:
    _fill(data, preemptionPolicy="PreemptLowerPriority")


def _template(data: Data) -> None:
    spec = data.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    if "template" in spec:
        pod_spec(spec["template"].setdefault("spec", {}))


def _replication_controller(data: Data) -> None:
    _template(data)
    spec = data["spec"]
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        _fill(spec, selector=dict(labels))
        if not data.setdefault("metadata", {}).get("labels"):
            data["metadata"]["labels"] = dict(labels)


def _stateful_set(data: Data) -> None:
    _template(data)
    spec = data["spec"]
    _fill(spec, podManagementPolicy="OrderedReady", revisionHistoryLimit=10)
    strategy = spec.setdefault("updateStrategy", {})
    _fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _fill(strategy.setdefault("rollingUpdate", {}), partition=0)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    _fill(retention, whenDeleted="Retain", whenScaled="Retain")
    for claim in spec.get("volumeClaimTemplates") or ():
        _persistent_volume_claim(claim)


DEFAULTS: dict[str, Callable[[Data], None]] = {
    "Pod": _pod,
    "Node": _node,
    "Namespace": _namespace,
    "PersistentVolume": _persistent_volume,
    "PersistentVolumeClaim": _persistent_volume_claim,
    "Service": _service,
    "StorageClass": _storage_class,
    "CSIDriver": _csi_driver,
    "PriorityClass": _priority_class,
    "ReplicaSet": _template,
    "ReplicationController": _replication_controller,
    "StatefulSet": _stateful_set,
}
