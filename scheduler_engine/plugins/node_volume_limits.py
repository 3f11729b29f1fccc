"""NodeVolumeLimits: a node takes only as many volumes of a CSI driver as its CSINode allows.

Source: seed 002 §6; upstream ``plugins/nodevolumelimits/csi.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.amounts import Mask
from scheduler_engine.framework.columns import Columns
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Fact, Facts, Keys, fact
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.framework.noted_objects import NotedObjects, NotingObjects, ObjectGetter, note_as_now
from scheduler_engine.framework.status import SKIP, Status, unresolvable, unschedulable
from scheduler_engine.plugins.csi_nodes import csi_nodes
from scheduler_engine.plugins.csi_translation import Untranslatable, volume_handle
from scheduler_engine.plugins.node_volume_counts import KINDS, VolumeCounts
from scheduler_engine.plugins.node_volumes import (
    Load,
    MissingClaim,
    Volumes,
    attached_volumes,
    loads_of,
    needed_drivers,
    unconverted,
    volume_limits,
)
from scheduler_engine.plugins.volume_facts import refused_early
from scheduler_engine.plugins.volume_references import (
    claim_reference,
    claim_references,
    in_tree_source,
    refers_to,
)

LIMIT_EXCEEDED = unschedulable("node(s) exceed max volume count")
ATTACHMENTS = "NodeVolumeLimits/attachments"


class NodeVolumeLimits(Plugin):
    name = "NodeVolumeLimits"

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        attachment = ClusterEvent("storage.k8s.io/VolumeAttachment", ActionType.DELETE)
        return (
            EventRegistration(ClusterEvent("storage.k8s.io/CSINode", ActionType.ADD)),
            EventRegistration(ClusterEvent("storage.k8s.io/CSINode", ActionType.UPDATE), self.after_csi_node_update),
            EventRegistration(ClusterEvent("Pod", ActionType.DELETE), self.after_pod_deleted),
            EventRegistration(ClusterEvent("PersistentVolumeClaim", ActionType.ADD), self.after_claim_added),
            EventRegistration(attachment, self.after_attachment_deleted),
        )

    def after_csi_node_update(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        before = volume_limits(old)
        if any(limit > before.get(driver, 0) for driver, limit in volume_limits(new).items()):
            return Hint.QUEUE, "hints.volume-limit-rose"
        return Hint.SKIP, "hints.no-volume-limit-rose"

    def after_pod_deleted(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if not isinstance(old, Pod) or not (old.node_name or old.nominated_node_name):
            return Hint.SKIP, "hints.pod-had-no-node"
        if _has_countable_volumes(old):
            return Hint.QUEUE, "hints.pod-had-volumes"
        return Hint.SKIP, "hints.pod-had-no-volumes"

    def after_claim_added(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is not None and refers_to(pod, new):
            return Hint.QUEUE, "hints.claim-created"
        return Hint.SKIP, "hints.claim-not-used"

    def after_attachment_deleted(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        attacher = old.spec.get("attacher") if old is not None else None
        for volume in pod.volumes:
            if volume.get("persistentVolumeClaim") is not None:
                return Hint.QUEUE, "hints.volume-detached"
            driver = _inline_driver(volume)
            if driver and driver == attacher:
                return Hint.QUEUE, "hints.volume-of-driver-detached"
        return Hint.SKIP, "hints.other-volume-detached"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        if not _has_countable_volumes(pod):
            return None, SKIP
        counts, objects = self._counts(), self.handle.objects
        state.write(ATTACHMENTS, attached_volumes(objects) if counts is None else counts.attachments(objects))
        return None, None

    def filter_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> list[tuple[Status | None, Mask]] | None:
        columns, counts, objects = self._columns(), self._counts(), self.handle.objects
        if (
            self.handle.rules.needs_volume_drivers
            or columns is None
            or counts is None
            or nodes.infos is not self.handle.snapshot.slots.infos
        ):
            return None
        counts.update(self.handle.snapshot, objects)
        if counts.attached is not state.read(ATTACHMENTS):
            # PreFilter saw other attachments.
            return None
        note_as_now(objects, state, self.name, KINDS)
        try:
            exceeded = counts.exceeded(pod, nodes, csi_nodes(columns, self.handle.snapshot, objects), objects)
        except (MissingClaim, PluginError):
            return None
        return [(LIMIT_EXCEEDED, exceeded)]

    def _columns(self) -> Columns | None:
        return self.handle.counts_together(self.handle.snapshot.list())

    def _counts(self) -> VolumeCounts | None:
        columns = self._columns()
        if columns is None:
            return None
        make = partial(VolumeCounts, self.handle.rules.always_migrated)
        counts: VolumeCounts = columns.other(VolumeCounts, make, self.handle.snapshot.slots)
        return counts

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        objects = NotingObjects(self.handle.objects, state, self.name)
        try:
            driver = _missing(self._drivers(pod, node_info, objects))
            if driver:
                return unschedulable(f"{driver} CSI driver is not installed on the node")
            attached = partial(self._attached, state, node_info.name)
            loads = loads_of(pod, node_info, attached, objects, self.handle.rules.always_migrated)
            return LIMIT_EXCEEDED if any(load.exceeded for load in loads) else None
        except MissingClaim as missing:
            return unresolvable(str(missing))

    def _drivers(self, pod: Pod, node_info: NodeInfo, objects: ObjectGetter) -> dict[str, bool]:
        """Return driver → whether the node has it, for those that must be there: ``needs_volume_drivers``."""
        rules = self.handle.rules
        if not rules.needs_volume_drivers:
            return {}
        return needed_drivers(pod, node_info.name, objects, rules.volume_drivers_opt_in, rules.always_migrated)

    def _attached(self, state: CycleState, node: str) -> Volumes:
        """Return the volumes attached to a node: as PreFilter saw it, or as it is now, noted for facts."""
        attachments: dict[str, Volumes] | None = state.read(ATTACHMENTS)
        if attachments is None:
            # PreFilter is disabled for this plugin.
            attachments = attached_volumes(self.handle.objects)
            state.notes(self.name).setdefault(ATTACHMENTS, attachments)
        return attachments.get(node, {})

    def _noted(self, state: CycleState, node: str) -> Volumes:
        """Return the attached volumes that Filter counted on a node, or would count now if it counted none."""
        attachments: dict[str, Volumes] | None = state.read(ATTACHMENTS)
        if attachments is None:
            attachments = state.noted.get(self.name, {}).get(ATTACHMENTS)
        return (attached_volumes(self.handle.objects) if attachments is None else attachments).get(node, {})

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        objects = NotedObjects(self.handle.objects, state, self.name)
        try:
            drivers = self._drivers(pod, node_info, objects)
            noted = partial(self._noted, state, node_info.name)
            loads = [*loads_of(pod, node_info, noted, objects, self.handle.rules.always_migrated)]
        except MissingClaim as missing:
            names = (reference.name for reference in claim_references(pod))
            return refused_early(pod, missing.problem, objects, names)
        present = tuple(_driver_fact(driver, has, node_info.name) for driver, has in drivers.items())
        driver = _missing(drivers)
        if driver:
            says = fact("volumes.no-driver", False, pod=Keys((pod.key,)), node=node_info.name, driver=driver)
            return Facts(says, present, self.filter(state, pod, node_info))
        shown = (*present, *(_fact(load, node_info.name) for load in loads))
        full = next((item for item in shown if item.ok is False), None)
        if full is not None:
            says = fact("volumes.too-many", False, pod=Keys((pod.key,)), count=full.values["new"], **full.values)
            return Facts(says, shown, LIMIT_EXCEEDED)
        row = "volumes.can-attach" if loads else "volumes.none-to-attach"
        return Facts(fact(row, True, pod=Keys((pod.key,)), node=node_info.name), shown)


def _has_countable_volumes(pod: Pod) -> bool:
    return any(claim_reference(pod, volume) is not None or in_tree_source(volume) is not None for volume in pod.volumes)


def _inline_driver(volume: Mapping[str, Any]) -> str:
    """Return the CSI driver of an in-tree volume, "" for others. Raises PluginError if that is impossible."""
    source = in_tree_source(volume)
    if source is None:
        return ""
    try:
        volume_handle(*source, {})
    except Untranslatable as problem:
        raise unconverted(volume, problem) from problem
    return source[0].driver


def _missing(drivers: Mapping[str, bool]) -> str:
    """Return the first driver that a node lacks, "" for none; upstream any one of them."""
    return next((driver for driver, has in drivers.items() if not has), "")


# --- facts ---


def _driver_fact(driver: str, has: bool, node: str) -> Fact:
    return fact("volumes.driver-installed" if has else "volumes.driver-missing", has, driver=driver, node=node)


def _fact(load: Load, node: str) -> Fact:
    whole, limit = load.used + load.new, load.limit or 0
    values = {"used": load.used, "new": load.new, "whole": whole, "limit": limit}
    row = "volumes.no-limit" if load.limit is None else "volumes.in-use"
    return fact(row, None if load.limit is None else not load.exceeded, driver=load.driver, node=node, **values)
