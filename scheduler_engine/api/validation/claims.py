"""Rules for the spec of a PersistentVolumeClaim. Source: upstream ``apis/core/validation``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import (
    Errors,
    forbidden,
    invalid,
    not_supported,
    present,
    required,
    supported,
    texts,
)
from scheduler_engine.api.validation.selectors import label_selector

Data = Mapping[str, Any]

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")

volume_mode = supported(("Block", "Filesystem"))
_class_name = texts(names.subdomain)


def class_name(value: str, path: str) -> Errors:
    """Allow an empty class name: it means no class."""
    if value:
        yield from _class_name(value, path)


def access_modes(modes: Sequence[str], path: str) -> Errors:
    for mode in modes:
        if mode not in ACCESS_MODES:
            yield not_supported(path, mode, ACCESS_MODES)
    others = [mode for mode in modes if mode in ACCESS_MODES and mode != "ReadWriteOncePod"]
    if "ReadWriteOncePod" in modes and others:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


def positive_amount(written: str, path: str) -> Errors:
    if parse_quantity(written).nano <= 0:
        yield invalid(path, written, "must be greater than zero")


def claim_spec(spec: Data, path: str) -> Errors:
    modes = spec.get("accessModes") or []
    if not modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from present(spec, path, (("selector", label_selector),))
    yield from access_modes(modes, f"{path}.accessModes")
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        yield required(f"{path}.resources[storage]")
    else:
        yield from positive_amount(storage, f"{path}.resources[storage]")
    yield from present(spec, path, (("storageClassName", class_name), ("volumeMode", volume_mode)))
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    yield from present(spec, path, (("dataSource", _data_source), ("dataSourceRef", _data_source)))
    if source is not None and reference is not None:
        fields = ("apiGroup", "kind", "name")
        if reference.get("namespace"):
            text = "may not be specified when dataSourceRef.namespace is specified"
            yield invalid(path, {}, text)
        elif any(source.get(field) != reference.get(field) for field in fields):
            yield invalid(path, {}, "must match dataSourceRef")
    yield from present(spec, path, (("volumeAttributesClassName", class_name),))


def _data_source(source: Data, path: str) -> Errors:
    for field in ("name", "kind"):
        if not source[field]:
            yield required(f"{path}.{field}")
    group = source.get("apiGroup") or ""
    if not group and source["kind"] != "PersistentVolumeClaim":
        yield invalid(path, source["kind"], "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
    if group:
        yield from texts(names.subdomain)(group, f"{path}.apiGroup")
    if source.get("namespace"):
        yield from texts(names.dns_label)(source["namespace"], f"{path}.namespace")
