"""Warnings about a pod or a pod template.

Source: upstream ``pkg/api/pod/warnings.go``, ``pkg/api/node/util.go`` and the pod registry's strategy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.annotations import APP_ARMOR, SECCOMP, SECCOMP_OF_POD
from scheduler_engine.api.validation.problems import quoted
from scheduler_engine.api.validation.walk import containers_with_paths

Data = Mapping[str, Any]


class Newer(NamedTuple):
    """A warning that depends on the version. ``word`` of the rule ``newer_warnings``: the text where it holds;
    ``older``: the text elsewhere, "" = no warning.
    """

    word: str
    path: str
    text: str
    older: str = ""


Warnings = Iterator[tuple[str, str] | Newer]
"""Pairs of field path and text, or texts that depend on the version."""

OLD_NODE_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
OLD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
OLD_VOLUMES = {
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
"""Field → its name in Kubernetes' text, and the text."""

HOST_NAME = "which can result in surprising behavior; a DNS label is recommended"
AMBIGUOUS = "dangerously ambiguous"
MATCHES_NOTHING = "a null labelSelector results in matching no pod"


def pod_warnings(pod: Data) -> Warnings:
    problems = names.dns_label((pod.get("metadata") or {}).get("name") or "a")
    if problems:
        yield "metadata.name", f"this is used in the Pod's hostname, {HOST_NAME}: [{' '.join(problems)}]"
    yield from template_warnings(pod, "")


def template_warnings(template: Data, path: str) -> Warnings:
    """Warn about a pod (``path`` is empty), or the template at ``path``, in Kubernetes' order."""
    prefix = f"{path}." if path else ""
    spec = template.get("spec") or {}
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    place = f"{prefix}spec"
    yield from _node_labels(spec, place)
    yield from _spread(spec, f"{place}.topologySpreadConstraints")
    for key, text in OLD_ANNOTATIONS.items():
        if key in annotations:
            yield f"{prefix}metadata.annotations[{key}]", text
    for index, volume in enumerate(spec.get("volumes") or ()):
        yield from old_volumes(volume, f"{place}.volumes[{index}]")
        claim = ((volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}).get("spec") or {}
        yield from claim_warnings(claim, f"{place}.volumes[{index}].ephemeral.volumeClaimTemplate.spec")
    yield from _said_twice(spec, place)
    yield from fractions(spec.get("overhead") or {}, f"{place}.overhead")
    yield from _security(spec, annotations, prefix)
    for container, where in containers_with_paths(spec, place):
        resources = container.get("resources") or {}
        for name in ("limits", "requests"):
            yield from fractions(resources.get(name) or {}, f"{where}.resources.{name}")
        yield from _environment(container.get("env") or (), f"{where}.env")
    yield from _ports(spec, place)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{place}.terminationGracePeriodSeconds", text
    yield from _pod_affinity(spec.get("affinity") or {}, f"{place}.affinity")


# --- labels of nodes --------------------------------------------------------------------------------------------------


def _node_labels(spec: Data, path: str) -> Warnings:
    for key in spec.get("nodeSelector") or {}:
        if key in OLD_NODE_LABELS:
            yield f"{path}.nodeSelector[{key}]", OLD_NODE_LABELS[key]
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    place = f"{path}.affinity.nodeAffinity"
    terms = required.get("nodeSelectorTerms") or ()
    yield from node_terms(terms, f"{place}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms")
    place = f"{place}.preferredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        yield from _node_term(term.get("preference") or {}, f"{place}[{index}].preference", values_too=True)


def node_terms(terms: Sequence[Data], path: str) -> Warnings:
    """Check the terms of a required node selector."""
    for index, term in enumerate(terms):
        yield from _node_term(term, f"{path}[{index}]", values_too=False)


def _node_term(term: Data, path: str, values_too: bool) -> Warnings:
    """``values_too``: also check label values that pass validation although no node can have them."""
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        place = f"{path}.matchExpressions[{index}]"
        yield from old_label(requirement["key"], f"{place}.key")
        for number, value in enumerate(requirement.get("values") or () if values_too else ()):
            for text in names.label_value(value):
                newer = text.newer if isinstance(text, names.Reworded) else text
                where, shown = f"{place}.values[{number}]", f"{value} is invalid, "
                yield Newer("label-values", where, f"{shown}{newer}", f"{shown}{text}")


def old_label(key: str, path: str) -> Warnings:
    if key in OLD_NODE_LABELS:
        yield path, f"{key} is {OLD_NODE_LABELS[key]}"


def _spread(spec: Data, path: str) -> Warnings:
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        yield from old_label(constraint["topologyKey"], f"{path}[{index}].topologyKey")
        if constraint.get("labelSelector") is None:
            yield f"{path}[{index}].labelSelector", MATCHES_NOTHING


