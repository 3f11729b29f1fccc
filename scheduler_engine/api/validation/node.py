"""Rules for nodes, new and updated. Source: upstream ``apis/core/validation`` (ValidateNode, ValidateNodeUpdate)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.addresses import network
from scheduler_engine.api.validation.metadata import metadata_rules, metadata_update
from scheduler_engine.api.validation.problems import (
    Errors,
    duplicate,
    each,
    forbidden,
    internal,
    invalid,
    positive,
    quoted,
    required,
    since,
    texts,
)
from scheduler_engine.api.validation.resources import amount
from scheduler_engine.api.validation.selectors import taints

Data = Mapping[str, Any]

LONGEST_FEATURE = 253
FEATURE = re.compile("[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")
NO_FEATURE = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)


def node_rules(node: Data) -> Errors:
    spec = node.get("spec") or {}
    yield from metadata_rules(node, names.subdomain, namespaced=False)
    yield from taints(spec.get("taints") or (), "metadata.taints")
    yield from _amounts(node)
    swap = (((node.get("status") or {}).get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    if swap is not None:
        yield from positive(swap, "metadata.nodeSwapStatus.capacity")
    yield from since("validates_declared_features", _declared_features(node))
    yield from _pod_ranges(_ranges(spec), "spec.podCIDRs")


def _declared_features(node: Data) -> Errors:
    features, path = (node.get("status") or {}).get("declaredFeatures") or [], "status.declaredFeatures"
    for index, name in enumerate(features):
        if len(name.encode()) > LONGEST_FEATURE:
            text = f"must be no more than {LONGEST_FEATURE} characters"
            yield invalid(f"{path}[{index}]", name, f"invalid feature name {quoted(name)}: {text}")
        elif not FEATURE.fullmatch(name):
            yield invalid(f"{path}[{index}]", name, f"invalid feature name {quoted(name)}: {NO_FEATURE}")
        following = features[index + 1] if index + 1 < len(features) else ""
        if following and name == following:
            yield duplicate(f"{path}[{index + 1}]", following)
        elif following and name > following:
            yield invalid(f"{path}[{index + 1}]", following, "list must be sorted alphabetically")


def _ranges(spec: Data) -> list[str]:
    """Return the ranges: ``podCIDR`` is the older form of ``podCIDRs`` and wins if they differ."""
    listed: list[str] = spec.get("podCIDRs") or []
    single = spec.get("podCIDR") or ""
    return [single] if single and listed[:1] != [single] else listed


def _amounts(node: Data) -> Errors:
    status = node.get("status") or {}
    for field in ("capacity", "allocatable"):
        for name, written in (status.get(field) or {}).items():
            yield from amount(name, written, f"status.{field}.{name}")


def _pod_ranges(ranges: list[str], path: str) -> Errors:
    networks = [names.parsed_cidr(item) for item in ranges]
    wrong_ones = [index for index, network in enumerate(networks) if network is None]
    yield from each(network)(ranges, path)
    if len(ranges) > 1:
        for wrong in wrong_ones[:1]:
            text = "invalid PodCIDRs. failed to check with dual stack with error"
            yield internal(path, f"{text}:invalid CIDR[{wrong}]: <nil> (invalid CIDR address: {ranges[wrong]})")
        families = [network.version for network in networks if network is not None]
        if len(ranges) > 2 or sorted(families) != [4, 6]:
            yield invalid(path, ranges, "may specify no more than one CIDR for each IP family")


def node_update(old: Data, new: Data) -> Errors:
    """Check like the registry: all rules for a new node, then what an update may not change."""
    yield from node_rules(new)
    before, after = old.get("spec") or {}, new.get("spec") or {}
    yield from metadata_update(old, new)
    yield from _amounts(new)
    yield from since("validates_declared_features", _declared_features(new))
    addresses: set[tuple[tuple[str, str], ...]] = set()
    for index, address in enumerate((new.get("status") or {}).get("addresses") or ()):
        parts = tuple(sorted(address.items()))
        if parts in addresses:
            shown = {"Type": address["type"], "Address": address["address"]}
            yield duplicate(f"status.addresses[{index}]", shown)
        addresses.add(parts)
    ranges, new_ranges = _ranges(before), _ranges(after)
    text = 'node updates may not change podCIDR except from "" to valid'
    if ranges and len(ranges) != len(new_ranges):
        yield forbidden("spec.podCIDRs", text)
    elif ranges:
        changed = [value for value, other in zip(ranges, new_ranges, strict=True) if value != other]
        yield from (forbidden("spec.podCIDRs", text) for _ in changed)
    if before.get("providerID") and before["providerID"] != after.get("providerID"):
        yield forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid')
    yield from _config_sources(after, (new.get("status") or {}).get("config") or {})
    yield from taints(after.get("taints") or (), "metadata.taints")
    if before.get("externalID") != after.get("externalID"):
        yield forbidden("spec.externalID", "may not be updated")


def _config_sources(spec: Data, status: Data) -> Errors:
    """Check where a kubelet took its configuration from, in old versions that reported it."""
    if spec.get("configSource") is not None:
        yield from _config_source(spec["configSource"], "spec.configSource", in_spec=True)
    for field in ("assigned", "active", "lastKnownGood"):
        if status.get(field) is not None:
            yield from _config_source(status[field], f"status.config.{field}", in_spec=False)


def _config_source(source: Data, path: str, in_spec: bool) -> Errors:
    reference, place = source.get("configMap"), f"{path}.configMap"
    if reference is None:
        yield invalid(path, {"ConfigMap": None}, "exactly one reference subfield must be non-nil")
        return
    for field in ("uid", "resourceVersion"):
        has_value = bool(reference.get(field))
        if in_spec and has_value:
            yield forbidden(f"{place}.{field}", f"{field} must not be set in spec")
        elif not in_spec and not has_value:
            yield required(f"{place}.{field}")
    checks = (("namespace", names.dns_label), ("name", names.subdomain), ("kubeletConfigKey", names.config_key))
    for field, check in checks:
        if not reference.get(field):
            yield required(f"{place}.{field}")
        else:
            yield from texts(check)(reference[field], f"{place}.{field}")
