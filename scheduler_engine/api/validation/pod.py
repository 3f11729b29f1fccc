"""Rules for a new pod. Source: upstream ``apis/core/validation`` (ValidatePodCreate)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.critical_pods import MIRROR
from scheduler_engine.api.validation import names, selectors
from scheduler_engine.api.validation.addresses import ip_address
from scheduler_engine.api.validation.annotations import annotations_match_fields, known_annotations
from scheduler_engine.api.validation.containers import (
    PodFacts,
    containers,
    dns_label,
    ephemeral_containers,
    image_without_blanks,
    init_containers,
)
from scheduler_engine.api.validation.environment import files_in_empty_directories
from scheduler_engine.api.validation.metadata import labels, metadata_rules, object_name
from scheduler_engine.api.validation.problems import (
    Errors,
    between,
    duplicate,
    each,
    forbidden,
    invalid,
    one_of,
    present,
    required,
    texts,
    too_long,
    until,
)
from scheduler_engine.api.validation.resources import pod_level, requirements
from scheduler_engine.api.validation.security import operating_system, pod_security
from scheduler_engine.api.validation.volumes import SOURCES, TEMPLATE_SOURCES, pod_volumes
from scheduler_engine.api.validation.walk import containers_with_paths
from scheduler_engine.api.validation.windows import host_process_pod

Data = Mapping[str, Any]

_LONGEST_USED = 1000
"""Characters of a pod's name used in the names of claims; no allowed name has this many."""

_subdomain = texts(names.subdomain)
_restart_policy = one_of(("Always", "OnFailure", "Never"))
_dns_policy = one_of(("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"))
_preemption_policy = one_of(("PreemptLowerPriority", "Never"))


def internal_form(pod: Data) -> Data:
    """Return a pod as its rules see it: with a field's newer name, and one second for a negative grace period."""
    spec = dict(pod.get("spec") or {})
    account = spec.get("serviceAccountName") or spec.pop("serviceAccount", "")
    spec.pop("serviceAccount", None)
    if account:
        spec["serviceAccountName"] = account
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    return {**pod, "spec": spec}


def pod_rules(pod: Data) -> Errors:
    pod = internal_form(pod)
    yield from pod_and_template_rules(pod)
    spec = pod["spec"]
    if spec.get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    yield from annotations_match_fields((pod.get("metadata") or {}).get("annotations") or {}, spec, "spec")


def pod_and_template_rules(pod: Data) -> Errors:
    """Check what holds for a pod on create and on update."""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    yield from metadata_rules(pod, names.subdomain, namespaced=True)
    yield from known_annotations(metadata.get("annotations") or {}, spec, "metadata.annotations")
    static = MIRROR in (metadata.get("annotations") or {})
    yield from pod_spec(spec, "spec", object_name(metadata), static=static)
    yield from _tokens(spec)
    yield from image_without_blanks(spec.get("containers") or (), "spec.containers")
    yield from image_without_blanks(spec.get("initContainers") or (), "spec.initContainers")


def _tokens(spec: Data) -> Errors:
    """Check that a projected token belongs to a named service account."""
    if spec.get("serviceAccountName"):
        return
    for index, volume in enumerate(spec.get("volumes") or ()):
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if source.get("serviceAccountToken") is not None:
                place = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                yield forbidden(place, "must not be specified when serviceAccountName is not set")


def pod_spec(spec: Data, path: str, pod_name: str, template: bool = False, static: bool = False) -> Errors:
    """Check the spec of a pod, or of a template (then ``pod_name`` is empty), in Kubernetes' order."""
    volumes: dict[str, Data] = {}
    facts = _facts(spec, volumes)
    if facts.grace_period is None:
        yield required(f"{path}.terminationGracePeriodSeconds")
    sources = TEMPLATE_SOURCES if template else SOURCES
    yield from pod_volumes(spec.get("volumes") or (), f"{path}.volumes", pod_name[:_LONGEST_USED], sources, volumes)
    yield from _resource_claims(spec.get("resourceClaims") or (), f"{path}.resourceClaims", static)
    regular, init = spec.get("containers") or (), spec.get("initContainers") or ()
    yield from containers(regular, f"{path}.containers", facts)
    yield from init_containers(init, regular, f"{path}.initContainers", facts)
    yield from ephemeral_containers(spec, f"{path}.ephemeralContainers", facts)
    yield from pod_level(spec, path, facts.claim_names)
    yield from _host_network(spec, path, template)
    yield from _restart_policy(spec.get("restartPolicy") or "", f"{path}.restartPolicy")
    yield from _dns_policy(spec.get("dnsPolicy") or "", f"{path}.dnsPolicy")
    yield from labels(spec.get("nodeSelector") or {}, f"{path}.nodeSelector")
    yield from pod_security(spec, path)
    yield from present(spec, path, (("affinity", selectors.affinity),))
    yield from _dns_config(spec, f"{path}.dnsConfig")
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        yield from selectors.label_key(gate["conditionType"], f"{path}.readinessGates[{index}].conditionType")
    yield from _scheduling_gates(spec.get("schedulingGates") or (), f"{path}.schedulingGates")
    yield from present(spec, path, (("topologySpreadConstraints", selectors.spread_constraints),))
    yield from host_process_pod(spec, path)
    yield from _host_users(spec, path)
    yield from _host_name(spec, path)
    yield from present(spec, path, _LATER_RULES)
    yield from operating_system(spec, path)
    yield from files_in_empty_directories(spec, path)


