"""Rules for the objects that leaders hold. Source: upstream ``apis/{coordination,core}/validation``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.addresses import ENDPOINTS, ip_address
from scheduler_engine.api.validation.containers import PROTOCOLS, dns_label, port_number
from scheduler_engine.api.validation.metadata import metadata_rules, metadata_update
from scheduler_engine.api.validation.problems import (
    Errors,
    each,
    forbidden,
    invalid,
    one_of,
    present,
    required,
    texts,
    too_long,
)

Data = Mapping[str, Any]

LARGEST_CONFIG_MAP = 1024 * 1024

_reachable_ip = texts(names.reachable_ip)
_node_name = texts(names.subdomain)
_protocol = one_of(PROTOCOLS)
_app_protocol = texts(names.qualified_name)


def lease_rules(lease: Data) -> Errors:
    yield from metadata_rules(lease, names.subdomain, namespaced=True)
    spec = lease.get("spec") or {}
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    if transitions is not None and transitions < 0:
        yield invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")


def lease_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    yield from lease_rules(new)


def config_map_rules(config: Data) -> Errors:
    yield from metadata_rules(config, names.subdomain, namespaced=True)
    data, binary = config.get("data") or {}, config.get("binaryData") or {}
    for field, values in (("data", data), ("binaryData", binary)):
        for key in values:
            yield from (invalid(f"{field}[{key}]", key, text) for text in names.config_key(key))
            if field == "data" and key in binary:
                yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    if sum(len(value.encode()) for values in (data, binary) for value in values.values()) > LARGEST_CONFIG_MAP:
        yield too_long("", LARGEST_CONFIG_MAP)


def config_map_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    if old.get("immutable"):
        text = "field is immutable when `immutable` is set"
        for field in ("immutable", "data", "binaryData"):
            if (old.get(field) or None) != (new.get(field) or None):
                yield forbidden(field, text)
    yield from config_map_rules(new)


def endpoints_rules(endpoints: Data) -> Errors:
    yield from metadata_rules(endpoints, names.subdomain, namespaced=True)
    for index, subset in enumerate(endpoints.get("subsets") or ()):
        path = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            yield required(path, "must specify `addresses` or `notReadyAddresses`")
        for field in ENDPOINTS:
            yield from each(_endpoint_address)(subset.get(field) or (), f"{path}.{field}")
        ports = subset.get("ports") or ()
        for number, port in enumerate(ports):
            yield from _endpoint_port(port, f"{path}.ports[{number}]", named=len(ports) > 1)


def endpoints_update(old: Data, new: Data) -> Errors:
    """Check changed subsets; unchanged ones stay allowed."""
    yield from metadata_update(old, new)
    changed = (old.get("subsets") or []) != (new.get("subsets") or [])
    yield from endpoints_rules(new if changed else {**new, "subsets": []})


def _endpoint_address(address: Data, path: str) -> Errors:
    yield from ip_address(address["ip"], f"{path}.ip")
    yield from present(address, path, (("hostname", dns_label), ("nodeName", _node_name)))
    yield from _reachable_ip(address["ip"], f"{path}.ip")


def _endpoint_port(port: Data, path: str, named: bool) -> Errors:
    if port.get("name"):
        yield from dns_label(port["name"], f"{path}.name")
    elif named:
        yield required(f"{path}.name")
    yield from port_number(port["port"], f"{path}.port")
    yield from _protocol(port.get("protocol") or "", f"{path}.protocol")
    yield from present(port, path, (("appProtocol", _app_protocol),))
