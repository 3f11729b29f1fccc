"""Validation of manifests with Kubernetes' field paths, error types and texts, everything wrong at once.

``RULES`` is the table: kind → its rules, which see the defaulted manifest. ``UPDATE_RULES`` compare old and new.
Source: upstream ``pkg/apis/*/validation`` and ``apimachinery/pkg/api/validation``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from scheduler_engine.api.defaults import with_defaults
from scheduler_engine.api.fields import check_fields
from scheduler_engine.api.scheme import kind_of
from scheduler_engine.api.validation import storage, workloads
from scheduler_engine.api.validation.node import node_rules, node_update
from scheduler_engine.api.validation.pod import pod_rules
from scheduler_engine.api.validation.pod_update import pod_update
from scheduler_engine.api.validation.service import in_registry, service_rules
from scheduler_engine.errors import FieldError, Rejected

Manifest = Mapping[str, Any]

RULES: dict[str, Callable[[Manifest], Iterable[FieldError]]] = {
    "Pod": pod_rules,
    "Node": node_rules,
    "Namespace": workloads.namespace_rules,
    "Service": service_rules,
    "PersistentVolume": storage.persistent_volume_rules,
    "PersistentVolumeClaim": storage.claim_rules,
    "StorageClass": storage.storage_class_rules,
    "CSINode": storage.csi_node_rules,
    "CSIDriver": storage.csi_driver_rules,
    "CSIStorageCapacity": storage.capacity_rules,
    "VolumeAttachment": storage.attachment_rules,
    "PriorityClass": workloads.priority_class_rules,
    "RuntimeClass": workloads.runtime_class_rules,
    "PodDisruptionBudget": workloads.budget_rules,
    "ReplicaSet": workloads.replica_set_rules,
    "ReplicationController": workloads.replication_controller_rules,
    "StatefulSet": workloads.replica_set_rules,
}
UPDATE_RULES: dict[str, Callable[[Manifest, Manifest], Iterable[FieldError]]] = {
    "Pod": pod_update,
    "Node": node_update,
    "Namespace": workloads.namespace_update,
    "PersistentVolume": storage.persistent_volume_update,
    "PersistentVolumeClaim": storage.claim_update,
    "StorageClass": storage.storage_class_update,
    "PriorityClass": workloads.priority_class_update,
    "RuntimeClass": workloads.runtime_class_update,
}

BEFORE_RULES: dict[str, Callable[[Manifest], Manifest]] = {"Service": in_registry}
"""What a registry completes in a new object before its rules are asked."""

SERVER_FIELDS = {
    "metadata": (
        *("uid", "resourceVersion", "creationTimestamp", "generation"),
        *("deletionTimestamp", "deletionGracePeriodSeconds"),
    ),
    "spec": ("nodeName", "priority", "priorityClassName", "preemptionPolicy", "overhead", "podCIDR", "podCIDRs"),
}


def validate(manifest: Manifest, document: int = 0) -> list[FieldError]:
    """Everything wrong with a manifest as written: kind, unknown fields and wrong types, then the rules of its kind.

    ``document`` is its number in the text or command it came from. An empty list means that it would be accepted.
    """
    if not isinstance(manifest, Mapping):
        return [FieldError("", "FieldValueTypeInvalid", "an object must be a mapping", document)]
    try:
        kind = kind_of(manifest).name
    except Rejected as problem:
        return _numbered(problem.errors, document, manifest)
    errors = check_fields(manifest, kind)
    if not errors:
        complete = BEFORE_RULES.get(kind, dict)
        errors = check_rules(complete(with_defaults(manifest)))
    return _numbered(errors, document, manifest)


def check_rules(defaulted: Manifest) -> list[FieldError]:
    """What the rules of its kind say about a manifest after ``with_defaults``, in Kubernetes' order."""
    rule = RULES.get(str(defaulted.get("kind")))
    return [] if rule is None else list(rule(defaulted))


def check_update(old: Manifest, new: Manifest, document: int = 0) -> None:
    """Compare a stored object with its new, defaulted form. Raises Rejected for changes that Kubernetes forbids.

    What the API server itself has set (``SERVER_FIELDS``) and the new form leaves out counts as unchanged. ``document``
    is the number of the new form in the text or command it came from.
    """
    rule = UPDATE_RULES.get(str(new.get("kind")))
    errors = [] if rule is None else _numbered(rule(old, _completed(old, new)), document, new)
    if errors:
        raise Rejected(errors)


def _completed(old: Manifest, new: Manifest) -> dict[str, Any]:
    result = dict(new)
    for part, fields in SERVER_FIELDS.items():
        before, after = old.get(part), new.get(part) or {}
        if isinstance(before, Mapping):
            kept = {field: before[field] for field in fields if field in before and field not in after}
            result[part] = {**after, **kept}
    return result


def _numbered(errors: Iterable[FieldError], document: int, manifest: Manifest) -> list[FieldError]:
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    shown = f"{manifest.get('kind')} {name}" if isinstance(name, str) else str(manifest.get("kind") or "")
    return [replace(error, document=document, object_name=shown) for error in errors]
