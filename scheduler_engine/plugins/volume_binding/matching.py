"""The existing volume that suits a claim on a node, and the check if a new one could be made there.

Source: seed 002 §6; upstream ``component-helpers/storage/volume/pv_helpers.go`` and ``volumebinding/binder.go``.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_engine.api.labels import Requirement, Selector, selector_from
from scheduler_engine.api.node_affinity import NodeSelector, node_selector_from
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.quantity import Quantity, parse_quantity
from scheduler_engine.framework.interface import ObjectReader
from scheduler_engine.plugins.csi_translation import translated_affinity, volume_handle
from scheduler_engine.plugins.volume_references import (
    MIGRATED_PLUGINS,
    in_tree_source,
    storage_class_of,
)

NO_PROVISIONER = "kubernetes.io/no-provisioner"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A PersistentVolume, read once per cycle. ``capacity`` in nano-bytes; no ``node_selector``: any node will do.

    ``plugin``: the in-tree plugin of a volume that may have moved to a CSI driver, or "". ``shape``: what else decides
    if a claim without a selector can take it, None if it is reserved. ``needs``: the label that a node needs, if it is
    just one, and is needed with one of some values.
    """

    volume: KubeObject
    capacity: int
    node_selector: NodeSelector | None
    plugin: str
    shape: Hashable = field(default=None, compare=False, repr=False)
    needs: Requirement | None = field(default=None, compare=False, repr=False)

    def reachable_from(self, labels: Mapping[str, str]) -> bool:
        """Match node labels against the volume's node affinity; like upstream, ignore the node's name."""
        return self.node_selector is None or self.node_selector.matches("", labels)


def candidate(volume: KubeObject) -> Candidate:
    required = (volume.spec.get("nodeAffinity") or {}).get("required")
    source = in_tree_source(volume.spec)
    selector = None if required is None else node_selector_from(required)
    return Candidate(
        volume,
        _nano((volume.spec.get("capacity") or {}).get("storage")),
        selector,
        source[0].plugin if source is not None else "",
        _shape(volume),
        _needs(selector),
    )


def _needs(selector: NodeSelector | None) -> Requirement | None:
    """Return the only requirement of a selector that just asks for one of some values of a label."""
    if selector is None or len(selector.terms) != 1:
        return None
    term = selector.terms[0]
    if term.broken or len(term.expressions) != 1 or term.expressions[0].operator != "In":
        return None
    return term.expressions[0]


def _shape(volume: KubeObject) -> Hashable:
    """Return what ``bar`` and ``flaw`` read of a volume that is not reserved, except for its size and labels."""
    spec = volume.spec
    if spec.get("claimRef") is not None:
        return None
    fields = tuple(spec.get(name) for name, _, _ in MUST_AGREE)
    modes = tuple(spec.get("accessModes") or ())
    return (fields, modes, volume.status.get("phase"), volume.terminating, storage_class_of(volume))


def as_on_node(item: Candidate, csi_node: KubeObject | None) -> Candidate:
    """Return the volume as seen from a node whose CSINode announces that its plugin moved to the CSI driver.

    Raises Untranslatable.
    """
    announced = csi_node.annotations.get(MIGRATED_PLUGINS, "").split(",") if csi_node is not None else []
    source = in_tree_source(item.volume.spec)
    if item.plugin not in announced or source is None:
        return item
    volume_handle(*source, item.volume.labels)
    required = translated_affinity(item.volume, item.plugin)
    selector = None if required is None else node_selector_from(required)
    return replace(item, node_selector=selector, needs=_needs(selector))


def _nano(quantity: str | int | None) -> int:
    return 0 if quantity is None else parse_quantity(quantity).nano


def requested_storage(claim: KubeObject) -> str | None:
    """Return the text; None if the claim requests no size."""
    quantity: str | None = ((claim.spec.get("resources") or {}).get("requests") or {}).get("storage")
    return quantity


def claim_size(claim: KubeObject) -> int:
    """Return the nano-bytes that the claim requests."""
    return _nano(requested_storage(claim))


def bound_to(volume: KubeObject, claim: KubeObject) -> bool:
    """Return True if the volume is reserved for, or bound to, ``claim``."""
    reference = volume.spec.get("claimRef")
    if reference is None or (reference.get("name"), reference.get("namespace")) != (claim.name, claim.namespace):
        return False
    return reference.get("uid") in (None, "", claim.uid)


def suitable_volumes(
    claim: KubeObject,
    size: int,
    candidates: Iterable[Candidate],
    labels: Mapping[str, str],
    chosen: Container[str],
) -> list[Candidate]:
    """Return the volumes among which a claim takes the smallest, by size."""
    suitable = [
        item
        for item in candidates
        if not _bar(item, claim, size, chosen) and not flaw(item.volume, claim) and item.reachable_from(labels)
    ]
    return sorted(suitable, key=lambda item: item.capacity)


