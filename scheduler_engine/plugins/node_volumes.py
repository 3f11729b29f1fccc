"""The CSI volumes of pods on nodes, and how many of each driver a node has and allows.

Source: seed 002 §6; upstream ``plugins/nodevolumelimits/csi.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.interface import PluginError
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.noted_objects import ObjectGetter
from scheduler_engine.plugins.csi_translation import Untranslatable, csi_identity
from scheduler_engine.plugins.volume_references import (
    IN_TREE_SOURCES,
    ClaimProblem,
    ClaimReference,
    claim_reference,
    migrated_on,
    missing_claim,
    not_owned,
    storage_class_of,
)

UNPROVISIONED = "unprovisioned"
"""Part of the handle of a volume that does not exist yet."""

DRIVER_OF_PLUGIN = {source.plugin: source.driver for source in IN_TREE_SOURCES.values()}

Volumes = dict[tuple[str, str], None]
"""Ordered set of (driver, volume handle)"""


class ObjectLister(ObjectGetter, Protocol):
    def list(self, kind: str) -> Iterator[KubeObject]: ...


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


def loads_of(
    pod: Pod, node_info: NodeInfo, attached: Callable[[], Volumes], objects: ObjectGetter, everywhere: Sequence[str]
) -> Iterator[Load]:
    """Yield the load of each driver that the pod needs another volume of. Raises MissingClaim.

    Nothing is counted on a node without limits. ``everywhere`` as in ``migrated_on``. ``attached`` is called only if
    its volumes count.
    """
    csi_node = objects.get("CSINode", node_info.name)
    wanted = volumes_of(pod, csi_node, objects, everywhere, new=True)
    limits = volume_limits(csi_node)
    held: Volumes = {}
    for info in node_info.pods if wanted and limits else ():
        if info.pod.volumes:
            held.update(volumes_of(info.pod, csi_node, objects, everywhere, new=False))
    needed: dict[str, int] = {}
    for volume in wanted:
        if volume not in held:
            needed[volume[0]] = needed.get(volume[0], 0) + 1
    if needed and limits:
        held.update(attached())
    for driver, number in needed.items():
        yield Load(driver, sum(1 for volume in held if volume[0] == driver), number, limits.get(driver))


def volumes_of(
    pod: Pod, csi_node: KubeObject | None, objects: ObjectGetter, everywhere: Sequence[str], new: bool
) -> Volumes:
    """Return the CSI volumes of a pod on that node. Missing claims of running pods are skipped."""
    volumes: Volumes = {}
    for volume in pod.volumes:
        reference = claim_reference(pod, volume)
        if reference is not None:
            identity = _behind_claim(pod, reference, csi_node, objects, everywhere, new)
        else:
            try:
                identity = csi_identity(volume, {}, csi_node, everywhere)
            except Untranslatable as problem:
                raise unconverted(volume, problem) from problem
        if identity is not None:
            volumes[identity] = None
    return volumes


def _behind_claim(
    pod: Pod,
    reference: ClaimReference,
    csi_node: KubeObject | None,
    objects: ObjectGetter,
    everywhere: Sequence[str],
    new: bool,
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
        return _to_be_provisioned(claim, csi_node, objects, everywhere)
    csi = volume.spec.get("csi")
    if csi is None:
        try:
            return csi_identity(volume.spec, volume.labels, csi_node, everywhere)
        except Untranslatable:
            return None
    driver, handle = csi.get("driver") or "", csi.get("volumeHandle") or ""
    return (driver, handle) if driver and handle else None


def _to_be_provisioned(
    claim: KubeObject, csi_node: KubeObject | None, objects: ObjectGetter, everywhere: Sequence[str]
) -> tuple[str, str] | None:
    storage_class = objects.get("StorageClass", storage_class_of(claim) or "")
    if storage_class is None:
        return None
    provisioner = storage_class.manifest.get("provisioner") or ""
    if provisioner in DRIVER_OF_PLUGIN:
        if not migrated_on(provisioner, csi_node, everywhere):
            return None
        provisioner = DRIVER_OF_PLUGIN[provisioner]
    return (provisioner, f"{UNPROVISIONED}-{claim.key}") if provisioner else None


def needed_drivers(
    pod: Pod, node_name: str, objects: ObjectGetter, opt_in: bool, everywhere: Sequence[str]
) -> dict[str, bool]:
    """Return driver → whether the node has it, for the drivers of the pod's volumes that a CSIDriver object is for.

    ``opt_in``: only for those whose object asks for it. Raises MissingClaim.
    """
    csi_node = objects.get("CSINode", node_name)
    listed = (csi_node.spec.get("drivers") or ()) if csi_node is not None else ()
    installed = {driver.get("name") or "": True for driver in listed}
    needed: dict[str, bool] = {}
    for name, _ in volumes_of(pod, csi_node, objects, everywhere, new=True):
        driver = objects.get("CSIDriver", name) if name not in needed else None
        if driver is not None and (not opt_in or driver.spec.get("preventPodSchedulingIfMissing")):
            needed[name] = name in installed
    return needed


def attached_volumes(objects: ObjectLister) -> dict[str, Volumes]:
    """Return node → the volumes attached there, according to the VolumeAttachments."""
    attached: dict[str, Volumes] = {}
    for attachment in objects.list("VolumeAttachment"):
        driver = attachment.spec.get("attacher")
        volume = objects.get(
            "PersistentVolume", (attachment.spec.get("source") or {}).get("persistentVolumeName") or ""
        )
        csi = volume.spec.get("csi") if volume is not None else None
        if driver and csi is not None:
            node_name = attachment.spec.get("nodeName") or ""
            attached.setdefault(node_name, {})[(driver, csi.get("volumeHandle") or "")] = None
    return attached


def volume_limits(csi_node: KubeObject | None) -> Mapping[str, int]:
    """Return driver → most volumes on the node, without drivers that have no limit."""
    drivers = csi_node.spec.get("drivers") or () if csi_node is not None else ()
    limits: dict[str, int] = {}
    for driver in drivers:
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None:
            limits[driver.get("name") or ""] = count
    return limits


def unconverted(volume: Mapping[str, Any], problem: Untranslatable) -> PluginError:
    return PluginError(f"converting volume({volume['name']}) from inline to csi: {problem}")