def _pod_affinity(affinity: Data, path: str) -> Warnings:
    for kind in ("podAffinity", "podAntiAffinity"):
        for mode in ("required", "preferred"):
            field = f"{mode}DuringSchedulingIgnoredDuringExecution"
            for index, item in enumerate((affinity.get(kind) or {}).get(field) or ()):
                term = item if mode == "required" else item.get("podAffinityTerm") or {}
                place = f"{path}.{kind}.{field}[{index}]" + (".podAffinityTerm" if mode == "preferred" else "")
                if term.get("labelSelector") is None:
                    yield f"{place}.labelSelector", MATCHES_NOTHING


# --- amounts and volumes ----------------------------------------------------------------------------------------------


def fractions(
    amounts: Mapping[str, str], path: str, resources: Sequence[str] = ("memory", "ephemeral-storage")
) -> Warnings:
    """Warn of bytes that are not a whole number."""
    for name in resources:
        if name in amounts and parse_quantity(amounts[name]).nano % 1_000_000_000:
            yield f"{path}[{name}]", f"fractional byte value {quoted(amounts[name])} is invalid, must be an integer"


def claim_warnings(spec: Data, path: str) -> Warnings:
    for name in ("requests", "limits"):
        amounts = (spec.get("resources") or {}).get(name) or {}
        yield from fractions(amounts, f"{path}.resources.{name}", ("storage",))


def old_volumes(volume: Data, path: str) -> Warnings:
    """Warn of a pod's or PersistentVolume's sources that no longer work."""
    for field, (name, text) in OLD_VOLUMES.items():
        if volume.get(field) is not None:
            yield f"{path}.{name}", text


# --- duplicates, and settings without effect --------------------------------------------------------------------------


def _said_twice(spec: Data, path: str) -> Warnings:
    for field, key, word in (("hostAliases", "ip", "ip"), ("imagePullSecrets", "name", "name")):
        values: set[str] = set()
        for index, item in enumerate(spec.get(field) or ()):
            value = item.get(key) or ""
            if value in values:
                yield f"{path}.{field}[{index}].{key}", f"duplicate {word} {quoted(value)}"
            values.add(value)
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f"{path}.imagePullSecrets[{index}].name", 'invalid empty name ""'


def _security(spec: Data, annotations: Mapping[str, str], prefix: str) -> Warnings:
    instead = 'non-functional in v1.27+; use the "seccompProfile" field instead'
    of_pod = spec.get("securityContext") or {}
    if SECCOMP_OF_POD in annotations and of_pod.get("seccompProfile") is None:
        yield f"{prefix}metadata.annotations[{SECCOMP_OF_POD}]", instead
    for container, _ in containers_with_paths(spec, ""):
        own = container.get("securityContext") or {}
        seccomp, apparmor = SECCOMP + container["name"], APP_ARMOR + container["name"]
        if seccomp in annotations and own.get("seccompProfile") is None:
            yield f"{prefix}metadata.annotations[{seccomp}]", instead
        if apparmor in annotations and of_pod.get("appArmorProfile") is None and own.get("appArmorProfile") is None:
            text = 'deprecated since v1.30; use the "appArmorProfile" field instead'
            yield f"{prefix}metadata.annotations[{apparmor}]", text


def _environment(variables: Sequence[Data], path: str) -> Warnings:
    earlier_names: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = variable["name"], variable.get("value") or ""
        reference = f"$({name})"
        builds_on_it = variable.get("valueFrom") is None and reference in value and value != reference
        if name in earlier_names and not builds_on_it:
            text = f"hides previous definition of {quoted(name)}, which may be dropped when using apply"
            yield f"{path}[{index}]", text
        earlier_names.add(name)


def _ports(spec: Data, path: str) -> Warnings:
    """Report for each port all earlier ones of its number and protocol that it collides with."""
    places: list[str] = []
    known: dict[tuple[Any, ...], list[int]] = {}
    for container, where in containers_with_paths(spec, path):
        for index, port in enumerate(container.get("ports") or ()):
            place, same = f"{where}.ports[{index}]", (port["containerPort"], port.get("protocol") or "")
            address, host_port = port.get("hostIP") or "", port.get("hostPort") or 0
            if address and not host_port:
                shown = f"{{Name:{port.get('name') or ''} HostPort:0 ContainerPort:{same[0]} Protocol:{same[1]} "
                yield place, f"hostIP set without hostPort: {shown}HostIP:{address}}}"
            all_of_them, without = (*same, "all"), (*same, "without host port")
            equal, kind = (*same, address, host_port), (*same, host_port, bool(address))
            collisions = {
                **dict.fromkeys(known.get(without if host_port else all_of_them, ()), "overlapping"),
                **dict.fromkeys(known.get((*same, host_port, not address), ()) if host_port else (), AMBIGUOUS),
                **dict.fromkeys(known.get(equal, ()), "duplicate"),
            }
            for other in sorted(collisions):
                yield place, f"{collisions[other]} port definition with {places[other]}"
            for key in (all_of_them, equal, kind if host_port else without):
                known.setdefault(key, []).append(len(places))
            places.append(place)
