"""The claims that a pod's volumes name, and the basic facts of claims and volumes that several volume plugins need.

Source: upstream ``component-helpers/storage`` and ``csi-translation-lib``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from scheduler_engine.api.objects import KubeObject, Pod

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BETA_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


@dataclass(frozen=True, slots=True)
class ClaimReference:
    """``ephemeral``: the claim is made for this pod only, from the template in its volume."""

    name: str
    ephemeral: bool


def claim_reference(pod: Pod, volume: Mapping[str, Any]) -> ClaimReference | None:
    """Return the claim of one of the pod's volumes."""
    if volume.get("persistentVolumeClaim") is not None:
        return ClaimReference(volume["persistentVolumeClaim"].get("claimName") or "", False)
    if volume.get("ephemeral") is not None:
        return ClaimReference(f"{pod.name}-{volume.get('name')}", True)
    return None


def claim_references(pod: Pod) -> tuple[ClaimReference, ...]:
    """Return the claims of the pod's volumes, in order."""
    references = (claim_reference(pod, volume) for volume in pod.volumes)
    return tuple(reference for reference in references if reference is not None)


def refers_to(pod: Pod, claim: KubeObject) -> bool:
    """Return True if a volume of the pod uses ``claim``, directly or as its ephemeral claim."""
    return pod.namespace == claim.namespace and any(item.name == claim.name for item in claim_references(pod))


def not_owned(pod: Pod, claim: KubeObject) -> str:
    """Return why an ephemeral volume cannot use ``claim``; "" if the claim was made for the pod."""
    owner = claim.controller_ref
    if owner is not None and owner.get("uid") == pod.uid:
        return ""
    return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"


def storage_class_of(claim_or_volume: KubeObject) -> str:
    """Return the name of the StorageClass, "" for none; the old annotation wins."""
    annotated = claim_or_volume.annotations.get(BETA_STORAGE_CLASS)
    return annotated if annotated is not None else claim_or_volume.spec.get("storageClassName") or ""


def fully_bound(claim: KubeObject) -> bool:
    return bool(claim.spec.get("volumeName")) and BIND_COMPLETED in claim.annotations


def claim_not_found(name: str) -> str:
    return f'persistentvolumeclaim "{name}" not found'


class ClaimProblem(NamedTuple):
    """Why no node will do: ``text`` is from Kubernetes, ``row`` names the fact; ``other`` is a volume or class."""

    text: str
    row: str
    claim: str
    other: str = ""


def missing_claim(name: str) -> ClaimProblem:
    return ClaimProblem(claim_not_found(name), "claim-does-not-exist", name)


@dataclass(frozen=True, slots=True)
class InTreeSource:
    """A built-in volume source that moved to a CSI driver; the field ``handle`` identifies a volume."""

    plugin: str
    driver: str
    handle: str


IN_TREE_SOURCES: dict[str, InTreeSource] = {
    "awsElasticBlockStore": InTreeSource("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "volumeID"),
    "azureDisk": InTreeSource("kubernetes.io/azure-disk", "disk.csi.azure.com", "diskURI"),
    "azureFile": InTreeSource("kubernetes.io/azure-file", "file.csi.azure.com", "shareName"),
    "cinder": InTreeSource("kubernetes.io/cinder", "cinder.csi.openstack.org", "volumeID"),
    "gcePersistentDisk": InTreeSource("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "pdName"),
    "portworxVolume": InTreeSource("kubernetes.io/portworx-volume", "pxd.portworx.com", "volumeID"),
    "vsphereVolume": InTreeSource("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "volumePath"),
}
MIGRATED_WHERE_ANNOUNCED = ("kubernetes.io/portworx-volume",)
"""Plugins that a node's CSINode must announce, unless they are migrated everywhere; others count nothing."""


def in_tree_source(source: Mapping[str, Any]) -> tuple[InTreeSource, Mapping[str, Any]] | None:
    """Return the in-tree source in a pod's volume or a PersistentVolume's spec, and its fields."""
    for field, known in IN_TREE_SOURCES.items():
        if source.get(field) is not None:
            return known, source[field]
    return None


def migrated_on(plugin: str, csi_node: KubeObject | None, everywhere: Sequence[str]) -> bool:
    """Return True if ``plugin``'s volumes belong to the CSI driver on the node of ``csi_node``.

    ``everywhere``: the rule ``always_migrated``, plugins without ``kubernetes.io/``.
    """
    if csi_node is None:
        return False
    if plugin.removeprefix("kubernetes.io/") in everywhere:
        return True
    announced = csi_node.annotations.get(MIGRATED_PLUGINS, "").split(",")
    return plugin in MIGRATED_WHERE_ANNOUNCED and plugin in announced
