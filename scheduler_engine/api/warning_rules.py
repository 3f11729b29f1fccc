"""Warnings about valid manifests, for the person who applies them. kubectl prints them as ``Warning: …``.

``WARNINGS`` is the table: kind → its rules, which see the defaulted manifest.
Source: upstream ``pkg/api/*/{util,warnings}.go`` and ``WarningsOnCreate`` of ``pkg/registry``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from scheduler_engine.api.defaults import with_defaults
from scheduler_engine.api.scheme import kind_of
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import quoted
from scheduler_engine.api.warnings_pod import (
    HOST_NAME,
    OLD_NODE_LABELS,
    Newer,
    Warnings,
    claim_warnings,
    node_terms,
    old_label,
    old_volumes,
    pod_warnings,
    template_warnings,
)
from scheduler_engine.errors import LONGEST_NAME, MOST_ERRORS, FieldError
from scheduler_engine.versions import DEFAULT_RULES, Rules

Data = Mapping[str, Any]


CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
HINTS_ANNOTATION = "service.kubernetes.io/topology-aware-hints"
CLOSE = "PreferClose"
MOST_INDEXES, MOST_PARALLEL = 100_000, 10_000


def warnings_about(
    manifest: Data, document: int = 0, defaulted: Data | None = None, rules: Rules = DEFAULT_RULES
) -> list[FieldError]:
    """Return Kubernetes' warnings; the manifest must be valid. ``document`` is its number in its text.

    ``defaulted``: the result of ``with_defaults``, if available. ``rules``: those of the version of Kubernetes.
    More than ``MOST_ERRORS`` mean that there may be others.
    """
    kind = kind_of(manifest).name
    rule = WARNINGS.get(kind)
    if rule is None:
        return []
    name = (manifest.get("metadata") or {}).get("name") or ""
    shown = f"{kind} {name[:LONGEST_NAME]}".strip()
    found = rule(with_defaults(manifest) if defaulted is None else defaulted)
    warnings = islice(_in_version(found, rules.newer_warnings), MOST_ERRORS + 1)
    return [FieldError(path, "Warning", text, document, object_name=shown) for path, text in warnings]


def _in_version(warnings: Warnings, newer: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Return the warnings of a version. ``newer``: the rule ``newer_warnings``."""
    for warning in warnings:
        if not isinstance(warning, Newer):
            yield warning
            continue
        text = warning.text if warning.word in newer else warning.older
        if text:
            yield warning.path, text


def _owner(owner: Data) -> Warnings:
    problems = names.dns_label((owner.get("metadata") or {}).get("name") or "a")
    if problems:
        yield "metadata.name", f"this is used in Pod names and hostnames, {HOST_NAME}: [{' '.join(problems)}]"
    yield from _template(owner)


def _template(owner: Data) -> Warnings:
    yield from template_warnings((owner.get("spec") or {}).get("template") or {}, "spec.template")


def _stateful_set(owner: Data) -> Warnings:
    spec = owner.get("spec") or {}
    yield from _template(owner)
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        yield from claim_warnings(claim.get("spec") or {}, f"spec.volumeClaimTemplates[{index}]")
    if spec.get("revisionHistoryLimit", 0) < 0:
        text = "a negative value retains all historical revisions; a value >= 0 is recommended"
        yield "spec.revisionHistoryLimit", text