def _facts(spec: Data, volumes: Mapping[str, Data]) -> PodFacts:
    return PodFacts(
        volumes=volumes,
        claim_names=dict.fromkeys(sorted(claim["name"] for claim in spec.get("resourceClaims") or () if claim["name"])),
        grace_period=spec.get("terminationGracePeriodSeconds"),
        restart_policy=spec.get("restartPolicy") or "",
        host_users=spec.get("hostUsers") is not False,
        os=(spec.get("os") or {}).get("name") or "",
    )


def _resource_claims(claims: Sequence[Data], path: str, static: bool) -> Errors:
    earlier_names: set[str] = set()
    for index, claim in enumerate(claims):
        if static:
            yield forbidden("[]", "static pods do not support resource claims")
            continue
        place, name = f"{path}[{index}]", claim["name"]
        claim_name, template = claim.get("resourceClaimName"), claim.get("resourceClaimTemplateName")
        if not name:
            yield required(f"{place}.name")
        elif name in earlier_names:
            yield duplicate(f"{place}.name", name)
        else:
            yield from dns_label(name, f"{place}.name")
            earlier_names.add(name)
        shown = {"Name": name, "ResourceClaimName": claim_name, "ResourceClaimTemplateName": template}
        if claim_name is not None and template is not None:
            text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield invalid(place, shown, text)
        if claim_name is None and template is None:
            yield invalid(place, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
        yield from present(claim, place, (("resourceClaimName", _subdomain), ("resourceClaimTemplateName", _subdomain)))


def _host_network(spec: Data, path: str, template: bool) -> Errors:
    """Check host ports, which a template may leave to the defaults of its pods."""
    if not spec.get("hostNetwork"):
        return
    for index, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports") or ()):
            host_port = port.get("hostPort", 0)
            if host_port != port["containerPort"] and (host_port or not template):
                place = f"{path}.containers[{index}].ports[{number}].hostPort"
                yield invalid(place, host_port, "must match `containerPort` when `hostNetwork` is true")


def _dns_config(spec: Data, path: str) -> Errors:
    config, servers = spec.get("dnsConfig"), (spec.get("dnsConfig") or {}).get("nameservers") or []
    if spec.get("dnsPolicy") == "None" and config is None:
        yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
        return
    if spec.get("dnsPolicy") == "None" and not servers:
        yield required(f"{path}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
        return
    if config is None:
        return
    searches = config.get("searches") or []
    if len(servers) > 3:
        yield invalid(f"{path}.nameservers", servers, "must not have more than 3 nameservers")
    yield from each(ip_address)(servers, f"{path}.nameservers")
    if len(searches) > 32:
        yield invalid(f"{path}.searches", searches, "must not have more than 32 search paths")
    if len(" ".join(searches)) > 2048:
        text = "must not have more than 2048 characters (including spaces) in the search list"
        yield invalid(f"{path}.searches", searches, text)
    for index, search in enumerate(searches):
        if search != ".":
            yield from texts(names.subdomain_with_underscore)(search.removesuffix("."), f"{path}.searches[{index}]")
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            yield required(f"{path}.options[{index}]", "must not be empty")


def _scheduling_gates(gates: Sequence[Data], path: str) -> Errors:
    earlier_names: set[str] = set()
    for index, gate in enumerate(gates):
        yield from selectors.label_key(gate["name"], f"{path}[{index}]")
        if gate["name"] in earlier_names:
            yield duplicate(f"{path}[{index}]", gate["name"])
        earlier_names.add(gate["name"])


def _host_users(spec: Data, path: str) -> Errors:
    if spec.get("hostUsers") is not False:
        return
    text = "when `hostUsers` is false"
    if spec.get("hostNetwork"):
        yield from until("host_network_user_namespaces", (forbidden(f"{path}.hostNetwork", text),))
    for field, shown in (("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(field):
            yield forbidden(f"{path}.{shown}", text)
    for container, place in containers_with_paths(spec, path):
        if container.get("volumeDevices"):
            yield forbidden(f"{place}.volumeDevices", text)


def uses_host_network_in_user_namespace(spec: Data) -> bool:
    return bool(spec.get("hostNetwork")) and spec.get("hostUsers") is False


def _host_name(spec: Data, path: str) -> Errors:
    name, place = spec.get("hostnameOverride"), f"{path}.hostnameOverride"
    if name is None:
        return
    if spec.get("setHostnameAsFQDN"):
        yield forbidden(place, "may not be specified when setHostnameAsFQDN is true")
    if spec.get("hostNetwork"):
        yield forbidden(place, "may not be specified when hostNetwork is true")
    if len(name.encode()) > 64:
        yield too_long(place, 64)
    yield from _subdomain(name, place)


def _host_aliases(aliases: Sequence[Data], path: str) -> Errors:
    for index, alias in enumerate(aliases):
        yield from ip_address(alias["ip"], f"{path}[{index}].ip")
        yield from each(_subdomain)(alias.get("hostnames") or (), f"{path}[{index}].hostnames")


def _overhead(overhead: Data, path: str) -> Errors:
    yield from requirements({"limits": overhead}, path)


_LATER_RULES = (
    ("serviceAccountName", _subdomain),
    ("nodeName", _subdomain),
    ("activeDeadlineSeconds", between(1, 2**31 - 1)),
    ("hostname", dns_label),
    ("subdomain", dns_label),
    ("tolerations", selectors.tolerations),
    ("hostAliases", _host_aliases),
    ("priorityClassName", _subdomain),
    ("runtimeClassName", _subdomain),
    ("preemptionPolicy", _preemption_policy),
    ("overhead", _overhead),
)
