"""The PersistentVolume controller: binds claims to volumes, and keeps or deletes released volumes.

Source: seed 002 §6 (VolumeBinding waits for it); upstream ``pkg/controller/volume/persistentvolume``. Like upstream it
reconciles one claim or volume at a time, from the API server's present state; upstream checks again every 15 s, this
at each change. Not here: finalizers, and Recycle; Delete deletes any volume.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.volume_index import CLAIM, VOLUME
from scheduler_engine.apiserver.watching import Wants, Watch, all_of
from scheduler_engine.plugins.volume_binding.binder import BOUND_BY_CONTROLLER, SELECTED_NODE, bind_volume_to_claim
from scheduler_engine.plugins.volume_binding.choice import Choice
from scheduler_engine.plugins.volume_binding.matching import (
    NO_PROVISIONER,
    bound_to,
    candidate,
    claim_size,
)
from scheduler_engine.plugins.volume_references import (
    BETA_STORAGE_CLASS,
    BIND_COMPLETED,
    IN_TREE_SOURCES,
    WAIT_FOR_FIRST_CONSUMER,
    fully_bound,
    storage_class_of,
)
from scheduler_engine.trace.events import EventRecorded

STORAGE_CLASS = "StorageClass"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
MIGRATED_DRIVERS = {source.plugin: source.driver for source in IN_TREE_SOURCES.values()}

TELLINGS: dict[str, tuple[str, str]] = {
    "WaitForFirstConsumer": ("Normal", "waiting for first consumer to be created before binding"),
    "FailedBinding": ("Normal", "no persistent volumes available for this claim and no storage class is set"),
    "VolumeMismatch": ("Warning", 'Cannot bind to requested volume "{}"'),
    "ProvisioningFailed": ("Warning", "{}"),
    "ExternalProvisioning": (
        "Normal",
        "Waiting for a volume to be created either by the external provisioner '{}' or manually by the system "
        "administrator. If volume creation is delayed, please verify that the provisioner is running and correctly "
        "registered.",
    ),
    "ClaimLost": ("Warning", "Bound claim has lost its PersistentVolume. Data on the volume is lost!"),
    "ClaimMisbound": ("Warning", "Two claims are bound to the same volume, this one is bound incorrectly"),
}
"""Reason → type and text of the Kubernetes Events about a claim."""


@dataclass(slots=True)
class PersistentVolumeController:
    """``last_messages``: key of a claim → the last Kubernetes Event about it."""

    WANTS: ClassVar[Wants] = all_of(VOLUME, CLAIM, STORAGE_CLASS)

    api: ApiServer
    watch: Watch
    last_messages: dict[str, str] = field(default_factory=dict)

    def work(self) -> bool:
        """Handle one change; return False if there was none."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        changed = event.new or event.old
        if event.kind in CHANGES and changed is not None:
            CHANGES[event.kind](self, changed)
        return True

    def volume_changed(self, volume: KubeObject) -> None:
        """Reconcile it and the claims that it holds, that hold it, or that can have it."""
        self._sync_volume(volume.name)
        for claim in self.api.volume_index.claims_of(volume.name, self.api.get(VOLUME, volume.name)):
            if claim.spec.get("volumeName") or self._can_have(claim, volume):
                self._sync_claim(claim.key)

    def _can_have(self, claim: KubeObject, volume: KubeObject) -> bool:
        now = self.api.get(VOLUME, volume.name)
        if now is None or bound_to(now, claim):
            return now is not None
        return _is_free(now, claim) and _match(claim, [now]) is not None

    def claim_changed(self, claim: KubeObject) -> None:
        if self.api.get(CLAIM, claim.key) is None:
            self.last_messages.pop(claim.key, None)
        for volume in self.api.volume_index.reserved_for(claim):
            if bound_to(volume, claim):
                self._sync_volume(volume.name)
        self._sync_claim(claim.key)

    def class_changed(self, storage_class: KubeObject) -> None:
        for claim in self.api.list(CLAIM):
            if storage_class_of(claim) in ("", storage_class.name) and not claim.spec.get("volumeName"):
                self._sync_claim(claim.key)

    # --- one volume ---

    def _sync_volume(self, name: str) -> None:
        volume = self.api.get(VOLUME, name)
        if volume is None:
            return
        reference = volume.spec.get("claimRef") or {}
        if not reference.get("uid"):
            self._set_phase(volume, "Available")
            return
        claim = self.api.get(CLAIM, f"{reference.get('namespace')}/{reference.get('name')}")
        if claim is None or claim.uid != reference["uid"]:
            self._release(volume)
        elif claim.spec.get("volumeName") == name:
            self._set_phase(volume, "Bound")
        elif claim.spec.get("volumeName") and PROVISIONED_BY in volume.annotations and _is_deleted_after_use(volume):
            self._release(volume)
        elif claim.spec.get("volumeName"):
            by_controller = BOUND_BY_CONTROLLER in volume.annotations
            kept = None if by_controller else {"uid": None}
            changes = {"metadata": {"annotations": {BOUND_BY_CONTROLLER: None}}, "spec": {"claimRef": kept}}
            self.api.patch(VOLUME, name, changes)

    def _release(self, volume: KubeObject) -> None:
        """Release a volume whose claim is gone."""
        self._set_phase(volume, "Released")
        if _is_deleted_after_use(volume):
            self.api.remove(VOLUME, volume.name)

    def _set_phase(self, item: KubeObject, phase: str) -> None:
        self.api.patch(item.kind, item.key, {"status": {"phase": phase}})

    # --- one claim ---

    def _sync_claim(self, key: str) -> None:
        claim = self.api.get(CLAIM, key)
        if claim is None:
            return
        if BIND_COMPLETED in claim.annotations:
            self._check(claim)
        else:
            self._seek(self._with_class(claim))

    def _check(self, claim: KubeObject) -> None:
        """Keep a bound claim with its volume, or mark it as lost."""
        volume = self.api.get(VOLUME, claim.spec["volumeName"]) if fully_bound(claim) else None
        if volume is not None and (not volume.spec.get("claimRef") or bound_to(volume, claim)):
            self._bind(volume, claim)
            return
        self._set_phase(claim, "Lost")
        self._tell(claim, "ClaimLost" if volume is None else "ClaimMisbound")

    def _with_class(self, claim: KubeObject) -> KubeObject:
        """Set the newest default class on a claim that names none."""
        has_class = claim.spec.get("storageClassName") is not None or BETA_STORAGE_CLASS in claim.annotations
        defaults = [] if has_class else [item for item in self.api.list(STORAGE_CLASS) if _is_default(item)]
        if not defaults:
            return claim
        newest = max(sorted(defaults, key=_name), key=_created)
        self.api.patch(CLAIM, claim.key, {"spec": {"storageClassName": newest.name}})
        return self.api.get(CLAIM, claim.key) or claim

    def _seek(self, claim: KubeObject) -> None:
        """Bind a claim to the volume it names or the best one; else order a volume, or wait."""
        named = claim.spec.get("volumeName")
        storage_class = self.api.get(STORAGE_CLASS, storage_class_of(claim))
        waits = storage_class is not None and storage_class.manifest.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER
        volume = self._named_volume(claim, named) if named else self._best_volume(claim, waits)
        if volume is not None:
            self._bind(volume, claim)
            return
        self._set_phase(claim, "Pending")
        if named:
            return
        if waits and SELECTED_NODE not in claim.annotations:
            self._tell(claim, "WaitForFirstConsumer")
        elif storage_class_of(claim):
            self._order(claim, storage_class)
        else:
            self._tell(claim, "FailedBinding")

    def _named_volume(self, claim: KubeObject, name: str) -> KubeObject | None:
        volume = self.api.get(VOLUME, name)
        if volume is None or bound_to(volume, claim) or volume.spec.get("claimRef"):
            return volume if volume is not None and bound_to(volume, claim) else None
        match = _match(claim, [volume])
        if match is None:
            self._tell(claim, "VolumeMismatch", name)
        return match

    def _best_volume(self, claim: KubeObject, waits: bool) -> KubeObject | None:
        """Return the smallest volume with the fewest sufficient modes; only a reserved one if the scheduler chooses."""
        by_modes: dict[tuple[str, ...], list[KubeObject]] = {}
        index = self.api.volume_index
        eligible = [volume for volume in index.reserved_for(claim) if bound_to(volume, claim)]
        if not waits:
            eligible += [volume for volume in index.free.values() if _is_free(volume, claim)]
        for volume in eligible:
            modes = tuple(sorted(volume.spec.get("accessModes") or ()))
            if set(claim.spec.get("accessModes") or ()) <= set(modes):
                by_modes.setdefault(modes, []).append(volume)
        matches = (_match(claim, sorted(by_modes[modes], key=_name)) for modes in sorted(by_modes, key=_fewest))
        return next((volume for volume in matches if volume is not None), None)

    def _bind(self, volume: KubeObject, claim: KubeObject) -> None:
        pointing = bind_volume_to_claim(volume, claim)
        held = {"metadata": {"annotations": pointing.annotations}, "spec": {"claimRef": pointing.spec["claimRef"]}}
        self.api.patch(VOLUME, volume.name, {**held, "status": {"phase": "Bound"}})
        chosen = {} if claim.spec.get("volumeName") == volume.name else {BOUND_BY_CONTROLLER: "yes"}
        got = {"phase": "Bound", "accessModes": volume.spec.get("accessModes"), "capacity": volume.spec.get("capacity")}
        changes = {"metadata": {"annotations": {**chosen, BIND_COMPLETED: "yes"}}, "spec": {"volumeName": volume.name}}
        self.api.patch(CLAIM, claim.key, {**changes, "status": got})

    def _order(self, claim: KubeObject, storage_class: KubeObject | None) -> None:
        """Order a volume from the provisioner of the claim's class."""
        provisioner = "" if storage_class is None else storage_class.manifest["provisioner"]
        driver = MIGRATED_DRIVERS.get(provisioner, provisioner)
        if storage_class is None:
            text = f'storageclass.storage.k8s.io "{storage_class_of(claim)}" not found'
            self._tell(claim, "ProvisioningFailed", text)
        elif provisioner == NO_PROVISIONER:
            self._tell(claim, "ProvisioningFailed", f"no volume plugin matched name: {provisioner}")
        else:
            self._tell(claim, "ExternalProvisioning", driver)
            self.api.patch(CLAIM, claim.key, {"metadata": {"annotations": {STORAGE_PROVISIONER: driver}}})

    def _tell(self, claim: KubeObject, reason: str, about: str = "") -> None:
        """Record a Kubernetes Event about the claim, unless it was the last one."""
        kind, text = TELLINGS[reason][0], TELLINGS[reason][1].format(about)
        if self.last_messages.get(claim.key) != text:
            self.last_messages[claim.key] = text
            self.api.recorder.add(EventRecorded(CLAIM, claim.key, kind, reason, text))