def objections(
    claim: KubeObject,
    size: int,
    candidates: Iterable[Candidate],
    labels: Mapping[str, str],
    chosen: Container[str],
) -> dict[str, list[str]]:
    """Explain why a claim can take none: reason → volume names, or only the reserved volume."""
    by_reason: dict[str, list[str]] = {}
    for item in candidates:
        bar = _bar(item, claim, size, chosen)
        set_aside = not bar and bound_to(item.volume, claim)
        reason = bar or ("" if set_aside else flaw(item.volume, claim)) or "out-of-reach"
        if set_aside:
            return {reason: [item.volume.name]}
        by_reason.setdefault(reason, []).append(item.volume.name)
    return by_reason


def _bar(item: Candidate, claim: KubeObject, size: int, chosen: Container[str]) -> str:
    return "taken" if item.volume.name in chosen else bar(item, claim, size)


def bar(item: Candidate, claim: KubeObject, size: int) -> str:
    """Return what excludes even a reserved volume, "" for nothing. ``size``: the claim's request in nano-bytes."""
    volume = item.volume
    if item.capacity < size:
        return "too-small"
    if volume.spec.get("claimRef") is not None and not bound_to(volume, claim):
        return "of-another-claim"
    for name, default, reason in MUST_AGREE:
        if (volume.spec.get(name) or default) != (claim.spec.get(name) or default):
            return reason
    return "being-deleted" if volume.terminating else ""


MUST_AGREE = (
    ("volumeMode", "Filesystem", "of-another-mode"),
    ("volumeAttributesClassName", "", "of-another-attributes-class"),
)


def flaw(volume: KubeObject, claim: KubeObject) -> str:
    """Return why a volume that is not reserved does not suit the claim, "" if it does."""
    selector = claim.spec.get("selector")
    modes = volume.spec.get("accessModes") or ()
    if volume.status.get("phase") != "Available":
        return "not-available"
    if selector is not None and not selector_from(selector).matches(volume.labels):
        return "not-selected"
    if storage_class_of(volume) != storage_class_of(claim):
        return "of-another-class"
    return "" if all(mode in modes for mode in claim.spec.get("accessModes") or ()) else "without-access-mode"


@dataclass(frozen=True, slots=True)
class Provisioning:
    """How a volume for one claim could be made.

    ``topologies``: node labels must match one of them, None = anywhere. ``capacities``: selectors of the nodes that
    see enough free storage, None = the driver does not report it.
    """

    supported: bool
    topologies: tuple[Selector, ...] | None = None
    capacities: tuple[Selector, ...] | None = None

    def possible_on(self, labels: Mapping[str, str]) -> bool:
        if not self.supported:
            return False
        return self.topologies is None or any(selector.matches(labels) for selector in self.topologies)

    def has_space_on(self, labels: Mapping[str, str]) -> bool:
        return self.capacities is None or any(selector.matches(labels) for selector in self.capacities)


def provisioning(claim: KubeObject, storage_class: KubeObject, objects: ObjectReader) -> Provisioning:
    """Combine the claim's StorageClass, the CSIDriver and its CSIStorageCapacity objects."""
    provisioner = storage_class.manifest.get("provisioner") or ""
    if provisioner in ("", NO_PROVISIONER):
        return Provisioning(False)
    terms = storage_class.manifest.get("allowedTopologies") or ()
    topologies = tuple(_topology(term["matchLabelExpressions"]) for term in terms if term.get("matchLabelExpressions"))
    requested = requested_storage(claim)
    driver = objects.get("CSIDriver", provisioner)
    if requested is None or driver is None or not driver.spec.get("storageCapacity"):
        return Provisioning(True, topologies if terms else None)
    size = parse_quantity(requested).value()
    capacities = tuple(
        selector_from(item.manifest.get("nodeTopology"))
        for item in objects.list("CSIStorageCapacity")
        if item.manifest.get("storageClassName") == storage_class.name and _largest_volume(item) >= size
    )
    return Provisioning(True, topologies if terms else None, capacities)


def _topology(expressions: Iterable[Mapping[str, Any]]) -> Selector:
    return Selector(tuple(Requirement(item["key"], "In", tuple(item.get("values") or ())) for item in expressions))


def volume_limit(capacity: KubeObject) -> Quantity | None:
    """Return the largest volume that can still be made; ``maximumVolumeSize`` is more exact than ``capacity``."""
    for name in ("maximumVolumeSize", "capacity"):
        if capacity.manifest.get(name) is not None:
            return parse_quantity(capacity.manifest[name])
    return None


def _largest_volume(capacity: KubeObject) -> int:
    limit = volume_limit(capacity)
    return -1 if limit is None else limit.value()
