"""Which existing volume suits a claim, and how one could be made.

Source: seed 002 §6; upstream ``component-helpers/storage/volume/pv_helpers.go`` and ``volumebinding/binder.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.panels.explain.claims import class_name_of
from sandbox.panels.model.seen import Objects
from scheduler_engine.api.labels import Requirement, Selector, selector_from
from scheduler_engine.api.node_affinity import node_selector_from
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.quantity import parse_quantity


def _asked(claim: KubeObject) -> Any:
    return ((claim.spec.get("resources") or {}).get("requests") or {}).get("storage")


def size_of(claim: KubeObject) -> int:
    """Nano-bytes that the claim asks for."""
    return _nano(_asked(claim))


def _nano(quantity: Any) -> int:
    return 0 if quantity is None else parse_quantity(quantity).nano


def find_volume(
    claim: KubeObject, objects: Objects, labels: Mapping[str, str], taken: Collection[str]
) -> KubeObject | None:
    """The volume set aside for the claim, else the smallest suitable one that the node reaches."""
    best: KubeObject | None = None
    for volume in sorted(objects.list("PersistentVolume"), key=lambda item: item.key):
        reserved = volume.spec.get("claimRef")
        ours = reserved is not None and _is(reserved, claim)
        usable = (
            class_name_of(volume) == class_name_of(claim)
            and volume.name not in taken
            and _capacity(volume) >= size_of(claim)
        )
        if not usable or (reserved is not None and not ours) or not _same_kind(volume, claim):
            continue
        reachable = _reachable(volume, labels)
        if ours:
            return volume if reachable else None
        if reachable and _suits(volume, claim) and (best is None or _capacity(volume) < _capacity(best)):
            best = volume
    return best


def _capacity(volume: KubeObject) -> int:
    return _nano((volume.spec.get("capacity") or {}).get("storage"))


def _is(reference: Mapping[str, Any], claim: KubeObject) -> bool:
    same = (reference.get("name"), reference.get("namespace")) == (claim.name, claim.namespace)
    return same and (reference.get("uid") or claim.uid) == claim.uid


def _same_kind(volume: KubeObject, claim: KubeObject) -> bool:
    """Volume mode and attributes class agree, and the volume is not being deleted."""
    mode = (volume.spec.get("volumeMode") or "Filesystem") == (claim.spec.get("volumeMode") or "Filesystem")
    attributes = (volume.spec.get("volumeAttributesClassName") or "") == (
        claim.spec.get("volumeAttributesClassName") or ""
    )
    return mode and attributes and not volume.terminating


def _reachable(volume: KubeObject, labels: Mapping[str, str]) -> bool:
    required = (volume.spec.get("nodeAffinity") or {}).get("required")
    return required is None or node_selector_from(required).matches("", labels)


def _suits(volume: KubeObject, claim: KubeObject) -> bool:
    selector, modes = claim.spec.get("selector"), volume.spec.get("accessModes") or ()
    return (
        volume.status.get("phase") == "Available"
        and (selector is None or selector_from(selector).matches(volume.labels))
        and all(mode in modes for mode in claim.spec.get("accessModes") or ())
    )


@dataclass(frozen=True, slots=True)
class Provisioning:
    """``topologies``: where the class makes volumes, None = anywhere; ``capacities``: which nodes see enough storage,
    None = the driver does not tell.
    """

    supported: bool
    topologies: tuple[Selector, ...] | None = None
    capacities: tuple[Selector, ...] | None = None


def provisioning(claim: KubeObject, objects: Objects) -> Provisioning:
    storage_class = objects.get("StorageClass", class_name_of(claim))
    provisioner = "" if storage_class is None else storage_class.manifest.get("provisioner") or ""
    if storage_class is None or provisioner in ("", "kubernetes.io/no-provisioner"):
        return Provisioning(False)
    terms = storage_class.manifest.get("allowedTopologies") or ()
    topologies = tuple(_topology(term) for term in terms if term.get("matchLabelExpressions")) if terms else None
    driver, asked = objects.get("CSIDriver", provisioner), _asked(claim)
    if asked is None or driver is None or not driver.spec.get("storageCapacity"):
        return Provisioning(True, topologies)
    size = parse_quantity(asked).value()
    enough = (
        selector_from(item.manifest.get("nodeTopology"))
        for item in objects.list("CSIStorageCapacity")
        if item.manifest.get("storageClassName") == storage_class.name and _largest(item) >= size
    )
    return Provisioning(True, topologies, tuple(enough))


def _topology(term: Mapping[str, Any]) -> Selector:
    expressions = term["matchLabelExpressions"]
    return Selector(tuple(Requirement(item["key"], "In", tuple(item.get("values") or ())) for item in expressions))


def _largest(capacity: KubeObject) -> int:
    given = capacity.manifest.get("maximumVolumeSize") or capacity.manifest.get("capacity")
    return -1 if given is None else parse_quantity(given).value()