def _job(job: Data) -> Warnings:
    spec = job.get("spec") or {}
    many = (spec.get("completions") or 0) > MOST_INDEXES and (spec.get("parallelism") or 0) > MOST_PARALLEL
    if spec.get("completionMode") == "Indexed" and many:
        text = (
            "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
            "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
        yield "spec", text
    yield from _owner(job)


def _node(node: Data) -> Warnings:
    spec = node.get("spec") or {}
    if spec.get("configSource") is not None:
        yield "spec.configSource", "the feature is removed"
    if spec.get("externalID"):
        yield "spec.externalID", "this field is deprecated, and is unused by Kubernetes"


def _class_annotation(manifest: Data) -> Warnings:
    if CLASS_ANNOTATION in ((manifest.get("metadata") or {}).get("annotations") or {}):
        text = 'deprecated since v1.8; use "storageClassName" attribute instead'
        yield f"metadata.annotations[{CLASS_ANNOTATION}]", text


def _persistent_volume(volume: Data) -> Warnings:
    spec = volume.get("spec") or {}
    yield from _class_annotation(volume)
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        text = (
            "The Recycle reclaim policy is deprecated. "
            "Instead, the recommended approach is to use dynamic provisioning."
        )
        yield "spec.persistentVolumeReclaimPolicy", text
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    yield from node_terms(terms, "spec.nodeAffinity.required.nodeSelectorTerms")
    yield from old_volumes(spec, "spec")


def _claim(claim: Data) -> Warnings:
    yield from _class_annotation(claim)
    yield from claim_warnings(claim.get("spec") or {}, "spec")


def _storage_class(storage_class: Data) -> Warnings:
    for index, term in enumerate(storage_class.get("allowedTopologies") or ()):
        for number, expression in enumerate(term.get("matchLabelExpressions") or ()):
            if expression["key"] in OLD_NODE_LABELS:
                place = f"allowedTopologies[{index}].matchLabelExpressions[{number}].key"
                yield place, OLD_NODE_LABELS[expression["key"]]


def _storage_capacity(capacity: Data) -> Warnings:
    topology = capacity.get("nodeTopology") or {}
    for index, expression in enumerate(topology.get("matchExpressions") or ()):
        yield from old_label(expression["key"], f"nodeTopology.matchExpressions[{index}].key")
    for key in topology.get("matchLabels") or {}:
        if key in OLD_NODE_LABELS:
            yield f"nodeTopology.matchLabels.{key}", OLD_NODE_LABELS[key]


def _runtime_class(runtime_class: Data) -> Warnings:
    for key in (runtime_class.get("scheduling") or {}).get("nodeSelector") or {}:
        if key in OLD_NODE_LABELS:
            yield "scheduling.nodeSelector", OLD_NODE_LABELS[key]


def _service(service: Data) -> Warnings:
    spec = service.get("spec") or {}
    kind, headless = spec.get("type"), spec.get("clusterIP") == "None" and spec.get("type") == "ClusterIP"
    if HINTS_ANNOTATION in ((service.get("metadata") or {}).get("annotations") or {}):
        mode = "service.kubernetes.io/topology-mode"
        yield "", f"annotation {HINTS_ANNOTATION} is deprecated, please use {mode} instead"
    if not headless and kind != "ExternalName":
        for index, address in enumerate(spec.get("clusterIPs") or ()):
            yield from _address(address, f"spec.clusterIPs[{index}]")
    for field in ("loadBalancerIP", "externalIPs", "sessionAffinity") if headless else ():
        if spec.get(field) not in (None, "", [], "None"):
            name = "SessionAffinity" if field == "sessionAffinity" else field
            yield "", f"spec.{name} is ignored for headless services"
    for index, address in enumerate(spec.get("externalIPs") or ()):
        yield from _address(address, f"spec.externalIPs[{index}]")
    if spec.get("externalIPs") and not headless and kind != "ExternalName":
        text = "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
        yield Newer("externalIPs", "", text)
    if spec.get("loadBalancerIP"):
        yield from _address(spec["loadBalancerIP"], "spec.loadBalancerIP")
    if kind == "ExternalName" and spec.get("externalIPs"):
        yield "", 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if kind != "ExternalName" and spec.get("externalName"):
        yield "", 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == CLOSE:
        yield Newer("PreferClose", "spec.trafficDistribution", f'"{CLOSE}" is deprecated; use "PreferSameZone"')


def _address(written: str, path: str) -> Warnings:
    """Warn of an address in a form that only older fields accept."""
    plain = names.plain_ip(written)
    if plain is None or str(plain) == written:
        return
    if plain.version == 4:
        what, advice = f"non-standard IP address {quoted(written)}", f"use {quoted(str(plain))}"
        older = f"{what} will be considered invalid in a future Kubernetes release: {advice}"
        yield Newer("addresses", path, f"{what} is invalid: {advice}", older)
    else:
        yield path, f"IPv6 address {quoted(written)} should be in RFC 5952 canonical format ({quoted(str(plain))})"


def _csi_driver(driver: Data) -> Warnings:
    spec = driver.get("spec") or {}
    if spec.get("tokenRequests") and spec.get("serviceAccountTokenInSecrets") is None:
        advice = "set to true to prevent possible logging of tokens in volume attributes"
        text = f"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, {advice}"
        yield Newer("token-requests", "", text)


def _endpoints(endpoints: Data) -> Warnings:
    yield "", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"


WARNINGS: dict[str, Callable[[Data], Warnings]] = {
    "Pod": pod_warnings,
    "Node": _node,
    "Service": _service,
    "PersistentVolume": _persistent_volume,
    "PersistentVolumeClaim": _claim,
    "StorageClass": _storage_class,
    "CSIDriver": _csi_driver,
    "CSIStorageCapacity": _storage_capacity,
    "RuntimeClass": _runtime_class,
    "ReplicaSet": _owner,
    "ReplicationController": _owner,
    "Deployment": _owner,
    "DaemonSet": _template,
    "StatefulSet": _stateful_set,
    "Job": _job,
    "Endpoints": _endpoints,
}
