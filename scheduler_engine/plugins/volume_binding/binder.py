"""The volume binder: sorts a pod's claims, finds volumes for a node, assumes and writes the choice.

The order in a cycle: ``claims_of`` (PreFilter) → ``find_pod_volumes`` in ``finding`` (Filter, per node) → ``assume``
(Reserve) → ``write`` and ``all_bound`` (PreBind). Source: seed 002 §6; upstream ``volumebinding/binder.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.apiserver.errors import ApiError, conflict, not_found
from scheduler_engine.framework.interface import Handle, PluginError
from scheduler_engine.plugins.volume_binding.assume_cache import AssumeCache
from scheduler_engine.plugins.volume_binding.choice import Choice
from scheduler_engine.plugins.volume_binding.class_volumes import ClassVolumes
from scheduler_engine.plugins.volume_binding.finding import (
    Binding,
    BoundClaim,
    ImmediateClaim,
    PodVolumeClaims,
    PodVolumes,
    UnboundClaim,
    on_node,
)
from scheduler_engine.plugins.volume_binding.matching import (
    Candidate,
    bound_to,
    candidate,
    claim_size,
    provisioning,
)
from scheduler_engine.plugins.volume_references import (
    WAIT_FOR_FIRST_CONSUMER,
    claim_references,
    fully_bound,
    storage_class_of,
)

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class Stopped(PluginError):
    """The first failure, which ends Reserve or the writes of PreBind; ``done``: steps before it, one for each claim."""

    def __init__(self, text: str, done: int) -> None:
        super().__init__(text)
        self.done = done


class TimedOut(PluginError):
    """The volume controller took too long; ``unbound``: names of the claims that it has not bound."""

    def __init__(self, text: str, unbound: tuple[str, ...]) -> None:
        super().__init__(text)
        self.unbound = unbound


class VolumeBinder:
    def __init__(self, handle: Handle) -> None:
        self.handle, by_resource = handle, handle.rules.names_missing_volumes_by_resource
        self.volumes = AssumeCache("PersistentVolume", handle.objects, by_resource)
        self.claims = AssumeCache("PersistentVolumeClaim", handle.objects, by_resource)

    def claims_of(self, pod: Pod) -> PodVolumeClaims:
        """Return the pod's claims, which all exist, sorted by what they need. Raises PluginError."""
        bound: list[BoundClaim] = []
        unbound: list[UnboundClaim] = []
        immediate: list[ImmediateClaim] = []
        for reference in claim_references(pod):
            claim = self.claims.get(f"{pod.namespace}/{reference.name}")
            if claim is None:
                key = f"{pod.namespace}/{reference.name}"
                raise PluginError(f'error getting PVC "{key}": {self.claims.missing(key)}')
            storage_class = self._delaying_class(claim)
            if fully_bound(claim):
                volume = self.volumes.get(claim.spec["volumeName"])
                bound.append(BoundClaim(claim, None if volume is None else candidate(volume)))
            elif isinstance(storage_class, str):
                immediate.append(ImmediateClaim(claim, storage_class))
            elif claim.spec.get("volumeName"):
                immediate.append(ImmediateClaim(claim, "names-its-volume"))
            else:
                unbound.append(self._unbound(claim, storage_class))
        selected = tuple(item for item in unbound if item.selected_node)
        unbound = sorted((item for item in unbound if not item.selected_node), key=attrgetter("size"))
        return PodVolumeClaims(tuple(bound), tuple(unbound), selected, tuple(immediate))

    def _delaying_class(self, claim: KubeObject) -> KubeObject | str:
        """Return the claim's StorageClass if it waits for the first consumer, else a text that says why not."""
        name = storage_class_of(claim)
        storage_class = self.handle.objects.get("StorageClass", name) if name else None
        if storage_class is None:
            return "class-missing" if name else "no-class"
        mode = storage_class.manifest.get("volumeBindingMode")
        if mode is None and not fully_bound(claim):
            raise PluginError(f'VolumeBindingMode not set for StorageClass "{name}"')
        return storage_class if mode == WAIT_FOR_FIRST_CONSUMER else "class-binds-at-once"

    def _unbound(self, claim: KubeObject, storage_class: KubeObject) -> UnboundClaim:
        volumes, size = self._volumes_of(storage_class.name), claim_size(claim)
        return UnboundClaim(
            claim,
            size,
            volumes,
            provisioning(claim, storage_class, self.handle.objects),
            claim.annotations.get(SELECTED_NODE, ""),
            Choice(claim, size, volumes),
        )

    def _volumes_of(self, storage_class: str) -> tuple[Candidate, ...]:
        """Return the volumes of a class, by name."""
        columns = self.handle.counts_together(self.handle.snapshot.list())
        if columns is None:
            volumes = (volume for volume in self.volumes.list() if storage_class_of(volume) == storage_class)
            return tuple(candidate(volume) for volume in volumes)
        kept: ClassVolumes = columns.other(ClassVolumes, ClassVolumes, self.handle.snapshot.slots)
        kept.update(self.handle.objects)
        return kept.of_class(storage_class, self.volumes.assumed_now())

    def assume(self, pod: Pod, node_name: str, chosen: PodVolumes) -> bool:
        """Assume the choice; return True if all was already bound. Raises Stopped, with nothing assumed."""
        latest = [self.claims.get(f"{pod.namespace}/{item.name}") for item in claim_references(pod)]
        if all(claim is not None and fully_bound(claim) for claim in latest):
            return True
        assumed = PodVolumes()
        try:
            for binding in chosen.static_bindings:
                volume = bind_volume_to_claim(binding.volume, binding.claim)
                if volume is not binding.volume:
                    self.volumes.assume(volume)
                assumed.static_bindings.append(Binding(volume, binding.claim))
            for claim in chosen.provisions:
                selected = claim.evolve({"metadata": {"annotations": {SELECTED_NODE: node_name}}})
                self.claims.assume(selected)
                assumed.provisions.append(selected)
        except PluginError as problem:
            self.revert(assumed)
            raise Stopped(str(problem), assumed.count) from problem
        chosen.static_bindings, chosen.provisions = assumed.static_bindings, assumed.provisions
        chosen.assumed = True
        return False

    def revert(self, chosen: PodVolumes) -> None:
        """Drop the assumed objects."""
        for binding in chosen.static_bindings:
            self.volumes.restore(binding.volume.key)
        for claim in chosen.provisions:
            self.claims.restore(claim.key)

    def write(self, pod: Pod, chosen: PodVolumes) -> None:
        """Write to the API server; the volume controller does the rest. Raises PluginError; finished writes stay.

        The error is Stopped if a write failed. If a profile disables Reserve, nothing was assumed: the objects are
        written as they are, and a choice of new volumes only counts as missing, as upstream.
        """
        if not chosen.assumed and not chosen.static_bindings:
            raise Stopped(f'failed to get cached bindings for pod "{pod.key}"', 0)
        left = PodVolumes(list(chosen.static_bindings), list(chosen.provisions))
        try:
            while left.static_bindings:
                volume = left.static_bindings[0].volume
                changes = _of_volume(volume) if chosen.assumed else {}
                self._update("PersistentVolume", "persistentvolumes", volume, changes)
                del left.static_bindings[0]
            while left.provisions:
                claim = left.provisions[0]
                changes = _of_claim(claim) if chosen.assumed else {}
                self._update("PersistentVolumeClaim", "persistentvolumeclaims", claim, changes)
                del left.provisions[0]
        except ApiError as problem:
            self.revert(left)
            raise Stopped(str(problem), chosen.count - left.count) from problem

    def _update(self, kind: str, resource: str, changed: KubeObject, changes: Mapping[str, Any]) -> None:
        stored = self.handle.objects.get(kind, changed.key)
        if stored is None:
            raise not_found(resource, changed.name)
        if stored.resource_version != changed.resource_version:
            raise conflict(resource, changed.name, MODIFIED)
        self.handle.api.patch(kind, changed.key, changes)

    def unbound(self, pod: Pod, node_name: str, chosen: PodVolumes) -> list[KubeObject]:
        """Return the claims that the volume controller has not bound yet; empty: it is done.

        Raises PluginError when it can no longer succeed. As upstream, this is checked up to the first unbound claim.
        """
        node = self.handle.objects.get("Node", node_name)
        if node is None:
            raise PluginError(f'failed to get node "{node_name}": node "{node_name}" not found')
        if self.handle.objects.get("Pod", pod.key) is None:
            raise PluginError(f'pod does not exist any more: pod "{pod.name}" not found')
        claims = [item.claim for item in chosen.static_bindings] + chosen.provisions
        for place, claim in enumerate(claims):
            static = chosen.static_bindings[place : place + 1]
            if not (self._bound_statically(static[0], node) if static else self._provisioned(claim, node)):
                return [claim, *(later for later in claims[place + 1 :] if not self._is_bound(later))]
        return []

    def _is_bound(self, asked: KubeObject) -> bool:
        claim = self.handle.objects.get("PersistentVolumeClaim", asked.key)
        return claim is not None and fully_bound(claim)

    def _bound_statically(self, binding: Binding, node: KubeObject) -> bool:
        volume = self.handle.objects.get("PersistentVolume", binding.volume.key)
        if volume is None:
            raise PluginError(f"failed to check binding: {self.volumes.missing(binding.volume.key)}")
        claim = self.handle.objects.get("PersistentVolumeClaim", binding.claim.key)
        if claim is None:
            raise PluginError(f"failed to check binding: {self.claims.missing(binding.claim.key)}")
        self._check_reachable(volume, node)
        if not (volume.spec.get("claimRef") or {}).get("uid"):
            raise PluginError(f'ClaimRef got reset for pv "{volume.name}"')
        return fully_bound(claim)

    def _provisioned(self, asked: KubeObject, node: KubeObject) -> bool:
        claim = self.handle.objects.get("PersistentVolumeClaim", asked.key)
        if claim is None:
            raise PluginError(f"failed to check provisioning pvc: {self.claims.missing(asked.key)}")
        if not claim.annotations:
            raise PluginError(f'selectedNode annotation reset for PVC "{claim.name}"')
        if claim.annotations.get(SELECTED_NODE) != node.name:
            raise PluginError(f'provisioning failed for PVC "{claim.name}"')
        volume_name = claim.spec.get("volumeName")
        if volume_name:
            volume = self.handle.objects.get("PersistentVolume", volume_name)
            if volume is None:
                return False
            self._check_reachable(volume, node)
        return fully_bound(claim)

    def _check_reachable(self, volume: KubeObject, node: KubeObject) -> None:
        if not on_node(candidate(volume), node, self.handle.objects).reachable_from(node.labels):
            raise PluginError(
                f'pv "{volume.name}" node affinity doesn\'t match node "{node.name}": no matching NodeSelectorTerms'
            )


