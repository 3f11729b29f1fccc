"""The fields of a PersistentVolume and a claim that an update may change. Source: upstream ``apis/core/validation``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_engine.api.fields import without_empty
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.topology import OUT_OF_BETA
from scheduler_engine.api.validation.metadata import IMMUTABLE, metadata_update
from scheduler_engine.api.validation.problems import Errors, Named, forbidden, invalid, until
from scheduler_engine.api.validation.selectors import term_shown
from scheduler_engine.api.validation.storage import claim_rules, persistent_volume_rules
from scheduler_engine.api.validation.volumes import VOLUME_SOURCES

Data = Mapping[str, Any]

_RENAMED = {
    **OUT_OF_BETA,
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
"""Beta labels that have been renamed."""


def persistent_volume_update(old: Data, new: Data) -> Errors:
    """Run the rules for a new volume twice, as Kubernetes does: from the registry and from the update."""
    for _ in range(2):
        yield from persistent_volume_rules(new)
    before, after = old.get("spec") or {}, new.get("spec") or {}
    if _source(before) != _source(after, _gets_its_secret_late(before, after)):
        yield forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")
    yield from _same_mode(before, after)
    affinity = after.get("nodeAffinity")
    if before.get("nodeAffinity") is not None and not _same_affinity(before["nodeAffinity"], affinity):
        text = f"{IMMUTABLE}, except for updating from beta label to GA"
        fixed = invalid("nodeAffinity", None if affinity is None else _affinity_shown(affinity), text)
        yield from until("moves_volumes", (fixed,))
    if before.get("volumeAttributesClassName") is not None and after.get("volumeAttributesClassName") is None:
        yield forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden")


def _source(spec: Data, secretless: bool = False) -> Data:
    kinds = [kind for kind, _, _ in VOLUME_SOURCES]
    source = without_empty({kind: spec[kind] for kind in kinds if kind in spec}, "PersistentVolumeSpec", structs=True)
    if secretless:
        source["csi"] = {field: value for field, value in source["csi"].items() if field != "controllerExpandSecretRef"}
    return source


def _gets_its_secret_late(before: Data, after: Data) -> bool:
    """Return True if a CSI volume only gets the secret for its expansion, which is allowed."""
    old, new = before.get("csi"), after.get("csi")
    if old is None or new is None or old.get("controllerExpandSecretRef") is not None:
        return False
    return new.get("controllerExpandSecretRef") is not None


def _same_mode(before: Data, after: Data) -> Errors:
    mode = after.get("volumeMode")
    if before.get("volumeMode") != mode:
        yield invalid("volumeMode", None if mode is None else Named(mode), IMMUTABLE)


def _terms(affinity: Data | None) -> Sequence[Data]:
    return ((affinity or {}).get("required") or {}).get("nodeSelectorTerms") or ()


def _same_affinity(old: Data, new: Data | None) -> bool:
    if new is None or (old.get("required") is None) != (new.get("required") is None):
        return False
    before, after = list(_terms(old)), list(_terms(new))
    shapes = [[(len(term.get(field) or ())) for field in ("matchExpressions", "matchFields")] for term in before]
    if shapes != [[(len(term.get(field) or ())) for field in ("matchExpressions", "matchFields")] for term in after]:
        return False
    return all(map(_same_requirement, _requirements(before), _requirements(after)))


def _requirements(terms: Sequence[Data]) -> Iterator[Data]:
    for term in terms:
        for field in ("matchExpressions", "matchFields"):
            yield from term.get(field) or ()


def _same_requirement(old: Data, new: Data) -> bool:
    if new["key"] not in (old["key"], _RENAMED.get(old["key"])) or old["operator"] != new["operator"]:
        return False
    return (old.get("values") or []) == (new.get("values") or [])


def _affinity_shown(affinity: Data) -> Data:
    required = affinity.get("required")
    if required is None:
        return {"Required": None}
    terms = required.get("nodeSelectorTerms")
    return {"Required": {"NodeSelectorTerms": terms and [term_shown(term) for term in terms]}}


def claim_update(old: Data, new: Data) -> Errors:
    yield from until("newer_texts: claim-updates", claim_rules(new))
    yield from metadata_update(old, new)
    yield from claim_rules(new)
    before, after = old.get("spec") or {}, new.get("spec") or {}
    bound = (new.get("status") or {}).get("phase") == "Bound"
    if _claimed(before, before, bound, after) != _claimed(after, before, bound, after):
        text = "spec is immutable after creation except resources.requests and volumeAttributesClassName"
        yield forbidden("spec", f"{text} for bound claims")
    size, held = _size(after), ((old.get("status") or {}).get("capacity") or {}).get("storage") or "0"
    if size < _size(before) and size <= parse_quantity(held).nano:
        yield forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
    yield from _same_mode(before, after)
    if (old.get("status") or {}).get("currentVolumeAttributesClassName") is not None:
        yield from _kept_class(before.get("volumeAttributesClassName"), after.get("volumeAttributesClassName"))


def _kept_class(before: str | None, after: str | None) -> Errors:
    if before != after and not after:
        to = "nil" if after is None else "empty string"
        text = f"update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil"
        yield forbidden("spec.volumeAttributesClassName", text)


def _size(spec: Data) -> int:
    written: str = ((spec.get("resources") or {}).get("requests") or {}).get("storage") or "0"
    return parse_quantity(written).nano


def _claimed(spec: Data, before: Data, bound: bool, after: Data) -> Data:
    """Return the fields that must be equal, without those that may be set once or change in a bound claim."""
    kept = dict(spec)
    if not before.get("volumeName"):
        kept.pop("volumeName", None)
    if before.get("storageClassName") is None:
        kept.pop("storageClassName", None)
    if bound:
        kept.pop("volumeAttributesClassName", None)
        resources = dict(kept.get("resources") or {})
        if (after.get("resources") or {}).get("requests"):
            resources["requests"] = {k: v for k, v in (resources.get("requests") or {}).items() if k != "storage"}
        kept["resources"] = resources
    return without_empty(kept, "PersistentVolumeClaimSpec", structs=True)
