"""Rules for resource names, quantities and requirements.

Source: upstream ``apis/core/validation`` and ``apis/core/helper``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

from scheduler_engine.api.pod_level_defaults import aggregate
from scheduler_engine.api.pod_resources import is_extended_resource
from scheduler_engine.api.quantity import canonical, parse_quantity
from scheduler_engine.api.quantity_int64 import scaled_value
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import (
    Errors,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    texts,
)

Data = Mapping[str, Any]

CONTAINER_RESOURCES = ("cpu", "memory", "ephemeral-storage")
STANDARD_RESOURCES = (
    *CONTAINER_RESOURCES,
    *("requests.cpu", "requests.memory", "requests.ephemeral-storage"),
    *("limits.cpu", "limits.memory", "limits.ephemeral-storage"),
    *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
    *("persistentvolumeclaims", "storage", "requests.storage", "services.nodeports", "services.loadbalancers"),
)
INTEGER_RESOURCES = (
    *("pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps"),
    *("persistentvolumeclaims", "services.nodeports", "services.loadbalancers"),
)
ClaimNames = Mapping[str, None]
"""The resource claims of a pod, in the order of errors."""
_MOST_NAMES = 100

POD_LEVEL_RESOURCES = ("cpu", "hugepages-", "memory")

_qualified = texts(names.qualified_name)


def is_huge_page(name: str) -> bool:
    return name.startswith("hugepages-")


def is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    return is_extended_resource(name) and not names.qualified_name(f"requests.{name}")


def may_overcommit(name: str) -> bool:
    return is_native(name) and not is_huge_page(name)


def resource_name(name: str, path: str) -> Errors:
    problems = list(_qualified(name, path))
    yield from problems
    if not problems and "/" not in name and name not in STANDARD_RESOURCES and not is_huge_page(name):
        yield invalid(path, name, "must be a standard resource type or fully qualified")


def container_resource_name(name: str, path: str) -> Errors:
    yield from resource_name(name, path)
    if "/" not in name:
        if name not in CONTAINER_RESOURCES and not is_huge_page(name):
            yield invalid(path, name, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def pod_resource_name(name: str, path: str) -> Errors:
    problems = list(resource_name(name, path))
    yield from problems
    if not problems and name not in ("cpu", "memory") and not is_huge_page(name):
        yield not_supported(path, name, POD_LEVEL_RESOURCES)


def amount(name: str, written: str, path: str) -> Errors:
    """Check a quantity of a resource: not negative, and whole if only whole units make sense."""
    quantity = parse_quantity(written)
    if quantity.nano < 0:
        yield invalid(path, written, "must be greater than or equal to 0")
    if (name in INTEGER_RESOURCES or is_extended(name)) and scaled_value(quantity, -3) % 1000:
        yield invalid(path, written, "must be an integer")


def _huge_page_amount(name: str, written: str, path: str) -> Errors:
    if not is_huge_page(name):
        return
    amount = parse_quantity(written)
    try:
        size = parse_quantity(name.removeprefix("hugepages-"))
        page = 0 if scaled_value(size, -3) % 1000 else scaled_value(size, 0)
    except ValueError:
        page = 0
    if page <= 0 or scaled_value(amount, 0) % page:
        yield invalid(path, written, f"{written} is not positive integer multiple of {name}")


def requirements(
    value: Data,
    path: str,
    claim_names: ClaimNames = MappingProxyType({}),
    name_rule: Callable[[str, str], Errors] = container_resource_name,
) -> Errors:
    """Check ``limits``, ``requests`` and ``claims`` of a container, or of a pod with another ``name_rule``."""
    limits, requests = value.get("limits") or {}, value.get("requests") or {}
    for name, written in limits.items():
        place = f"{path}.limits[{name}]"
        yield from name_rule(name, place)
        yield from amount(name, written, place)
        yield from _huge_page_amount(name, written, place)
    for name, written in requests.items():
        place = f"{path}.requests[{name}]"
        yield from name_rule(name, place)
        yield from amount(name, written, place)
        yield from _against_limit(name, written, limits, path)
        yield from _huge_page_amount(name, written, place)
    amounts = {**limits, **requests}
    if not amounts.keys() & {"cpu", "memory"} and any(is_huge_page(name) for name in amounts):
        yield forbidden(path, "HugePages require cpu or memory")
    yield from _claims(value.get("claims") or (), f"{path}.claims", claim_names)


def _against_limit(name: str, written: str, limits: Data, path: str) -> Errors:
    limit = limits.get(name)
    if limit is None:
        if not may_overcommit(name):
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        return
    difference = parse_quantity(written).nano - parse_quantity(limit).nano
    if difference and not may_overcommit(name):
        yield invalid(f"{path}.requests", written, f"must be equal to {name} limit of {limit}")
    elif difference > 0:
        yield invalid(f"{path}.requests", written, f"must be less than or equal to {name} limit of {limit}")


def _claims(claims: Iterable[Data], path: str, claim_names: ClaimNames) -> Errors:
    keys: set[str] = set()
    before_slash: Counter[str] = Counter()
    for index, claim in enumerate(claims):
        place, name, request = f"{path}[{index}]", claim["name"], claim.get("request") or ""
        if not name:
            yield required(place)
            continue
        if name in keys:
            yield duplicate(place, name)
        else:
            key = f"{name}/{request}" if request else name
            if request:
                yield from texts(names.dns_label)(request, f"{place}.request")
            if key in keys:
                yield duplicate(place, key)
            elif not request:
                yield from (duplicate(place, name) for _ in range(before_slash[name]))
            before_slash[key.partition("/")[0]] += key not in keys
            keys.add(key)
        if name not in claim_names:
            known = ": " + ", ".join(islice(claim_names, _MOST_NAMES)) if claim_names else " which is empty"
            yield not_found(place, name, f"must be one of the names in pod.spec.resourceClaims{known}")


def pod_level(spec: Data, path: str, claim_names: ClaimNames) -> Errors:
    """Check ``spec.resources`` of a pod, by itself and against its containers."""
    resources, place = spec.get("resources"), f"{path}.resources"
    if resources is None:
        return
    if (spec.get("os") or {}).get("name") == "windows":
        yield forbidden(place, "may not be set for a windows pod")
        return
    if resources.get("claims") is not None:
        yield forbidden(f"{place}.claims", "claims may not be set for Resources at pod-level")
    yield from requirements(resources, place, claim_names, pod_resource_name)
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, total in aggregate(spec, "requests").items():
        if name in requests and total.nano > parse_quantity(requests[name]).nano:
            text = f"must be greater than or equal to aggregate container requests of {canonical(total)}"
            yield invalid(f"{place}.requests[{name}]", requests[name], text)
    for name, total in aggregate(spec, "limits").items():
        if is_huge_page(name) and name in limits and total.nano > parse_quantity(limits[name]).nano:
            text = f"must be greater than or equal to aggregate container limits of {canonical(total)}"
            yield invalid(f"{place}.limits[{name}]", limits[name], text)
    for index, container in enumerate(spec.get("containers") or ()):
        for name, written in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and parse_quantity(written).nano > parse_quantity(limits[name]).nano:
                text = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid(f"{place}.containers[{index}][{name}].limits", written, text)
