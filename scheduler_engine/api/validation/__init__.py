"""Validation of manifests with Kubernetes' field paths, error types and texts; it reports all errors at once.

``RULES`` is the table: kind → its rules, which see the defaulted manifest. ``UPDATE_RULES`` compare old and new.
Source: upstream ``pkg/apis/*/validation`` and ``apimachinery/pkg/api/validation``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

from scheduler_engine.api.defaults import with_defaults
from scheduler_engine.api.fields import check_fields, meant, well_typed, without_unknown
from scheduler_engine.api.gated_fields import keeping_uses, without_gated
from scheduler_engine.api.loading import written_path
from scheduler_engine.api.parsing import owners_of
from scheduler_engine.api.scheme import kind_of
from scheduler_engine.api.validation import (
    csi,
    devices,
    jobs,
    leaders,
    owners,
    pod_groups,
    policies,
    slices,
    storage,
    storage_update,
)
from scheduler_engine.api.validation.addresses import has_loose_address
from scheduler_engine.api.validation.annotations import simulated_annotations
from scheduler_engine.api.validation.containers import resizes_by_restart
from scheduler_engine.api.validation.node import node_rules, node_update
from scheduler_engine.api.validation.pod import pod_rules, uses_host_network_in_user_namespace
from scheduler_engine.api.validation.pod_resize import pod_resize
from scheduler_engine.api.validation.pod_update import pod_update
from scheduler_engine.api.validation.problems import BY_POLICY, in_version
from scheduler_engine.api.validation.restarts import restarts_all
from scheduler_engine.api.validation.selectors import compares
from scheduler_engine.api.validation.service import (
    has_relaxed_name,
    in_registry,
    service_rules,
    service_update,
)
from scheduler_engine.errors import LONGEST_NAME, MOST_ERRORS, FieldError, Rejected
from scheduler_engine.versions import DEFAULT_RULES, Rules

Manifest = Mapping[str, Any]

RULES: dict[str, Callable[[Manifest], Iterable[FieldError]]] = {
    "Pod": pod_rules,
    "Node": node_rules,
    "Namespace": policies.namespace_rules,
    "Service": service_rules,
    "PersistentVolume": storage.persistent_volume_rules,
    "PersistentVolumeClaim": storage.claim_rules,
    "StorageClass": storage.storage_class_rules,
    "CSINode": csi.csi_node_rules,
    "CSIDriver": csi.csi_driver_rules,
    "CSIStorageCapacity": csi.capacity_rules,
    "VolumeAttachment": csi.attachment_rules,
    "PriorityClass": policies.priority_class_rules,
    "RuntimeClass": policies.runtime_class_rules,
    "PodDisruptionBudget": policies.budget_rules,
    "PodGroup": pod_groups.pod_group_rules,
    "ReplicaSet": owners.replica_set_rules,
    "ReplicationController": owners.replication_controller_rules,
    "Deployment": owners.deployment_rules,
    "DaemonSet": owners.daemon_set_rules,
    "StatefulSet": owners.stateful_set_rules,
    "Job": jobs.job_rules,
    "Lease": leaders.lease_rules,
    "ConfigMap": leaders.config_map_rules,
    "Endpoints": leaders.endpoints_rules,
    "ResourceClaim": devices.claim_rules,
    "ResourceClaimTemplate": devices.template_rules,
    "DeviceClass": devices.class_rules,
    "ResourceSlice": slices.slice_rules,
}
UPDATE_RULES: dict[str, Callable[[Manifest, Manifest], Iterable[FieldError]]] = {
    "Pod": pod_update,
    "Node": node_update,
    "Namespace": policies.namespace_update,
    "Service": service_update,
    "PersistentVolume": storage_update.persistent_volume_update,
    "PersistentVolumeClaim": storage_update.claim_update,
    "StorageClass": storage.storage_class_update,
    "CSINode": csi.csi_node_update,
    "CSIDriver": csi.csi_driver_update,
    "CSIStorageCapacity": csi.capacity_update,
    "VolumeAttachment": csi.attachment_update,
    "PriorityClass": policies.priority_class_update,
    "RuntimeClass": policies.runtime_class_update,
    "PodDisruptionBudget": policies.budget_update,
    "PodGroup": pod_groups.pod_group_update,
    "ReplicaSet": owners.replica_set_update,
    "ReplicationController": owners.replica_set_update,
    "Deployment": owners.deployment_update,
    "DaemonSet": owners.daemon_set_update,
    "StatefulSet": owners.stateful_set_update,
    "Job": jobs.job_update,
    "Lease": leaders.lease_update,
    "ConfigMap": leaders.config_map_update,
    "Endpoints": leaders.endpoints_update,
    "ResourceClaim": devices.claim_update,
    "ResourceClaimTemplate": devices.template_update,
    "DeviceClass": devices.class_update,
    "ResourceSlice": slices.slice_update,
}

BEFORE_RULES: dict[str, Callable[[Manifest], Manifest]] = {
    "Service": in_registry,
    "Job": jobs.in_registry,
}
"""What a registry completes in a new object before its rules run."""

SERVER_FIELDS = {
    "metadata": (
        *("uid", "resourceVersion", "creationTimestamp", "generation"),
        *("deletionTimestamp", "deletionGracePeriodSeconds"),
    ),
    "spec": ("nodeName", "priority", "preemptionPolicy", "overhead", "podCIDR", "podCIDRs"),
}


def validate(
    manifest: Manifest, document: int = 0, allow_privileged: bool = True, rules: Rules = DEFAULT_RULES
) -> list[FieldError]:
    """Return all errors in a manifest as written: kind, unknown fields and wrong types, then the rules of its kind.

    An API server stops after the first group; here the rules also run, on the well-typed parts.

    ``document`` is its number in the text or command it came from. An empty list means that it would be accepted; more
    than ``MOST_ERRORS`` that there may be others. ``allow_privileged`` as in ``check_rules``. ``rules``: those of the
    version of Kubernetes.
    """
    if not isinstance(manifest, Mapping):
        return [FieldError("", "FieldValueTypeInvalid", "an object must be a mapping", document)]
    unwritable = _not_json(manifest)
    if unwritable:
        return [FieldError("", "FieldValueInvalid", unwritable, document)]
    return judged(manifest, document, allow_privileged, rules)[0]


def judged(
    manifest: Manifest, document: int = 0, allow_privileged: bool = True, rules: Rules = DEFAULT_RULES
) -> tuple[list[FieldError], Manifest]:
    """Like ``validate``, for a mapping from a text; also return the defaulted form that the rules saw.

    If the rules did not run, that form is empty.
    """
    try:
        kind = kind_of(manifest).name
    except Rejected as problem:
        return _numbered(problem.errors, document, manifest), {}
    errors = check_fields(manifest, kind, rules)
    if len(errors) > MOST_ERRORS:
        return _numbered(errors, document, manifest), {}
    complete = BEFORE_RULES.get(kind, dict)
    sound = well_typed(manifest, kind) if errors else manifest
    places = {place for error in errors for place in (error.path, meant(error).lstrip("."))}
    above = {part for place in places for part in owners_of(place)}
    defaulted = without_gated(with_defaults(sound), rules)
    more = (
        error for error in _rules(complete(defaulted), allow_privileged, rules) if not _follows(error, places, above)
    )
    return _numbered(chain(errors, more), document, manifest), defaulted


def _not_json(manifest: Manifest) -> str:
    """Return why an object not from a text cannot be written as one, "" if it can."""
    try:
        json.dumps(manifest, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "a text holds half of a pair of surrogate characters, which UTF-8 cannot hold"
    except (TypeError, ValueError):
        return "it holds something that JSON cannot hold, such as an infinite number"
    except RecursionError:
        return "it is nested too deep"
    return ""


def _follows(error: FieldError, places: set[str], above: set[str]) -> bool:
    """Return True if an error only says that the value at one of ``places``, or ``above`` one, was unusable."""
    path = written_path(error.path)
    return bool(places) and (path in above or not places.isdisjoint(owners_of(path)))


def check_rules(defaulted: Manifest, allow_privileged: bool = True, rules: Rules = DEFAULT_RULES) -> list[FieldError]:
    """Check a manifest after ``with_defaults`` by the rules of its kind, in Kubernetes' order.

    ``allow_privileged``: the flag ``--allow-privileged`` of the API server, which every kubeadm cluster sets.
    """
    return list(_rules(defaulted, allow_privileged, rules))


def _rules(defaulted: Manifest, allow_privileged: bool, rules: Rules) -> Iterable[FieldError]:
    kind = str(defaulted.get("kind"))
    rule = RULES.get(kind)
    own = simulated_annotations(defaulted, kind)
    return own if rule is None else chain(_in_cluster(rule(defaulted), allow_privileged, rules), own)


def _in_cluster(errors: Iterable[FieldError], allow_privileged: bool, rules: Rules) -> Iterable[FieldError]:
    """Return the errors that a cluster's flags and version report: the rules are those of the strictest cluster."""
    reported = in_version(errors, rules)
    if not allow_privileged:
        return reported
    return (error for error in reported if not error.message.endswith(BY_POLICY))


