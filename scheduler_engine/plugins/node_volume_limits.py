"""NodeVolumeLimits: a node takes only as many volumes of a CSI driver as its CSINode allows.

Source: seed 002 §6; upstream ``plugins/nodevolumelimits/csi.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Fact, Facts, Keys, fact
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.noted_objects import NotedObjects, NotingObjects, ObjectGetter
from scheduler_engine.framework.status import SKIP, Status, unresolvable, unschedulable
from scheduler_engine.plugins.csi_translation import Untranslatable, csi_identity, volume_handle
from scheduler_engine.plugins.volume_facts import refused_early
from scheduler_engine.plugins.volume_references import (
    IN_TREE_SOURCES,
    ClaimProblem,
    ClaimReference,
    claim_reference,
    claim_references,
    in_tree_source,
    migrated_on,
    missing_claim,
    not_owned,
    refers_to,
    storage_class_of,
)

LIMIT_EXCEEDED = unschedulable("node(s) exceed max volume count")
ATTACHMENTS = "NodeVolumeLimits/attachments"
UNPROVISIONED = "unprovisioned"
"""Part of the handle of a volume that does not exist yet."""

DRIVER_OF_PLUGIN = {source.plugin: source.driver for source in IN_TREE_SOURCES.values()}

Volumes = dict[tuple[str, str], None]
"""Ordered set of (driver, volume handle)"""


class MissingClaim(Exception):
    """A claim of the pod to be scheduled does not exist."""

    def __init__(self, problem: ClaimProblem) -> None:
        super().__init__(problem.text)
        self.problem = problem


class Load(NamedTuple):
    """Volumes of one driver on a node: those in use, and those that the pod adds. ``limit`` None: no limit."""

    driver: str
    used: int
    new: int
    limit: int | None

    @property
    def exceeded(self) -> bool:
        return self.limit is not None and self.used + self.new > self.limit


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
        state.write(ATTACHMENTS, self._attachments())
        return None, None

    def _attachments(self) -> dict[str, Volumes]:
        """Return the volumes attached per node, according to the VolumeAttachments."""
        attached: dict[str, Volumes] = {}
        for attachment in self.handle.objects.list("VolumeAttachment"):
            driver = attachment.spec.get("attacher")
            volume = self.handle.objects.get(
                "PersistentVolume", (attachment.spec.get("source") or {}).get("persistentVolumeName") or ""
            )
            csi = volume.spec.get("csi") if volume is not None else None
            if driver and csi is not None:
                node_name = attachment.spec.get("nodeName") or ""
                attached.setdefault(node_name, {})[(driver, csi.get("volumeHandle") or "")] = None
        return attached

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        objects = NotingObjects(self.handle.objects, state, self.name)
        try:
            loads = _loads(pod, node_info, partial(self._attached, state, node_info.name), objects)
            return LIMIT_EXCEEDED if any(load.exceeded for load in loads) else None
        except MissingClaim as missing:
            return unresolvable(str(missing))

    def _attached(self, state: CycleState, node: str) -> Volumes:
        """Return the volumes attached to a node: as PreFilter saw it, or as it is now, noted for facts."""
        attachments: dict[str, Volumes] | None = state.read(ATTACHMENTS)
        if attachments is None:
            # PreFilter is disabled for this plugin.
            attachments = self._attachments()
            state.notes(self.name).setdefault(ATTACHMENTS, attachments)
        return attachments.get(node, {})

    def _noted(self, state: CycleState, node: str) -> Volumes:
        """Return the attached volumes that Filter counted on a node, or would count now if it counted none."""
        attachments: dict[str, Volumes] | None = state.read(ATTACHMENTS)
        if attachments is None:
            attachments = state.noted.get(self.name, {}).get(ATTACHMENTS)
        return (self._attachments() if attachments is None else attachments).get(node, {})

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        objects = NotedObjects(self.handle.objects, state, self.name)
        try:
            loads = [*_loads(pod, node_info, partial(self._noted, state, node_info.name), objects)]
        except MissingClaim as missing:
            names = (reference.name for reference in claim_references(pod))
            return refused_early(pod, missing.problem, objects, names)
        shown = tuple(_fact(load, node_info.name) for load in loads)
        full = next((item for item in shown if item.ok is False), None)
        if full is not None:
            says = fact("volumes.too-many", False, pod=Keys((pod.key,)), count=full.values["new"], **full.values)
            return Facts(says, shown, LIMIT_EXCEEDED)
        row = "volumes.can-attach" if loads else "volumes.none-to-attach"
        return Facts(fact(row, True, pod=Keys((pod.key,)), node=node_info.name), shown)


def _loads(pod: Pod, node_info: NodeInfo, attached: Callable[[], Volumes], objects: ObjectGetter) -> Iterator[Load]:
    """Yield the load of each driver that the pod needs another volume of. Raises MissingClaim.

    Nothing is counted on a node without limits. ``attached`` is called only if its volumes count.
    """
    csi_node = objects.get("CSINode", node_info.name)
    wanted = _volumes_of(pod, csi_node, objects, new=True)
    limits = volume_limits(csi_node)
    held: Volumes = {}
    for info in node_info.pods if wanted and limits else ():
        if info.pod.volumes:
            held.update(_volumes_of(info.pod, csi_node, objects, new=False))
    needed: dict[str, int] = {}
    for volume in wanted:
        if volume not in held:
            needed[volume[0]] = needed.get(volume[0], 0) + 1
    if needed and limits:
        held.update(attached())
    for driver, number in needed.items():
        yield Load(driver, sum(1 for volume in held if volume[0] == driver), number, limits.get(driver))


def _volumes_of(pod: Pod, csi_node: KubeObject | None, objects: ObjectGetter, new: bool) -> Volumes:
    """Return the CSI volumes of a pod on that node. Missing claims of running pods are skipped."""
    volumes: Volumes = {}
    for volume in pod.volumes:
        reference = claim_reference(pod, volume)
        if reference is not None:
            identity = _behind_claim(pod, reference, csi_node, objects, new)
        else:
            try:
                identity = csi_identity(volume, {}, csi_node)
            except Untranslatable as problem:
                raise _unconverted(volume, problem) from problem
        if identity is not None:
            volumes[identity] = None
    return volumes


def _behind_claim(
    pod: Pod, reference: ClaimReference, csi_node: KubeObject | None, objects: ObjectGetter, new: bool
) -> tuple[str, str] | None:
    if not reference.name:
        raise PluginError("PersistentVolumeClaim had no name")
    claim = objects.get("PersistentVolumeClaim", f"{pod.namespace}/{reference.name}")
    if claim is None:
        if new:
            missing = missing_claim(reference.name)
            raise MissingClaim(
                missing._replace(text=f"looking up PVC {pod.namespace}/{reference.name}: {missing.text}")
            )
        return None
    foreign = not_owned(pod, claim) if reference.ephemeral else ""
    if foreign:
        raise PluginError(foreign)
    volume_name = claim.spec.get("volumeName")
    volume = objects.get("PersistentVolume", volume_name) if volume_name else None
    if volume is None:
        return _to_be_provisioned(claim, csi_node, objects)
    csi = volume.spec.get("csi")
    if csi is None:
        try:
            return csi_identity(volume.spec, volume.labels, csi_node)
        except Untranslatable:
            return None
    driver, handle = csi.get("driver") or "", csi.get("volumeHandle") or ""
    return (driver, handle) if driver and handle else None


def _to_be_provisioned(claim: KubeObject, csi_node: KubeObject | None, objects: ObjectGetter) -> tuple[str, str] | None:
    storage_class = objects.get("StorageClass", storage_class_of(claim) or "")
    if storage_class is None:
        return None
    provisioner = storage_class.manifest.get("provisioner") or ""
    if provisioner in DRIVER_OF_PLUGIN:
        if not migrated_on(provisioner, csi_node):
            return None
        provisioner = DRIVER_OF_PLUGIN[provisioner]
    return (provisioner, f"{UNPROVISIONED}-{claim.key}") if provisioner else None


def volume_limits(csi_node: KubeObject | None) -> Mapping[str, int]:
    """Return driver → most volumes on the node, without drivers that have no limit."""
    drivers = csi_node.spec.get("drivers") or () if csi_node is not None else ()
    limits: dict[str, int] = {}
    for driver in drivers:
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None:
            limits[driver.get("name") or ""] = count
    return limits


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
        raise _unconverted(volume, problem) from problem
    return source[0].driver


def _unconverted(volume: Mapping[str, Any], problem: Untranslatable) -> PluginError:
    return PluginError(f"converting volume({volume['name']}) from inline to csi: {problem}")


# --- facts ---


def _fact(load: Load, node: str) -> Fact:
    whole, limit = load.used + load.new, load.limit or 0
    values = {"used": load.used, "new": load.new, "whole": whole, "limit": limit}
    row = "volumes.no-limit" if load.limit is None else "volumes.in-use"
    return fact(row, None if load.limit is None else not load.exceeded, driver=load.driver, node=node, **values)
