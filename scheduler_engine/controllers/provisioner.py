"""The external provisioner of all drivers: creates a volume for a claim that requests one.

Source: seed 002 §6; upstream ``sig-storage-lib-external-provisioner`` and ``external-provisioner``. It acts on the
annotation with which the PersistentVolume controller orders a volume, and, if binding waits for the first consumer,
on the node that the scheduler has selected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.topology import HOSTNAME, ZONE
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.volume_index import CLAIM, VOLUME
from scheduler_engine.apiserver.watching import Wants, Watch, WatchEvent, all_of
from scheduler_engine.controllers.persistent_volume import STORAGE_CLASS, STORAGE_PROVISIONER
from scheduler_engine.plugins.volume_binding.binder import SELECTED_NODE
from scheduler_engine.plugins.volume_binding.matching import requested_storage
from scheduler_engine.plugins.volume_references import WAIT_FOR_FIRST_CONSUMER, storage_class_of
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import EventRecorded

PROVISIONING_US = SECOND_US
"""How long it takes to create a volume."""

PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
TOPOLOGY_LABELS = (ZONE, HOSTNAME)
"""A volume created for a node is reachable from nodes with the same value of the first of these that the node has."""


@dataclass(slots=True)
class Provisioner:
    """A provisioner without memory: an order that is met in the meantime is dropped when its time comes."""

    WANTS: ClassVar[Wants] = all_of(CLAIM, STORAGE_CLASS)

    api: ApiServer
    timeline: Timeline
    watch: Watch

    def work(self) -> bool:
        """Handle one change; return False if there was none."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        for claim in self._concerned(event):
            if self._wanted(claim) is not None:
                self.timeline.after(PROVISIONING_US, self.provision, claim.key, claim.uid)
        return True

    def _concerned(self, event: WatchEvent) -> list[KubeObject]:
        """Return the claims that may want a volume since a change: of one, or because their class is back."""
        if event.new is None:
            return []
        if event.kind == CLAIM:
            claim = self.api.get(CLAIM, event.new.key)
            return [] if claim is None else [claim]
        if event.old is not None:
            return []
        return [claim for claim in self.api.list(CLAIM) if storage_class_of(claim) == event.new.name]

    def _wanted(self, claim: KubeObject) -> KubeObject | None:
        """Return the class if a volume is to be created for the claim now, else None."""
        storage_class = self.api.get(STORAGE_CLASS, storage_class_of(claim))
        if storage_class is None or claim.spec.get("volumeName") or STORAGE_PROVISIONER not in claim.annotations:
            return None
        waits = storage_class.manifest.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER
        return None if waits and SELECTED_NODE not in claim.annotations else storage_class

    def provision(self, claim_key: str, uid: str) -> None:
        """Create the volume if it is still wanted. If the selected node is gone, let the scheduler choose again."""
        claim = self.api.get(CLAIM, claim_key)
        storage_class = None if claim is None or claim.uid != uid else self._wanted(claim)
        if claim is None or storage_class is None:
            return
        selected = claim.annotations.get(SELECTED_NODE)
        node = self.api.get("Node", selected) if selected else None
        if selected and node is None:
            self._tell(
                claim, "Warning", "ProvisioningFailed", f'failed to get target node: node "{selected}" not found'
            )
            self.api.patch(CLAIM, claim_key, {"metadata": {"annotations": {SELECTED_NODE: None}}})
        elif self.api.get(VOLUME, f"pvc-{uid}") is None:
            volume = self.api.create(set_defaults(_volume(claim, storage_class, node)))
            self._tell(claim, "Normal", "ProvisioningSucceeded", f"Successfully provisioned volume {volume.name}")

    def _tell(self, claim: KubeObject, kind: str, reason: str, text: str) -> None:
        self.api.recorder.add(EventRecorded(CLAIM, claim.key, kind, reason, text))


def _volume(claim: KubeObject, storage_class: KubeObject, node: KubeObject | None) -> dict[str, Any]:
    """Return the manifest of a new volume, reserved for its claim."""
    driver, name = claim.annotations[STORAGE_PROVISIONER], f"pvc-{claim.uid}"
    reference = {"apiVersion": "v1", "kind": CLAIM, "namespace": claim.namespace, "name": claim.name, "uid": claim.uid}
    spec = {
        "accessModes": claim.spec.get("accessModes"),
        "capacity": {"storage": requested_storage(claim)},
        "claimRef": {**reference, "resourceVersion": claim.resource_version},
        "persistentVolumeReclaimPolicy": storage_class.manifest.get("reclaimPolicy"),
        "storageClassName": storage_class.name,
        "volumeMode": claim.spec.get("volumeMode"),
    }
    # Only a CSI driver's name is a plain domain; others (rancher.io/local-path) make directories.
    source = {"hostPath": {"path": f"/volumes/{name}"}} if "/" in driver else {"csi": _csi(driver, name)}
    terms = _topology(storage_class, node)
    return {
        "apiVersion": "v1",
        "kind": VOLUME,
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: driver}},
        "spec": {**spec, **source, **({"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if terms else {})},
    }


def _csi(driver: str, name: str) -> dict[str, Any]:
    return {"driver": driver, "volumeHandle": name}


def _topology(storage_class: KubeObject, node: KubeObject | None) -> list[dict[str, Any]]:
    """Return where the volume is reachable: near ``node``; without one, in the class's first allowed topology."""
    if node is not None:
        key = next((label for label in TOPOLOGY_LABELS if label in node.labels), None)
        wanted = [] if key is None else [{"key": key, "values": [node.labels[key]]}]
    else:
        terms = storage_class.manifest.get("allowedTopologies") or [{}]
        expressions = terms[0].get("matchLabelExpressions") or ()
        wanted = [{"key": item["key"], "values": item["values"][:1]} for item in expressions]
    return [{"matchExpressions": [{**item, "operator": "In"} for item in wanted]}] if wanted else []
