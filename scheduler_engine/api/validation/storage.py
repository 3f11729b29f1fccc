"""Rules for volumes, claims and storage classes. Source: upstream ``apis/{core,storage}/validation``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.claims import access_modes, claim_spec, class_name, positive_amount, volume_mode
from scheduler_engine.api.validation.metadata import IMMUTABLE, metadata_rules, metadata_update
from scheduler_engine.api.validation.problems import (
    Errors,
    by_version,
    duplicate,
    forbidden,
    invalid,
    map_shown,
    not_supported,
    one_of,
    present,
    required,
    supported,
    texts,
    worded,
)
from scheduler_engine.api.validation.selectors import node_selector
from scheduler_engine.api.validation.volumes import (
    VOLUME_SOURCES,
    exactly_one_source,
    root_directory,
)
from scheduler_engine.errors import MOST_ERRORS

Data = Mapping[str, Any]

_reclaim_policy = supported(("Delete", "Recycle", "Retain"))


def persistent_volume_rules(volume: Data) -> Errors:
    spec, path = volume.get("spec") or {}, "spec"
    yield from metadata_rules(volume, names.subdomain, namespaced=False)
    modes = spec.get("accessModes") or []
    if not modes:
        yield required(f"{path}.accessModes")
    yield from access_modes(modes, f"{path}.accessModes")
    yield from _capacity(spec.get("capacity"), f"{path}.capacity")
    if spec.get("persistentVolumeReclaimPolicy"):
        policy = spec["persistentVolumeReclaimPolicy"]
        yield from _reclaim_policy(policy, f"{path}.persistentVolumeReclaimPolicy")
    affinity = spec.get("nodeAffinity")
    if affinity is not None and affinity.get("required") is not None:
        yield from node_selector(affinity["required"], f"{path}.nodeAffinity.required")
    elif affinity is not None:
        yield required(f"{path}.nodeAffinity.required", "must specify required node constraints")
    yield from _volume_source(spec, path)
    cleaned = root_directory((spec.get("hostPath") or {}).get("path") or "")
    if cleaned and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield forbidden(f"{path}.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")
    yield from present(spec, path, (("storageClassName", class_name), ("volumeMode", volume_mode)))
    attributes = spec.get("volumeAttributesClassName")
    if attributes is not None:
        if not attributes:
            yield required(f"{path}.volumeAttributesClassName", "an empty string is disallowed")
        yield from class_name(attributes, f"{path}.volumeAttributesClassName")
        if spec.get("csi") is None:
            yield required(f"{path}.csi", "has to be specified when using volumeAttributesClassName")


def _volume_source(spec: Data, path: str) -> Errors:
    """Check the source: a local volume names its nodes, which Kubernetes checks before what comes after ``local``."""
    sources = [kind for kind, _, _ in VOLUME_SOURCES if spec.get(kind) is not None]
    problems = list(islice(exactly_one_source(spec, path, VOLUME_SOURCES), MOST_ERRORS + 1))
    if sources[:1] == ["local"] and spec.get("nodeAffinity") is None:
        own = sum(1 for problem in problems if problem.path.startswith(f"{path}.local."))
        problems.insert(own, required(f"{path}.nodeAffinity", "Local volume requires node affinity"))
    yield from problems


def _capacity(capacity: Mapping[str, str] | None, path: str) -> Errors:
    if not capacity:
        yield required(path)
    if not capacity or "storage" not in capacity or len(capacity) > 1:
        yield not_supported(path, None if capacity is None else map_shown(capacity), ("storage",))
    for name, written in (capacity or {}).items():
        whole = parse_quantity(written).value()
        if whole < 0:
            yield invalid(f"{path}[{name}]", whole, "must be a valid resource quantity")
        yield from positive_amount(written, f"{path}[{name}]")


def claim_rules(claim: Data) -> Errors:
    yield from metadata_rules(claim, names.subdomain, namespaced=True)
    yield from claim_spec(claim.get("spec") or {}, "spec")


# --- storage.k8s.io ---------------------------------------------------------------------------------------------------

_binding_mode = one_of(("Immediate", "WaitForFirstConsumer"))
_class_reclaim_policy = supported(("Delete", "Retain"))


def storage_class_rules(storage_class: Data) -> Errors:
    yield from metadata_rules(storage_class, names.subdomain, namespaced=False)
    if not storage_class["provisioner"]:
        yield required("provisioner")
    for text in names.qualified_name(storage_class["provisioner"].lower()) if storage_class["provisioner"] else ():
        yield from worded("provisioner", storage_class["provisioner"], text)
    if storage_class.get("reclaimPolicy"):
        yield from _class_reclaim_policy(storage_class["reclaimPolicy"], "reclaimPolicy")
    yield from _binding_mode(storage_class.get("volumeBindingMode") or "", "volumeBindingMode")
    for index, term in enumerate(storage_class.get("allowedTopologies") or ()):
        keys: set[str] = set()
        for number, expression in enumerate(term.get("matchLabelExpressions") or ()):
            path = f"allowedTopologies[{index}].matchLabelExpressions[{number}]"
            if not expression.get("values"):
                yield required(f"{path}.values")
            yield from texts(names.qualified_name)(expression["key"], f"{path}.key")
            if expression["key"] in keys:
                yield duplicate(f"{path}.key", expression["key"])
            keys.add(expression["key"])


def storage_class_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    for field in ("parameters", "provisioner", "reclaimPolicy"):
        if old.get(field) != new.get(field):
            fixed = (invalid(field, new.get(field), IMMUTABLE),)
            older = (forbidden(field, f"updates to {field} are forbidden."),)
            yield from by_version(older, ("newer_texts: storage-classes", fixed))
    if old.get("volumeBindingMode") != new.get("volumeBindingMode"):
        yield invalid("volumeBindingMode", new.get("volumeBindingMode"), IMMUTABLE)
