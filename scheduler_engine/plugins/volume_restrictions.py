"""VolumeRestrictions: disks that only one pod may write to, and claims that only one pod may use.

The same GCE, AWS, iSCSI or RBD disk may not be mounted twice on a node (read-only use aside, except on AWS); a
ReadWriteOncePod claim has one user in the whole cluster. Source: seed 002 §6; upstream
``plugins/volumerestrictions``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.status import SKIP, Status, unresolvable, unschedulable
from scheduler_engine.plugins.volume_references import claim_not_found

DISK_CONFLICT = unschedulable("node(s) had no available disk")
READ_WRITE_ONCE_POD_CONFLICT = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
STATE = "PreFilterVolumeRestrictions"
DISKS = ("gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd")


class FilterState:
    """``claims``: the pod's ReadWriteOncePod claims; ``conflicts``: how many uses of them there are."""

    __slots__ = ("claims", "conflicts")

    def __init__(self, claims: dict[str, None], conflicts: int) -> None:
        self.claims = claims
        self.conflicts = conflicts

    def clone(self) -> FilterState:
        return FilterState(self.claims, self.conflicts)

    def update(self, changed: Pod, delta: int) -> None:
        """By claim name alone: upstream does not look at the namespace here either."""
        self.conflicts += delta * sum(1 for name in changed.claim_names if name in self.claims)


class VolumeRestrictions(Plugin):
    name = "VolumeRestrictions"
    reads_other_nodes = True

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        return (
            EventRegistration(ClusterEvent("Pod", ActionType.DELETE), self.after_pod_deleted),
            EventRegistration(ClusterEvent("Node", ActionType.ADD)),
            EventRegistration(ClusterEvent("PersistentVolumeClaim", ActionType.ADD), self.after_claim_added),
        )

    def after_pod_deleted(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if not isinstance(old, Pod) or old.namespace != pod.namespace:
            return Hint.SKIP, "the deleted pod was in another namespace"
        if _disk_conflict(pod, (old,)):
            return Hint.QUEUE, "the deleted pod used the same disk"
        if any(name in old.claim_names for name in pod.claim_names):
            return Hint.QUEUE, "the deleted pod used the same claim"
        return Hint.SKIP, "the deleted pod shared no disk and no claim with this one"

    def after_claim_added(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is not None and new.namespace == pod.namespace and new.name in pod.claim_names:
            return Hint.QUEUE, "a claim that the pod uses was created"
        return Hint.SKIP, "the pod does not use the claim"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        claims: dict[str, None] = {}
        for name in pod.claim_names:
            claim = self.handle.objects.get("PersistentVolumeClaim", f"{pod.namespace}/{name}")
            if claim is None:
                return None, unresolvable(claim_not_found(name))
            if "ReadWriteOncePod" in (claim.spec.get("accessModes") or ()):
                claims[name] = None
        used = self.handle.snapshot.is_pvc_used_by_pods
        conflicts = sum(1 for name in claims if used(f"{pod.namespace}/{name}"))
        if conflicts == 0 and not _has_disks(pod):
            return None, SKIP
        state.write(STATE, FilterState(claims, conflicts))
        return None, None

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node_info: NodeInfo) -> None:
        _state_of(state).update(added.pod, 1)

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node_info: NodeInfo) -> None:
        _state_of(state).update(removed.pod, -1)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        if _disk_conflict(pod, (info.pod for info in node_info.pods)):
            return DISK_CONFLICT
        return READ_WRITE_ONCE_POD_CONFLICT if _state_of(state).conflicts > 0 else None


def _state_of(state: CycleState) -> FilterState:
    held = state.read(STATE)
    if not isinstance(held, FilterState):
        raise PluginError(f'cannot read "{STATE}" from cycleState')
    return held


def _has_disks(pod: Pod) -> bool:
    return any(volume.get(kind) is not None for volume in pod.volumes for kind in DISKS)


def _disk_conflict(pod: Pod, others: Iterable[Pod]) -> bool:
    if not _has_disks(pod):
        return False
    return any(
        _same_disk(kind, volume[kind], existing[kind])
        for other in others
        for existing in other.volumes
        for volume in pod.volumes
        for kind in DISKS
        if volume.get(kind) is not None and existing.get(kind) is not None
    )


def _same_disk(kind: str, disk: Mapping[str, Any], existing: Mapping[str, Any]) -> bool:
    """Whether both mounts are of one disk in a way that cannot stand side by side."""
    if kind == "awsElasticBlockStore":
        return bool(disk.get("volumeID") == existing.get("volumeID"))
    if disk.get("readOnly") and existing.get("readOnly"):
        return False
    if kind == "gcePersistentDisk":
        return bool(disk.get("pdName") == existing.get("pdName"))
    if kind == "iscsi":
        return bool(disk.get("iqn") == existing.get("iqn"))
    return (
        any(monitor in (existing.get("monitors") or ()) for monitor in disk.get("monitors") or ())
        and (disk.get("pool") or "rbd") == (existing.get("pool") or "rbd")
        and disk.get("image") == existing.get("image")
    )