IN_PODS: dict[str, Callable[[Manifest], bool]] = {
    "tolerations_compare": lambda spec: any(map(compares, spec.get("tolerations") or ())),
    "restarts_all_containers": restarts_all,
    "restarts_init_containers_to_resize": resizes_by_restart,
    "host_network_user_namespaces": uses_host_network_in_user_namespace,
}
"""Rule that allows something in a pod → whether the spec of a stored one uses it, so that changes may keep it."""
IN_OBJECTS: dict[str, tuple[bool, Callable[[Manifest], bool]]] = {
    "relaxes_service_names": (True, has_relaxed_name),
    "strict_addresses": (False, has_loose_address),
}
"""Rule → the value that allows something in an object, and whether a stored one uses that."""
COMPARED = ("strict_addresses",)
"""Rules that ``UPDATE_RULES`` apply to what changes."""


def for_update(rules: Rules, old: Manifest | None) -> Rules:
    """Return the rules for a change of a stored object: what it uses stays allowed where it is no longer."""
    if old is None:
        return rules
    rules = keeping_uses(rules, old)
    spec = old.get("spec") or {}
    pod = spec if old.get("kind") == "Pod" else (spec.get("template") or {}).get("spec") or {}
    used: dict[str, Any] = {rule: True for rule, uses in IN_PODS.items() if not getattr(rules, rule) and uses(pod)}
    for rule, (value, uses) in IN_OBJECTS.items():
        if getattr(rules, rule) != value and uses(old):
            used[rule] = value
    return replace(rules, **used) if used else rules


