"""Rules for IP addresses and ranges in older fields, which newer versions check more strictly.

Source: upstream ``apimachinery/pkg/util/validation/ip.go`` (IsValidIPForLegacyField, IsValidCIDRForLegacyField).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import Errors, Rule, by_version, since, texts

Data = Mapping[str, Any]

STRICT = "strict_addresses"
RANGES_ANNOTATION = "service.beta.kubernetes.io/load-balancer-source-ranges"
ENDPOINTS = ("addresses", "notReadyAddresses")
"""The lists of addresses in a subset of Endpoints."""

_strict_ip = texts(names.strict_ip)
_reachable_ip = texts(names.reachable_ip)


def _legacy(check: names.Check, strict_check: names.Check) -> Rule:
    """Build a rule that also applies ``strict_check`` where the version is strict."""
    plain, strict = texts(check), texts(strict_check)

    def rule(value: str, path: str) -> Errors:
        if check(value):
            yield from plain(value, path)
        else:
            yield from since(STRICT, strict(value, path))

    return rule


ip_address = _legacy(names.ip_address, names.strict_ip)
network = _legacy(names.cidr, names.strict_cidr)


def annotated_ranges(service: Data) -> list[str]:
    """Return the ranges that a Service names in its annotation, the older form of ``loadBalancerSourceRanges``."""
    text: str = ((service.get("metadata") or {}).get("annotations") or {}).get(RANGES_ANNOTATION) or ""
    return [item.strip() for item in text.split(",")] if text.strip() else []


def has_loose_address(stored: Data) -> bool:
    """Return True if a Service or Endpoints have an address or a range that only some versions accept."""
    spec = stored.get("spec") or {} if stored.get("kind") == "Service" else {}
    subsets = stored.get("subsets") or () if stored.get("kind") == "Endpoints" else ()
    addresses = [item["ip"] for subset in subsets for field in ENDPOINTS for item in subset.get(field) or ()]
    addresses += [*(spec.get("clusterIPs") or ()), *(spec.get("externalIPs") or ())]
    written = spec.get("loadBalancerSourceRanges") or (annotated_ranges(stored) if spec else ())
    ranges = (item.strip() for item in written)
    loose = any(names.strict_ip(item) for item in addresses if names.parsed_ip(item))
    return loose or any(names.strict_cidr(item) for item in ranges if names.parsed_cidr(item))


def reachable_address(value: str, path: str) -> Errors:
    """Check an address that others must reach; like Kubernetes, report an invalid one once."""
    if names.ip_address(value):
        yield from ip_address(value, path)
        return
    reachable, strict = list(_reachable_ip(value, path)), list(_strict_ip(value, path))
    yield from by_version(reachable, (STRICT, strict)) if strict else reachable
