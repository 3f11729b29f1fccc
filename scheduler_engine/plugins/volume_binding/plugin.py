"""VolumeBinding: a pod goes where its volumes are, or can be had.

Bound claims keep the pod near their volume; claims that wait for their first consumer get the smallest volume that
suits, or one is asked for on the chosen node. Source: seed 002 §6; upstream
``plugins/volumebinding/volume_binding.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.interface import EventRegistration, Handle, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import SKIP, Code, Status, unresolvable
from scheduler_engine.plugins.volume_binding.binder import PodVolumeClaims, PodVolumes, VolumeBinder
from scheduler_engine.plugins.volume_binding.matching import volume_limit
from scheduler_engine.plugins.volume_references import (
    MIGRATED_PLUGINS,
    claim_not_found,
    claim_references,
    not_owned,
    refers_to,
)

STATE = "VolumeBinding"
UNBOUND_IMMEDIATE = unresolvable("pod has unbound immediate PersistentVolumeClaims")
WAITING = Status(Code.WAIT, ("waiting for the volume controller to bind the pod's claims",))
DEFAULT_BIND_TIMEOUT_SECONDS = 600
SECOND_US = 1_000_000


@dataclass(slots=True)
class BindingState:
    """Shared by all copies of a cycle's state, as upstream.

    ``pod_volumes``: per node that passed Filter, what the pod would take there. ``deadline_us``: when PreBind stops
    waiting, None = nothing written yet.
    """

    claims: PodVolumeClaims = field(default_factory=PodVolumeClaims)
    pod_volumes: dict[str, PodVolumes] = field(default_factory=dict)
    all_bound: bool = False
    deadline_us: int | None = None


class VolumeBinding(Plugin):
    """Arguments: ``bindTimeoutSeconds`` (600), in simulated seconds."""

    name = "VolumeBinding"
    reads_other_nodes = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.binder = VolumeBinder(handle)
        self.bind_timeout_us: int = args.get("bindTimeoutSeconds", DEFAULT_BIND_TIMEOUT_SECONDS) * SECOND_US

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        changes = ActionType.ADD | ActionType.UPDATE
        driver_update = ClusterEvent("storage.k8s.io/CSIDriver", ActionType.UPDATE)
        capacity_change = ClusterEvent("storage.k8s.io/CSIStorageCapacity", changes)
        return (
            EventRegistration(ClusterEvent("storage.k8s.io/StorageClass", changes), self.after_class_change),
            EventRegistration(ClusterEvent("PersistentVolumeClaim", changes), self.after_claim_change),
            EventRegistration(ClusterEvent("PersistentVolume", changes)),
            EventRegistration(ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            EventRegistration(ClusterEvent("storage.k8s.io/CSINode", changes), self.after_csi_node_change),
            EventRegistration(driver_update, self.after_driver_update),
            EventRegistration(capacity_change, self.after_capacity_change),
        )

    def after_class_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if old is None or new is None:
            return Hint.QUEUE, "a class was created"
        if (old.manifest.get("allowedTopologies") or []) != (new.manifest.get("allowedTopologies") or []):
            return Hint.QUEUE, "the class's allowed topologies changed"
        return Hint.SKIP, "the class's allowed topologies are as before"

    def after_claim_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is not None and refers_to(pod, new):
            return Hint.QUEUE, "a claim that the pod uses was created or changed"
        return Hint.SKIP, "the pod does not use the claim"

    def after_csi_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if old is None or new is None:
            return Hint.QUEUE, "a CSINode was created"
        if old.annotations.get(MIGRATED_PLUGINS, "") != new.annotations.get(MIGRATED_PLUGINS, ""):
            return Hint.QUEUE, "the node's migrated plugins changed"
        return Hint.SKIP, "the node's migrated plugins are as before"

    def after_driver_update(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        used = new is not None and any((volume.get("csi") or {}).get("driver") == new.name for volume in pod.volumes)
        told = old is not None and bool(old.spec.get("storageCapacity"))
        tells = new is not None and bool(new.spec.get("storageCapacity"))
        if used and told and not tells:
            return Hint.QUEUE, "the driver's capacity is no longer checked"
        return Hint.SKIP, "the driver's change does not matter to the pod"

    def after_capacity_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if old is None or new is None:
            return Hint.QUEUE, "a storage capacity was announced"
        before, after = volume_limit(old), volume_limit(new)
        if after is not None and (before is None or after.value() > before.value()):
            return Hint.QUEUE, "larger volumes are possible"
        return Hint.SKIP, "no larger volumes are possible"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        problem = self._claim_problem(pod)
        if problem:
            return None, unresolvable(problem)
        if not claim_references(pod):
            state.write(STATE, BindingState())
            return None, SKIP
        claims = self.binder.claims_of(pod)
        if claims.immediate:
            return None, UNBOUND_IMMEDIATE
        state.write(STATE, BindingState(claims))
        return None, None

    def _claim_problem(self, pod: Pod) -> str:
        """What rules the pod out everywhere, "" when nothing does."""
        for reference in claim_references(pod):
            claim = self.handle.objects.get("PersistentVolumeClaim", f"{pod.namespace}/{reference.name}")
            if claim is None and reference.ephemeral:
                return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{reference.name}"'
            if claim is None:
                return claim_not_found(reference.name)
            if claim.status.get("phase") == "Lost":
                volume_name = claim.spec.get("volumeName") or ""
                return f'persistentvolumeclaim "{claim.name}" bound to non-existent persistentvolume "{volume_name}"'
            if claim.terminating:
                return f'persistentvolumeclaim "{claim.name}" is being deleted'
            foreign = not_owned(pod, claim) if reference.ephemeral else ""
            if foreign:
                return foreign
        return ""

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        held = _state_of(state)
        if node_info.node is None:
            return None
        chosen, reasons = self.binder.find_pod_volumes(held.claims, node_info.node)
        if reasons:
            return unresolvable(*reasons)
        held.pod_volumes[node_info.name] = chosen
        return None

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Scoring by free capacity is off in v1.34 unless a feature gate is set."""
        return SKIP

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        return 0

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        held = _state_of(state)
        chosen = held.pod_volumes.get(node_name)
        held.all_bound = chosen is None or self.binder.assume(pod, node_name, chosen)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        held = state.read(STATE)
        if isinstance(held, BindingState) and node_name in held.pod_volumes:
            self.binder.revert(held.pod_volumes[node_name])

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Write the choice once, then Wait for the volume controller: to be asked again every simulated second."""
        held = _state_of(state)
        if held.all_bound:
            return None
        chosen = held.pod_volumes.get(node_name)
        if chosen is None:
            raise PluginError(f'no pod volume found for node "{node_name}"')
        if held.deadline_us is None:
            self.binder.write(chosen)
            held.deadline_us = self.handle.now_us + self.bind_timeout_us
            return WAITING
        try:
            held.all_bound = self.binder.all_bound(pod, node_name, chosen)
        except PluginError as problem:
            raise PluginError(f"binding volumes: {problem}") from problem
        if not held.all_bound and self.handle.now_us >= held.deadline_us:
            raise PluginError("binding volumes: context deadline exceeded")
        return None if held.all_bound else WAITING


def _state_of(state: CycleState) -> BindingState:
    held = state.read(STATE)
    if not isinstance(held, BindingState):
        raise PluginError("not found")
    return held