CHANGES: dict[str, Callable[[PersistentVolumeController, KubeObject], None]] = {
    VOLUME: PersistentVolumeController.volume_changed,
    CLAIM: PersistentVolumeController.claim_changed,
    STORAGE_CLASS: PersistentVolumeController.class_changed,
}


def _is_deleted_after_use(volume: KubeObject) -> bool:
    return bool(volume.spec.get("persistentVolumeReclaimPolicy") == "Delete")


def _is_free(volume: KubeObject, claim: KubeObject) -> bool:
    """Return True if it is unused and of the claim's class."""
    available = volume.status.get("phase") == "Available" and not volume.spec.get("claimRef")
    return available and storage_class_of(volume) == storage_class_of(claim)


def _match(claim: KubeObject, volumes: Iterable[KubeObject]) -> KubeObject | None:
    """Return the best of these, wherever it is reachable: without a pod there is no node to check."""
    anywhere = [replace(candidate(item), node_selector=None, needs=None) for item in volumes]
    match = Choice(claim, claim_size(claim), anywhere).on({}, ())
    return None if match is None else match.volume


def _is_default(storage_class: KubeObject) -> bool:
    return storage_class.annotations.get(DEFAULT_CLASS) == "true"


def _name(item: KubeObject) -> str:
    return item.name


def _created(item: KubeObject) -> str:
    return item.metadata.get("creationTimestamp") or ""


def _fewest(modes: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return len(modes), modes
