"""VolumeZone: a pod goes only to the zone and region in the labels of its bound volumes.

It checks only the labels of PersistentVolumes; VolumeBinding checks their node affinity.
Source: seed 002 §6; upstream ``plugins/volumezone``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.topology import VOLUME_LABELS
from scheduler_engine.framework.amounts import Mask
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import AnyOf, Domain, Fact, Facts, Keys, Label, fact
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import NO_SLOT, Nodes, Topology
from scheduler_engine.framework.noted_objects import NotedObjects, NotingObjects, ObjectGetter
from scheduler_engine.framework.status import SKIP, Status, unresolvable
from scheduler_engine.plugins.volume_facts import refused_early
from scheduler_engine.plugins.volume_references import (
    WAIT_FOR_FIRST_CONSUMER,
    ClaimProblem,
    missing_claim,
    storage_class_of,
)

NO_ZONE = unresolvable("node(s) had no available volume zone")
STATE = "PreFilterVolumeZone"

Topologies = tuple[tuple[str, tuple[str, ...]], ...]
"""(label, allowed values) per topology label of a volume"""


class Zone(NamedTuple):
    """A topology label of the volume of a claim, and the allowed values."""

    claim: str
    label: str
    values: tuple[str, ...]


class VolumeZone(Plugin):
    name = "VolumeZone"

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        changes = ActionType.ADD | ActionType.UPDATE
        return (
            EventRegistration(ClusterEvent("storage.k8s.io/StorageClass", ActionType.ADD), self.after_class_added),
            EventRegistration(ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            EventRegistration(ClusterEvent("PersistentVolumeClaim", changes), self.after_claim_change),
            EventRegistration(ClusterEvent("PersistentVolume", changes), self.after_volume_change),
        )

    def after_class_added(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is not None and new.manifest.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER:
            return Hint.QUEUE, "hints.waiting-class-created"
        return Hint.SKIP, "hints.class-does-not-wait"

    def after_claim_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is not None and new.namespace == pod.namespace and new.name in pod.claim_names:
            return Hint.QUEUE, "hints.claim-created-or-changed"
        return Hint.SKIP, "hints.claim-not-named"

    def after_volume_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if old is None or new is None:
            return Hint.QUEUE, "hints.volume-created"
        if volume_topologies(old.labels) != volume_topologies(new.labels):
            return Hint.QUEUE, "hints.volume-zone-changed"
        return Hint.SKIP, "hints.volume-zone-as-before"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        if not pod.claim_names:
            return None, SKIP
        zones = _zones_of(pod, NotingObjects(self.handle.objects, state, self.name))
        if isinstance(zones, ClaimProblem):
            return None, unresolvable(zones.text)
        if not zones:
            return None, SKIP
        state.write(STATE, zones)
        return None, None

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Facts:
        objects = NotedObjects(self.handle.objects, state, self.name)
        return refused_early(pod, _zones_of(pod, objects), objects, pod.claim_names)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        zones: tuple[Zone, ...] | ClaimProblem | None = state.read(STATE)
        if zones is None:
            # PreFilter is disabled for this plugin.
            zones = _zones_of(pod, NotingObjects(self.handle.objects, state, self.name))
        if isinstance(zones, ClaimProblem):
            return unresolvable(zones.text)
        labels = node_info.node.labels if node_info.node is not None else {}
        if not _checks(labels):
            return None
        for _, label, values in zones:
            if _value(labels, label) not in values:
                return NO_ZONE
        return None

    def filter_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> list[tuple[Status | None, Mask]] | None:
        zones: tuple[Zone, ...] | None = state.read(STATE)
        slots = self.handle.snapshot.slots
        if zones is None or self.handle.recorder.full or nodes.infos is not slots.infos:
            return None
        codes = {label: slots.topology(label).codes[nodes.slots] for label in VOLUME_LABELS}
        checked: Mask = np.any([column != NO_SLOT for column in codes.values()], axis=0)
        fits: Mask = np.ones(len(nodes), dtype=bool)
        for _, label, values in zones:
            instead = VOLUME_LABELS[label]
            own, other = (_allowed(slots.topology(key), values) for key in (label, instead))
            has = codes[label] != NO_SLOT
            fits &= np.where(has, own[codes[label]], other[codes[instead]])
        return [(NO_ZONE, checked & ~fits)]

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        zones: tuple[Zone, ...] | ClaimProblem | None = state.read(STATE)
        objects = NotedObjects(self.handle.objects, state, self.name)
        if zones is None:
            zones = _zones_of(pod, objects)
        if isinstance(zones, ClaimProblem):
            return refused_early(pod, zones, objects, pod.claim_names)
        labels = node_info.node.labels if node_info.node is not None else {}
        if not _checks(labels):
            return Facts(
                fact("volumes.zones-not-checked", True, node=node_info.name), (fact("volumes.no-zone-labels"),)
            )
        shown = tuple(_fact(zone, labels, node_info.name) for zone in zones)
        refusing = next((item for item in shown if not item.ok), None)
        if refusing is None:
            return Facts(fact("volumes.in-this-zone", True, pod=Keys((pod.key,)), node=node_info.name), shown)
        return Facts(fact("volumes.in-another-zone", False, **refusing.values), shown, NO_ZONE)


def _zones_of(pod: Pod, objects: ObjectGetter) -> tuple[Zone, ...] | ClaimProblem:
    """Return the zones of the pod's bound volumes, or what is wrong with a claim."""
    zones: list[Zone] = []
    for name in pod.claim_names:
        topologies = _topologies_behind(pod, name, objects)
        if isinstance(topologies, ClaimProblem):
            return topologies
        zones += (Zone(name, label, values) for label, values in topologies)
    return tuple(zones)


