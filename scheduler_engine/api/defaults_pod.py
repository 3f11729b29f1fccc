"""Defaults of a pod spec, also in a template, and of volume sources.

Source: upstream ``pkg/apis/core/v1/defaults.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_engine.api.images import image_tag

Data = dict[str, Any]


def fill(data: Data, **values: Any) -> None:
    """Set missing fields; an empty text that counts as missing is removed before (``fields.written_form``)."""
    for name, value in values.items():
        data.setdefault(name, value)


def containers_of(spec: Data, *lists: str) -> Iterator[Data]:
    for name in lists or ("containers", "initContainers", "ephemeralContainers"):
        yield from spec.get(name) or ()


def _image_pull_policy(image: str) -> str:
    return "Always" if image_tag(image) == "latest" else "IfNotPresent"


def pod_spec(spec: Data) -> None:
    """Set the defaults of every pod spec, also in a template."""
    fill(
        spec,
        dnsPolicy="ClusterFirst",
        restartPolicy="Always",
        securityContext={},
        terminationGracePeriodSeconds=30,
        schedulerName="default-scheduler",
    )
    for volume in spec.get("volumes") or ():
        _volume(volume)
    for container in containers_of(spec):
        _container(container)


def _container(container: Data) -> None:
    fill(
        container,
        imagePullPolicy=_image_pull_policy(container.get("image", "")),
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    for port in container.get("ports") or ():
        fill(port, protocol="TCP")
    for variable in container.get("env") or ():
        _field_reference(variable.get("valueFrom") or {})
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            probe = container[name]
            fill(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
            _handler(probe)
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _handler(handler)


def _field_reference(source: Data) -> None:
    if "fieldRef" in source:
        fill(source["fieldRef"], apiVersion="v1")
    if "fileKeyRef" in source:
        fill(source["fileKeyRef"], optional=False)


def _handler(handler: Data) -> None:
    if "httpGet" in handler:
        fill(handler["httpGet"], path="/", scheme="HTTP")
    if "grpc" in handler:
        fill(handler["grpc"], service="")


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


def volume_source(volume: Data) -> None:
    for name, values in VOLUME_DEFAULTS.items():
        if name in volume:
            fill(volume[name], **values)


def _volume(volume: Data) -> None:
    if set(volume) <= {"name"}:
        volume["emptyDir"] = {}
    volume_source(volume)
    if "image" in volume:
        fill(volume["image"], pullPolicy=_image_pull_policy(volume["image"].get("reference", "")))
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template is not None:
        fill(template.setdefault("spec", {}), volumeMode="Filesystem")
    for item in (volume.get("downwardAPI") or {}).get("items") or ():
        _field_reference(item)
    for source in (volume.get("projected") or {}).get("sources") or ():
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            _field_reference(item)
        if "serviceAccountToken" in source:
            fill(source["serviceAccountToken"], expirationSeconds=3600)


def persistent_volume_claim(data: Data) -> None:
    """Set the defaults of a claim, or a claim template of a StatefulSet."""
    fill(data.setdefault("spec", {}), volumeMode="Filesystem")
    fill(data.setdefault("status", {}), phase="Pending")
