"""Rules for Services. Source: upstream ``apis/core/validation`` (ValidateServiceCreate, ValidateServiceUpdate)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.addresses import (
    RANGES_ANNOTATION,
    annotated_ranges,
    ip_address,
    network,
    reachable_address,
)
from scheduler_engine.api.validation.containers import PROTOCOLS, dns_label, port_number, port_number_or_name
from scheduler_engine.api.validation.metadata import labels, metadata_rules, metadata_update
from scheduler_engine.api.validation.problems import (
    Errors,
    Named,
    Rule,
    duplicate,
    each,
    forbidden,
    invalid,
    not_supported,
    one_of,
    required,
    supported,
    texts,
)

Data = Mapping[str, Any]

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
LONGEST_AFFINITY_SECONDS = 86_400
RELAXED_NAMES = ("relaxes_service_names", names.dns_label)
"""A rule, and the check of names where it holds."""
RANGES_PATH = f"metadata.annotations[{RANGES_ANNOTATION}]"
ADDRESSES: dict[str, tuple[str, Rule]] = {
    "clusterIPs": ("clusterIPs", ip_address),
    "externalIPs": ("externalIPs", ip_address),
    "loadBalancerSourceRanges": ("LoadBalancerSourceRanges", network),
}
"""Field of the spec → its name in errors, and the check of each value."""

_protocol = one_of(PROTOCOLS)


def in_registry(service: Data) -> Data:
    """Complete a Service like its registry before validation: ``clusterIPs`` follows ``clusterIP``."""
    spec = service.get("spec") or {}
    if not spec.get("clusterIP") or spec.get("clusterIPs") is not None:
        return service
    return {**service, "spec": {**spec, "clusterIPs": [spec["clusterIP"]]}}


def service_rules(service: Data) -> Errors:
    spec = service.get("spec") or {}
    yield from metadata_rules(service, names.dns_1035_label, namespaced=True, relaxed=RELAXED_NAMES)
    ports, kind = spec.get("ports") or (), spec.get("type") or ""
    headless = spec.get("clusterIPs") == ["None"]
    if not ports and not headless and kind != "ExternalName":
        yield required("spec.ports")
    if headless and kind in ("LoadBalancer", "NodePort"):
        yield invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    if kind == "ExternalName":
        yield from _external_name(spec)
    yield from _ports(ports)
    yield from labels(spec.get("selector") or {}, "spec.selector")
    yield from _session_affinity(spec)
    if kind != "ExternalName":
        yield from _addresses(spec)
    yield from each(reachable_address)(spec.get("externalIPs") or (), "spec.externalIPs")
    yield from one_of(TYPES)(kind, "spec.type")
    yield from _port_conflicts(ports, kind)
    yield from _load_balancer(service, kind)
    yield from _traffic(spec, kind)


def _external_name(spec: Data) -> Errors:
    for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(field):
            yield forbidden(f"spec.{field}", "may not be set for ExternalName services")
    name = (spec.get("externalName") or "").removesuffix(".")
    if not name:
        yield required("spec.externalName")
    else:
        yield from texts(names.subdomain)(name, "spec.externalName")


def has_relaxed_name(service: Data) -> bool:
    return service.get("kind") == "Service" and bool(names.dns_1035_label(service["metadata"].get("name") or ""))


def _annotations(service: Data) -> Mapping[str, str]:
    annotations: Mapping[str, str] = (service.get("metadata") or {}).get("annotations") or {}
    return annotations


def _ranges_of_annotation(service: Data) -> Errors:
    for item in annotated_ranges(service):
        yield from network(item, RANGES_PATH)


def service_update(old: Data, new: Data) -> Errors:
    """Check the addresses that the stored Service does not have."""
    yield from metadata_update(old, new)
    before, after = old.get("spec") or {}, new.get("spec") or {}
    if not after.get("loadBalancerSourceRanges") and annotated_ranges(old) != annotated_ranges(new):
        yield from _ranges_of_annotation(new)
    for field, (place, rule) in ADDRESSES.items():
        held = {"None", *(item.strip() for item in before.get(field) or ())}
        for index, item in enumerate(after.get(field) or ()):
            if item.strip() not in held:
                yield from rule(item.strip(), f"spec.{place}[{index}]")


def _ports(ports: Sequence[Data]) -> Errors:
    port_names: set[str] = set()
    for index, port in enumerate(ports):
        path, name = f"spec.ports[{index}]", port.get("name") or ""
        if name:
            yield from dns_label(name, f"{path}.name")
            if name in port_names:
                yield duplicate(f"{path}.name", name)
            port_names.add(name)
        elif len(ports) > 1:
            yield required(f"{path}.name")
        yield from port_number(port["port"], f"{path}.port")
        yield from _protocol(port.get("protocol") or "", f"{path}.protocol")
        yield from port_number_or_name(port.get("targetPort", 0), f"{path}.targetPort")
        if port.get("appProtocol") is not None:
            yield from texts(names.qualified_name)(port["appProtocol"], f"{path}.appProtocol")


def _session_affinity(spec: Data) -> Errors:
    affinity = spec.get("sessionAffinity") or ""
    yield from one_of(("ClientIP", "None"))(affinity, "spec.sessionAffinity")
    if affinity == "ClientIP":
        seconds = ((spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}).get("timeoutSeconds", 0)
        if not 0 < seconds <= LONGEST_AFFINITY_SECONDS:
            text = f"must be greater than 0 and less than {LONGEST_AFFINITY_SECONDS}"
            yield invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, text)


def _addresses(spec: Data) -> Errors:
    address, addresses = spec.get("clusterIP") or "", spec.get("clusterIPs") or []
    if address and not addresses:
        yield required("spec.clusterIPs")
    elif address and addresses[0] != address:
        yield invalid("spec.clusterIPs", addresses, "first value must match `clusterIP`")
    elif addresses and not address:
        yield invalid("spec.clusterIPs", addresses, "must be empty when `clusterIP` is not specified")
    families: set[str] = set()
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        yield from supported(("IPv4", "IPv6"))(family, f"spec.ipFamilies[{index}]")
        if family in families:
            yield duplicate(f"spec.ipFamilies[{index}]", family)
        families.add(family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None:
        yield from supported(("PreferDualStack", "RequireDualStack", "SingleStack"))(policy, "spec.ipFamilyPolicy")
    parsed = [names.plain_ip(item) for item in addresses]
    for index, item in enumerate(addresses):
        if index == 0 and item == "None":
            if len(addresses) > 1:
                yield invalid("spec.clusterIPs", addresses, "'None' must be the first and only value")
        else:
            yield from ip_address(item, f"spec.clusterIPs[{index}]")
    if len(addresses) > 2:
        yield invalid("spec.clusterIPs", addresses, "may only hold up to 2 values")
    versions = [None if address is None else address.version for address in parsed]
    if None not in versions:
        yield from _address_families(spec, addresses, versions)


def _address_families(spec: Data, addresses: Sequence[str], versions: Sequence[int | None]) -> Errors:
    """Check that well-formed addresses have different families, all named in ``ipFamilies``."""
    if len(addresses) > 1 and len(set(versions)) == 1:
        yield invalid("spec.clusterIPs", addresses, "may specify no more than one IP for each IP family")
    for index, (version, family) in enumerate(zip(versions, spec.get("ipFamilies") or (), strict=False)):
        if family in ("IPv4", "IPv6") and family != f"IPv{version}":
            text = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            yield invalid(f"spec.clusterIPs[{index}]", addresses[index], text)


def _port_conflicts(ports: Sequence[Data], kind: str) -> Errors:
    taken: set[tuple[str, int]] = set()
    node_ports: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        if kind == "ClusterIP" and port.get("nodePort"):
            yield forbidden(f"spec.ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
    for index, port in enumerate(ports):
        key = (port.get("protocol") or "", port.get("nodePort") or 0)
        if key[1] and key in node_ports:
            yield duplicate(f"spec.ports[{index}].nodePort", key[1])
        node_ports.add(key)
    for index, port in enumerate(ports):
        protocol = port.get("protocol") or ""
        if (protocol, port["port"]) in taken:
            shown = {
                "Name": "",
                "Protocol": protocol,
                "AppProtocol": None,
                "Port": port["port"],
                "TargetPort": 0,
                "NodePort": 0,
            }
            yield duplicate(f"spec.ports[{index}]", shown)
        taken.add((protocol, port["port"]))


def _load_balancer(service: Data, kind: str) -> Errors:
    spec, only = service.get("spec") or {}, "may only be used when `type` is 'LoadBalancer'"
    ranges = spec.get("loadBalancerSourceRanges") or ()
    if not ranges and RANGES_ANNOTATION in _annotations(service):
        if kind != "LoadBalancer":
            yield forbidden(RANGES_PATH, only)
        yield from _ranges_of_annotation(service)
    if ranges and kind != "LoadBalancer":
        yield forbidden("spec.LoadBalancerSourceRanges", only)
    yield from each(network)([item.strip() for item in ranges], "spec.LoadBalancerSourceRanges")
    if spec.get("allocateLoadBalancerNodePorts") is not None and kind != "LoadBalancer":
        yield forbidden("spec.allocateLoadBalancerNodePorts", only)
    name = spec.get("loadBalancerClass")
    if name is not None and kind == "LoadBalancer":
        yield from texts(names.qualified_name)(name, "spec.loadBalancerClass")
    elif name is not None:
        yield forbidden("spec.loadBalancerClass", only)


def _traffic(spec: Data, kind: str) -> Errors:
    reachable = kind in ("LoadBalancer", "NodePort") or (kind == "ClusterIP" and bool(spec.get("externalIPs")))
    policy = spec.get("externalTrafficPolicy") or ""
    if reachable:
        yield from one_of(("Cluster", "Local"))(policy, "spec.externalTrafficPolicy")
    elif policy:
        yield invalid("spec.externalTrafficPolicy", Named(policy), "may only be set for externally-accessible services")
    port, checked = spec.get("healthCheckNodePort") or 0, kind == "LoadBalancer" and policy == "Local"
    if port and checked:
        # Without one, the API server chooses it before it validates.
        yield from port_number(port, "spec.healthCheckNodePort")
    elif port:
        text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield invalid("spec.healthCheckNodePort", port, text)
    internal = spec.get("internalTrafficPolicy")
    if internal is not None:
        yield from supported(("Cluster", "Local"))(internal, "spec.internalTrafficPolicy")
    distribution, known = spec.get("trafficDistribution"), ("PreferClose", "PreferSameZone", "PreferSameNode")
    if distribution is not None and distribution not in known:
        yield not_supported("spec.trafficDistribution", distribution, known, named=False)
