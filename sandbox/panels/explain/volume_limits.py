"""NodeVolumeLimits in words and numbers: how many volumes of a driver the node has, and may have.

Source: seed 002 §6; upstream ``plugins/nodevolumelimits``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.panels.explain.claims import claim_of, claims_of, class_name_of
from sandbox.panels.explain.model import UNRESOLVABLE, Case, Explanation, Line, passes, refuses
from sandbox.panels.model.seen import Objects
from sandbox.panels.words.say import say
from scheduler_engine.api.objects import KubeObject, Pod

TOO_MANY = "node(s) exceed max volume count"
IN_TREE: dict[str, tuple[str, str, str]] = {
    "awsElasticBlockStore": ("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "volumeID"),
    "azureDisk": ("kubernetes.io/azure-disk", "disk.csi.azure.com", "diskURI"),
    "cinder": ("kubernetes.io/cinder", "cinder.csi.openstack.org", "volumeID"),
    "gcePersistentDisk": ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "pdName"),
}
"""Volume source → (in-tree plugin, CSI driver that took over, field that names the volume)."""
OLD_DRIVERS = {
    **{plugin: driver for plugin, driver, _ in IN_TREE.values()},
    "kubernetes.io/azure-file": "",
    "kubernetes.io/portworx-volume": "",
    "kubernetes.io/vsphere-volume": "",
}
"""In-tree plugin → CSI driver; "" where the node cannot announce the change, so that nothing is counted."""
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"

Volume = tuple[str, str]
"""(driver, handle)"""


def limits_filter(case: Case) -> Explanation:
    objects = case.seen.filter
    csi_node = objects.get("CSINode", case.node.name)
    missing = next((name for name, claim in claims_of(case.pod, objects) if claim is None), "")
    if missing:
        reason = f'looking up PVC {case.pod.namespace}/{missing}: persistentvolumeclaim "{missing}" not found'
        line = Line(say("volumes.claim", claim=missing), say("volumes.claim-missing"))
        text = say("volumes.uses-missing-claim", pod=case.name, claim=missing)
        return refuses(text, [line], reason, code=UNRESOLVABLE)
    wanted = _volumes(case.pod, csi_node, objects)
    limits = _limits(csi_node)
    held: dict[Volume, None] = {}
    for info in case.here:
        held |= _volumes(info.pod, csi_node, objects)
    new = [volume for volume in wanted if volume not in held]
    held |= dict.fromkeys(_attached(case))
    lines, full = [], ""
    for driver in dict.fromkeys(driver for driver, _ in new):
        used, more = sum(volume[0] == driver for volume in held), sum(volume[0] == driver for volume in new)
        if driver not in limits:
            lines.append(Line(driver, say("volumes.used-and-new", used=used, new=more), say("volumes.no-limit")))
            continue
        over = used + more > limits[driver]
        formula = say(
            "volumes.used-and-new-of",
            used=used,
            new=more,
            whole=used + more,
            sign=">" if over else "≤",
            limit=limits[driver],
        )
        lines.append(Line(driver, formula, say("volumes.limit")))
        full = full or (driver if over else "")
    if full:
        text = say("volumes.too-many", node=case.node.name, driver=full, limit=limits[full])
        return refuses(text, lines, TOO_MANY)
    return passes(say("volumes.can-attach", node=case.node.name, pod=case.name), lines)


def _limits(csi_node: KubeObject | None) -> dict[str, int]:
    drivers = csi_node.spec.get("drivers") or () if csi_node is not None else ()
    counts = ((item.get("name") or "", (item.get("allocatable") or {}).get("count")) for item in drivers)
    return {name: count for name, count in counts if count is not None}


def _volumes(pod: Pod, csi_node: KubeObject | None, objects: Objects) -> dict[Volume, None]:
    """The CSI volumes of ``pod``; claims that do not exist are passed over."""
    found: dict[Volume, None] = {}
    for volume in pod.volumes:
        name = claim_of(pod, volume)
        if not name:
            identity = _in_tree(volume, csi_node)
        else:
            claim = objects.get("PersistentVolumeClaim", f"{pod.namespace}/{name}")
            identity = None if claim is None else _behind(claim, csi_node, objects)
        if identity is not None:
            found[identity] = None
    return found


def _behind(claim: KubeObject, csi_node: KubeObject | None, objects: Objects) -> Volume | None:
    volume_name = claim.spec.get("volumeName")
    volume = objects.get("PersistentVolume", volume_name) if volume_name else None
    if volume is not None:
        csi = volume.spec.get("csi")
        if csi is None:
            return _in_tree(volume.spec, csi_node)
        driver, handle = csi.get("driver") or "", csi.get("volumeHandle") or ""
        return (driver, handle) if driver and handle else None
    storage_class = objects.get("StorageClass", class_name_of(claim))
    provisioner = "" if storage_class is None else storage_class.manifest.get("provisioner") or ""
    if provisioner in OLD_DRIVERS:
        provisioner = OLD_DRIVERS[provisioner] if _migrated(provisioner, csi_node) else ""
    return (provisioner, f"unprovisioned-{claim.key}") if provisioner else None


def _in_tree(source: Mapping[str, Any], csi_node: KubeObject | None) -> Volume | None:
    for field, (plugin, driver, handle) in IN_TREE.items():
        if source.get(field) is not None:
            return (driver, str(source[field].get(handle) or "")) if _migrated(plugin, csi_node) else None
    return None


def _migrated(plugin: str, csi_node: KubeObject | None) -> bool:
    return csi_node is not None and plugin in csi_node.annotations.get(MIGRATED, "").split(",")


def _attached(case: Case) -> list[Volume]:
    """Volumes that VolumeAttachments show on the node."""
    objects, found = case.seen.pre_filter, []
    for attachment in objects.list("VolumeAttachment"):
        source = attachment.spec.get("source") or {}
        volume = objects.get("PersistentVolume", source.get("persistentVolumeName") or "")
        csi = volume.spec.get("csi") if volume is not None else None
        driver = attachment.spec.get("attacher")
        if driver and csi is not None and attachment.spec.get("nodeName") == case.node.name:
            found.append((str(driver), str(csi.get("volumeHandle") or "")))
    return found