SUBRESOURCE_RULES: dict[tuple[str, str], Callable[[Manifest, Manifest, Rules], Iterable[FieldError]]] = {
    ("Pod", "resize"): pod_resize,
}


def check_update(
    old: Manifest,
    new: Manifest,
    document: int = 0,
    subresource: str = "",
    allow_privileged: bool = True,
    rules: Rules = DEFAULT_RULES,
) -> None:
    """Compare a stored object with its new, defaulted form. Raises Rejected for changes that Kubernetes forbids.

    Fields set by the API server (``SERVER_FIELDS``) that the new form omits count as unchanged. ``document`` is the
    number of the new form in the text or command it came from. Stored fields that the version does not know are
    ignored.
    """
    kind = str(new.get("kind"))
    old = without_unknown(old, kind, rules)
    of_part = SUBRESOURCE_RULES.get((kind, subresource))
    rule = UPDATE_RULES.get(kind) if of_part is None else partial(_with_rules, of_part, rules)
    complete = BEFORE_RULES.get(kind, dict)
    after = complete(_completed(old, new))
    if rule is None:
        return
    allowed = replace(for_update(rules, old), **{rule: getattr(rules, rule) for rule in COMPARED})
    errors = _numbered(_in_cluster(rule(complete(old), after), allow_privileged, allowed), document, new)
    if errors:
        raise Rejected(errors)


def _with_rules(
    rule: Callable[[Manifest, Manifest, Rules], Iterable[FieldError]], rules: Rules, old: Manifest, new: Manifest
) -> Iterable[FieldError]:
    return rule(old, new, rules)


def _completed(old: Manifest, new: Manifest) -> dict[str, Any]:
    result = dict(new)
    for part, fields in SERVER_FIELDS.items():
        before, after = old.get(part), new.get(part) or {}
        if isinstance(before, Mapping):
            kept = {field: before[field] for field in fields if field in before and field not in after}
            result[part] = {**after, **kept}
    return result


def object_name(manifest: Manifest) -> str:
    """Return kind and name of a manifest, as errors show them: as far as it has them, and cut."""
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return " ".join(part[:LONGEST_NAME] for part in (manifest.get("kind"), name) if isinstance(part, str))


def _numbered(errors: Iterable[FieldError], document: int, manifest: Manifest) -> list[FieldError]:
    """Return at most one more than the limit."""
    shown = object_name(manifest)
    return [replace(error, document=document, object_name=shown) for error in islice(errors, MOST_ERRORS + 1)]