def _topologies_behind(pod: Pod, name: str, objects: ObjectGetter) -> Topologies | ClaimProblem:
    """Return those of the claim's volume; none while it waits for its first consumer."""
    if not name:
        return ClaimProblem("PersistentVolumeClaim had no name", "claim-without-name", name)
    claim = objects.get("PersistentVolumeClaim", f"{pod.namespace}/{name}")
    if claim is None:
        return missing_claim(name)
    volume_name = claim.spec.get("volumeName")
    if volume_name:
        volume = objects.get("PersistentVolume", volume_name)
        if volume is None:
            text = f'persistentvolume "{volume_name}" not found'
            return ClaimProblem(text, "volume-does-not-exist", name, volume_name)
        return volume_topologies(volume.labels)
    class_name = storage_class_of(claim)
    if not class_name:
        return ClaimProblem("PersistentVolumeClaim had no pv name and storageClass name", "claim-without-class", name)
    storage_class = objects.get("StorageClass", class_name)
    if storage_class is None:
        text = f'storageclass.storage.k8s.io "{class_name}" not found'
        return ClaimProblem(text, "class-does-not-exist", name, class_name)
    mode = storage_class.manifest.get("volumeBindingMode")
    if mode is None:
        text = f'VolumeBindingMode not set for StorageClass "{class_name}"'
        return ClaimProblem(text, "class-without-mode", name, class_name)
    if mode == WAIT_FOR_FIRST_CONSUMER:
        return ()
    return ClaimProblem("PersistentVolume had no name", "claim-not-bound-yet", name, class_name)


def _allowed(topology: Topology, values: Sequence[str]) -> Mask:
    """Return which domains are among ``values``; the last entry stands for nodes without the label."""
    allowed: Mask = np.zeros(len(topology.values) + 1, dtype=bool)
    allowed[[topology.places[value] for value in values if value in topology.places]] = True
    return allowed


def _checks(labels: Mapping[str, str]) -> bool:
    """Return False if the node has no such labels: in a cluster of one zone any volume will do."""
    return any(label in labels for label in VOLUME_LABELS)


def _value(labels: Mapping[str, str], label: str) -> str | None:
    """Return the node's value for a volume's label, in the old or the new form."""
    return labels.get(label, labels.get(VOLUME_LABELS[label]))


def _fact(zone: Zone, labels: Mapping[str, str], node: str) -> Fact:
    has = _value(labels, zone.label)
    fits = has in zone.values
    key = zone.label if zone.label in labels else VOLUME_LABELS[zone.label]
    return fact(
        "volumes.same-place" if fits else "volumes.another-place",
        fits,
        claim=zone.claim,
        key=zone.label,
        domain=Domain(zone.label),
        values=AnyOf(zone.values),
        label=Label(key, has),
        node=node,
    )


def volume_topologies(labels: Mapping[str, str]) -> Topologies:
    """Return a volume's topology labels; ``a__b`` names several zones, a label with an empty part does not count."""
    topologies: list[tuple[str, tuple[str, ...]]] = []
    for label in VOLUME_LABELS:
        if label in labels:
            values = tuple(part.strip() for part in labels[label].split("__"))
            if all(values):
                topologies.append((label, tuple(sorted(dict.fromkeys(values)))))
    return tuple(topologies)
