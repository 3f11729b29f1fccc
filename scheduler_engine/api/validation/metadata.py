"""Rules for ``metadata`` of every kind.

Source: upstream ``apimachinery/pkg/api/validation/objectmeta.go`` and ``apis/core/validation``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import (
    Errors,
    Shown,
    by_version,
    forbidden,
    invalid,
    nonnegative,
    required,
    shown,
    texts,
    too_long,
    until,
    worded,
)

ANNOTATIONS_LIMIT = 256 * 1024
LONGEST_MANAGER = 128
LONGEST_SUBRESOURCE = 256
STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
IMMUTABLE = "field is immutable"

_label_key = texts(names.qualified_name)
_label_value = texts(names.label_value)

Data = Mapping[str, Any]


def labels(value: Mapping[str, str], path: str) -> Errors:
    for key, text in value.items():
        yield from _label_key(key, path)
        yield from _label_value(text, path)


def object_name(metadata: Data) -> str:
    """Return the name, or a sample of the name generated from ``generateName``, as validation sees it."""
    name: str = metadata.get("name") or ""
    generate: str = metadata.get("generateName") or ""
    return name or (generate[:58] + "xxxxx" if generate else "")


def metadata_rules(
    manifest: Data,
    check: names.Check,
    namespaced: bool,
    relaxed: tuple[str, names.Check] | None = None,
    only_name: str = "",
) -> Errors:
    """Check all ``metadata`` of a new object whose names are checked by ``check``, or by that of ``relaxed`` where its
    rule holds. ``only_name``: the rule by which ``generateName`` is not checked.
    """
    metadata, path = manifest.get("metadata") or {}, "metadata"
    names_own = _names(metadata, check, only_name)
    yield from by_version(names_own, (relaxed[0], _names(metadata, relaxed[1]))) if relaxed else names_own
    namespace = metadata.get("namespace") or ""
    if namespaced and not namespace:
        yield required(f"{path}.namespace")
    elif namespaced:
        yield from texts(names.dns_label)(namespace, f"{path}.namespace")
    elif namespace:
        yield forbidden(f"{path}.namespace", "not allowed on this type")
    yield from nonnegative(metadata.get("generation") or 0, f"{path}.generation")
    yield from _common(metadata, path)
    yield from _finalizers(metadata.get("finalizers") or [], f"{path}.finalizers")
    yield from _managed_fields(metadata.get("managedFields") or (), f"{path}.managedFields")
    for index, finalizer in enumerate(metadata.get("finalizers") or ()):
        yield from standard_finalizer(finalizer, f"{path}.finalizers[{index}]")


def _names(metadata: Data, check: names.Check, only_name: str = "") -> Errors:
    if metadata.get("generateName"):
        wrong = texts(names.generated(check))(metadata["generateName"], "metadata.generateName")
        yield from until(only_name, wrong) if only_name else wrong
    name = object_name(metadata)
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from texts(check)(name, "metadata.name")


def _common(metadata: Data, path: str) -> Errors:
    yield from labels(metadata.get("labels") or {}, f"{path}.labels")
    yield from annotation_rules(metadata.get("annotations") or {}, f"{path}.annotations")
    yield from _owners(metadata.get("ownerReferences") or [], f"{path}.ownerReferences")


def annotation_rules(annotations: Mapping[str, str], path: str) -> Errors:
    for key in annotations:
        for text in names.qualified_name(key.lower()):
            yield from worded(path, key, text)
    if annotations_size(annotations) > ANNOTATIONS_LIMIT:
        yield too_long(path, ANNOTATIONS_LIMIT)


def annotations_size(annotations: Mapping[str, str]) -> int:
    """Return the bytes of all keys and values."""
    return sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())


def _owners(owners: list[Data], path: str) -> Errors:
    controller = listed = ""
    for owner in owners:
        group, _, version = (owner.get("apiVersion") or "").rpartition("/")
        if not version or "/" in group:
            yield invalid(f"{path}.apiVersion", owner.get("apiVersion") or "", "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                yield invalid(f"{path}.{field}", "", "must not be empty")
        if (group, version, owner.get("kind")) == ("", "v1", "Event"):
            yield invalid(path, _owner_shown(owner), "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            current = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                listed = listed or Shown(shown([_owner_shown(item) for item in owners]))
                text = 'Only one reference can have Controller set to true. Found "true" in references for'
                yield invalid(path, listed, f"{text} {controller} and {current}")
            else:
                controller = current


def _owner_shown(owner: Data) -> Data:
    order = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
    return {field: owner[field] for field in order if field in owner}


def _managed_fields(entries: Sequence[Data], path: str) -> Errors:
    for index, entry in enumerate(entries):
        place, operation = f"{path}[{index}]", entry.get("operation") or ""
        kind, manager = entry.get("fieldsType") or "", entry.get("manager") or ""
        if operation not in ("Apply", "Update"):
            yield invalid(f"{place}.operation", operation, "must be `Apply` or `Update`")
        if kind not in ("", "FieldsV1"):
            yield invalid(f"{place}.fieldsType", kind, "must be `FieldsV1`")
        if len(manager.encode()) > LONGEST_MANAGER:
            yield too_long(f"{place}.manager", LONGEST_MANAGER)
        if len((entry.get("subresource") or "").encode()) > LONGEST_SUBRESOURCE:
            yield too_long(f"{place}.subresource", LONGEST_SUBRESOURCE)


def finalizer_name(finalizer: str, path: str) -> Errors:
    yield from _label_key(finalizer, path)


def standard_finalizer(finalizer: str, path: str) -> Errors:
    if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
        yield invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")


def _finalizers(finalizers: list[str], path: str) -> Errors:
    for finalizer in finalizers:
        yield from finalizer_name(finalizer, path)
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        yield invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")


def metadata_update(old: Data, new: Data) -> Errors:
    """Check what an update may not change in ``metadata``, and what must stay well formed."""
    before, after, path = old.get("metadata") or {}, new.get("metadata") or {}, "metadata"
    if before.get("deletionTimestamp"):
        extra = sorted(set(after.get("finalizers") or ()) - set(before.get("finalizers") or ()))
        if extra:
            listed = ", ".join(f'"{name}"' for name in extra)
            text = "no new finalizers can be added if the object is being deleted, found new finalizers"
            yield forbidden(f"{path}.finalizers", f"{text} []string{{{listed}}}")
    if not after.get("resourceVersion"):
        yield invalid(f"{path}.resourceVersion", "", "must be specified for an update")
    if (after.get("generation") or 0) < (before.get("generation") or 0):
        yield invalid(f"{path}.generation", after.get("generation") or 0, "must not be decremented")
    for field in ("name", "namespace", "uid"):
        if (after.get(field) or "") != (before.get(field) or ""):
            yield invalid(f"{path}.{field}", after.get(field) or "", IMMUTABLE)
    for field in ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        if after.get(field) != before.get(field):
            yield invalid(f"{path}.{field}", after.get(field), IMMUTABLE)
    yield from _common(after, path)
    yield from _managed_fields(after.get("managedFields") or (), f"{path}.managedFields")
    for index, finalizer in enumerate(after.get("finalizers") or ()):
        yield from standard_finalizer(finalizer, f"{path}.finalizers[{index}]")
