"""A cluster during its import: objects by kind and key, and the changes to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.importing.result import NoticeLog, Skipped, key_of

Manifest = dict[str, Any]

ORDER = (
    *("Namespace", "PriorityClass", "RuntimeClass", "StorageClass", "CSIDriver", "DeviceClass", "Node", "CSINode"),
    *("ResourceSlice", "ResourceClaimTemplate", "ResourceClaim"),
    *("PersistentVolume", "PersistentVolumeClaim", "CSIStorageCapacity", "VolumeAttachment", "Service"),
    *("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"),
    *("PodDisruptionBudget", "PodGroup", "Pod"),
)
"""Kinds in an order that can be applied."""


@dataclass(slots=True)
class Draft:
    """``created``: key of a pod → creationTimestamp; ``messages``: key of a pod → why it has no node, in its cluster's
    words, which no sandbox gets; ``terminating``: keys of pods that are being deleted; ``done``: (namespace, name) of
    the owners of finished pods.
    """

    objects: dict[str, dict[str, Manifest]] = field(default_factory=lambda: {kind: {} for kind in ORDER})
    created: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    terminating: dict[str, None] = field(default_factory=dict)
    done: dict[tuple[str, str], None] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    notice_log: NoticeLog = field(default_factory=NoticeLog)

    def of(self, kind: str) -> dict[str, Manifest]:
        return self.objects.setdefault(kind, {})

    def add(self, manifest: Manifest) -> None:
        self.of(manifest["kind"])[key_of(manifest)] = manifest

    def drop(self, kind: str, key: str, notice: str) -> None:
        del self.objects[kind][key]
        self.notice_log.note(notice, key)

    def every(self) -> Iterator[Manifest]:
        """Yield all objects in an order that can be applied."""
        for held in self.objects.values():
            yield from held.values()


def controller_of(manifest: Manifest) -> Manifest | None:
    """Return the owner reference with ``controller: true``."""
    owners = manifest["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), None)


def owner_key(manifest: Manifest, owner: Manifest) -> str:
    """Return the key of an owner in the same namespace."""
    return f"{manifest['metadata'].get('namespace')}/{owner.get('name')}"


def is_a(manifest: Manifest, owner: Manifest) -> bool:
    """Return True if the owner reference means this object."""
    return bool(manifest["metadata"].get("uid") == owner.get("uid"))
