"""Rules for slices of resources: the devices that a driver offers. Source: upstream ``apis/resource/validation``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.device_parts import (
    LONGEST_DOMAIN,
    LONGEST_IDENTIFIER,
    NEWER,
    NEWEST,
    listed,
    pool_name,
    qualified_name,
)
from scheduler_engine.api.validation.metadata import IMMUTABLE, metadata_rules, metadata_update
from scheduler_engine.api.validation.problems import Errors, by_version, invalid, required, texts, too_long
from scheduler_engine.api.validation.selectors import node_selector
from scheduler_engine.api.validation.volumes import driver_name

Data = Mapping[str, Any]

MOST_DEVICES = 128
MOST_ATTRIBUTES = 32
LONGEST_VALUE = 64
ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
ONE_VALUE = "exactly one value must be specified"

_PART = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    rf"(-{_PART}(\.{_PART})*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)

FIELDS = {"IntValue": "int", "BoolValue": "bool", "StringValue": "string", "VersionValue": "version"}
LISTS = ("IntValues", "BoolValues", "StringValues", "VersionValues")

_label = texts(names.dns_label)
_subdomain = texts(names.subdomain)


def slice_rules(resource_slice: Data) -> Errors:
    yield from metadata_rules(resource_slice, names.subdomain, namespaced=False)
    yield from _slice_spec(resource_slice.get("spec") or {})


def slice_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    before, after = old.get("spec") or {}, new.get("spec") or {}
    pools = (before.get("pool") or {}).get("name"), (after.get("pool") or {}).get("name")
    fixed = (("pool.name", *pools), *((field, before.get(field), after.get(field)) for field in ("driver", "nodeName")))
    for field, held, wanted in fixed:
        if held != wanted:
            yield invalid(f"spec.{field}", wanted, IMMUTABLE)
    yield from slice_rules(new)


def _slice_spec(spec: Data) -> Errors:
    yield from driver_name(spec.get("driver") or "", "spec.driver")
    yield from _pool(spec.get("pool") or {}, "spec.pool")
    yield from _place(spec)
    yield from listed(spec.get("devices") or (), "spec.devices", _device, MOST_DEVICES, "name")


def _pool(pool: Data, path: str) -> Errors:
    yield from pool_name(pool.get("name") or "", f"{path}.name")
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        yield invalid(f"{path}.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        yield invalid(f"{path}.generation", generation, "must be greater than or equal to zero")


def _place(spec: Data) -> Errors:
    """Check that a slice names its node or nodes in exactly one way."""
    chosen = []
    node_name, selector, everywhere = spec.get("nodeName"), spec.get("nodeSelector"), spec.get("allNodes")
    if node_name == "":
        yield invalid("spec.nodeName", "", "must be either unset or set to a non-empty string")
    elif node_name is not None:
        chosen.append("`nodeName`")
        yield from _subdomain(node_name, "spec.nodeName")
    if selector is not None:
        chosen.append("`nodeSelector`")
        yield from node_selector(selector, "spec.nodeSelector")
        terms = selector.get("nodeSelectorTerms") or []
        if len(terms) != 1:
            yield invalid("spec.nodeSelector.nodeSelectorTerms", terms, "must have exactly one node selector term")
    if everywhere:
        chosen.append("`allNodes`")
    elif everywhere is not None:
        yield invalid("spec.allNodes", False, "must be either unset or set to true")
    if not chosen:
        yield required("spec", ONE_PLACE)
    elif len(chosen) > 1:
        yield invalid("spec", f"{{{', '.join(chosen)}}}", f"{ONE_PLACE}, but multiple fields are set")


def _device(device: Data, path: str) -> Errors:
    yield from _label(device["name"], f"{path}.name")
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > MOST_ATTRIBUTES:
        yield invalid(path, count, f"the total number of attributes and capacities must not exceed {MOST_ATTRIBUTES}")
    for field, entries, rule in (("attributes", attributes, _attribute), ("capacity", capacity, _anything)):
        for key in sorted(entries):
            place = f"{path}.{field}[{_shortened(key)}]"
            above = qualified_name(key, f"{path}.{field}")
            yield from by_version(qualified_name(key, place), (NEWEST, above))
            yield from rule(entries[key], place)


def _anything(value: Data, path: str) -> Errors:
    yield from ()


def _shortened(key: str) -> str:
    """Return a key of a map as a path shows it: the middle of a very long one is left out."""
    most = LONGEST_DOMAIN + 1 + LONGEST_IDENTIFIER
    if len(key) <= most:
        return key
    left = most - 3
    return f"{key[: (left + 1) // 2]}...{key[-(left // 2) :]}"


def _attribute(attribute: Data, path: str) -> Errors:
    values = [name for name in FIELDS.values() if attribute.get(name) is not None]
    for name in ("string", "version"):
        value = attribute.get(name)
        if value is None:
            continue
        if name == "version" and not _VERSION.fullmatch(value):
            yield invalid(f"{path}.version", value, "must be a string compatible with semver.org spec 2.0.0")
        if len(value.encode()) > LONGEST_VALUE:
            yield too_long(f"{path}.{name}", LONGEST_VALUE)
    if not values:
        yield from by_version((required(path, ONE_VALUE),), (NEWER, (invalid(path, "", ONE_VALUE),)))
    elif len(values) > 1:
        # The fields of an internal type have the names of Go.
        held = {name: attribute.get(field) for name, field in FIELDS.items()}
        newer = invalid(path, held | dict.fromkeys(LISTS), ONE_VALUE)
        yield from by_version((invalid(path, held, ONE_VALUE),), (NEWEST, (newer,)))