def _of_volume(assumed: KubeObject) -> dict[str, Any]:
    """Return what Reserve may have changed."""
    return {"metadata": {"annotations": dict(assumed.annotations)}, "spec": {"claimRef": assumed.spec["claimRef"]}}


def _of_claim(assumed: KubeObject) -> dict[str, Any]:
    return {"metadata": {"annotations": {SELECTED_NODE: assumed.annotations[SELECTED_NODE]}}}


def bind_volume_to_claim(volume: KubeObject, claim: KubeObject) -> KubeObject:
    """Point the volume at the claim; return the same object if it already does."""
    changes: dict[str, Any] = {}
    reference = volume.spec.get("claimRef") or {}
    if (reference.get("name"), reference.get("namespace"), reference.get("uid")) != (
        claim.name,
        claim.namespace,
        claim.uid,
    ):
        changes["spec"] = {
            "claimRef": {
                "kind": "PersistentVolumeClaim",
                "namespace": claim.namespace,
                "name": claim.name,
                "uid": claim.uid,
                "apiVersion": "v1",
                "resourceVersion": claim.resource_version,
            }
        }
    if not bound_to(volume, claim) and BOUND_BY_CONTROLLER not in volume.annotations:
        changes["metadata"] = {"annotations": {BOUND_BY_CONTROLLER: "yes"}}
    return volume.evolve(changes) if changes else volume
