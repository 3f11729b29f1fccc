"""VolumeRestrictions: disks that only one pod may write to, and claims that only one pod may use.

The same GCE, AWS, iSCSI or RBD disk may not be mounted twice on a node (except read-only, but not on AWS); a
ReadWriteOncePod claim has one user in the whole cluster. Source: seed 002 §6; upstream
``plugins/volumerestrictions``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.amounts import Mask
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Fact, Facts, Keys, fact
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.framework.noted_objects import NotedObjects, NotingObjects, ObjectGetter
from scheduler_engine.framework.status import SKIP, Status, unresolvable, unschedulable
from scheduler_engine.plugins.volume_facts import refused_early
from scheduler_engine.plugins.volume_references import ClaimProblem, missing_claim

DISK_CONFLICT = unschedulable("node(s) had no available disk")
READ_WRITE_ONCE_POD_CONFLICT = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
STATE = "PreFilterVolumeRestrictions"
DISKS = {"gcePersistentDisk": "pdName", "awsElasticBlockStore": "volumeID", "iscsi": "iqn", "rbd": "image"}
"""Volume source → the field that identifies the disk."""


class FilterState:
    """``claims``: the pod's ReadWriteOncePod claims, and the uses of each; ``conflicts``: the total."""

    __slots__ = ("claims", "conflicts")

    def __init__(self, claims: dict[str, int]) -> None:
        self.claims = claims
        self.conflicts = sum(claims.values())

    def clone(self) -> FilterState:
        return FilterState(dict(self.claims))

    def update(self, changed: Pod, delta: int) -> None:
        """Count by claim name only: upstream ignores the namespace here, too."""
        for name in changed.claim_names:
            if name in self.claims:
                self.claims[name] += delta
                self.conflicts += delta


class VolumeRestrictions(Plugin):
    name = "VolumeRestrictions"

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        return (
            EventRegistration(ClusterEvent("Pod", ActionType.DELETE), self.after_pod_deleted),
            EventRegistration(ClusterEvent("Node", ActionType.ADD)),
            EventRegistration(ClusterEvent("PersistentVolumeClaim", ActionType.ADD), self.after_claim_added),
        )

    def after_pod_deleted(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if not isinstance(old, Pod) or old.namespace != pod.namespace:
            return Hint.SKIP, "hints.pod-in-another-namespace"
        if _disk_conflict(pod, (old,)):
            return Hint.QUEUE, "hints.pod-used-disk"
        if any(name in old.claim_names for name in pod.claim_names):
            return Hint.QUEUE, "hints.pod-used-claim"
        return Hint.SKIP, "hints.pod-shared-nothing"

    def after_claim_added(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is not None and new.namespace == pod.namespace and new.name in pod.claim_names:
            return Hint.QUEUE, "hints.claim-created"
        return Hint.SKIP, "hints.claim-not-named"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        claims: list[str] | ClaimProblem = []
        if pod.claim_names:
            claims = _exclusive_claims(pod, NotingObjects(self.handle.objects, state, self.name))
        if isinstance(claims, ClaimProblem):
            return None, unresolvable(claims.text)
        used = self.handle.snapshot.is_pvc_used_by_pods
        uses = {name: int(used(f"{pod.namespace}/{name}")) for name in claims}
        if not any(uses.values()) and not _disks(pod):
            return None, SKIP
        state.write(STATE, FilterState(uses))
        return None, None

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Facts:
        objects = NotedObjects(self.handle.objects, state, self.name)
        return refused_early(pod, _exclusive_claims(pod, objects), objects, pod.claim_names)

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node_info: NodeInfo) -> None:
        _state_of(state).update(added.pod, 1)

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node_info: NodeInfo) -> None:
        _state_of(state).update(removed.pod, -1)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        if _disk_conflict(pod, (info.pod for info in node_info.pods)):
            return DISK_CONFLICT
        return READ_WRITE_ONCE_POD_CONFLICT if _state_of(state).conflicts > 0 else None

    def filter_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> list[tuple[Status | None, Mask]] | None:
        columns, slots = self.handle.counts_together(self.handle.snapshot.list()), self.handle.snapshot.slots
        held = state.read(STATE)
        if columns is None or nodes.infos is not slots.infos or not isinstance(held, FilterState):
            return None
        holders = columns.holders("disks", slots, _disks_on)
        there = dict.fromkeys(slot for disk in _disks(pod) for slot in holders.get(_identity(*disk), ()))
        refusing = [slot for slot in there if _disk_conflict(pod, (info.pod for info in slots.infos[slot].pods))]
        in_use: Mask = np.isin(nodes.slots, refusing) if refusing else np.zeros(len(nodes), dtype=bool)
        return [(DISK_CONFLICT, in_use), *([(READ_WRITE_ONCE_POD_CONFLICT, ~in_use)] if held.conflicts > 0 else [])]

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        status = self.filter(state, pod, node_info)
        disks, held = [*_disk_facts(pod, node_info)], state.read(STATE)
        # A disk can be in use even if PreFilter has counted no claims: it may be disabled for this plugin.
        claims = [*_claim_facts(pod, held, node_info, self.handle.snapshot.list())] if held is not None else []
        return Facts(_conclusion(pod, node_info.name, disks, claims), (*disks, *claims), status)


def _state_of(state: CycleState) -> FilterState:
    held = state.read(STATE)
    if not isinstance(held, FilterState):
        raise PluginError(f'cannot read "{STATE}" from cycleState')
    return held


def _exclusive_claims(pod: Pod, objects: ObjectGetter) -> list[str] | ClaimProblem:
    """Return the pod's claims that only one pod may use."""
    names: dict[str, None] = {}
    for name in pod.claim_names:
        claim = objects.get("PersistentVolumeClaim", f"{pod.namespace}/{name}")
        if claim is None:
            return missing_claim(name)
        if "ReadWriteOncePod" in (claim.spec.get("accessModes") or ()):
            names[name] = None
    return [*names]


def _disks(pod: Pod) -> list[tuple[str, Mapping[str, Any]]]:
    """Return (volume source, its fields) of each disk that the pod mounts."""
    return [(kind, volume[kind]) for volume in pod.volumes for kind in DISKS if volume.get(kind) is not None]


def _identity(kind: str, disk: Mapping[str, Any]) -> tuple[str, Any]:
    """Return what two mounts that conflict have in common."""
    return kind, disk.get(DISKS[kind])


def _disks_on(info: NodeInfo) -> list[tuple[str, Any]]:
    """Return the identity of each disk that pods on the node mount."""
    return [_identity(*disk) for item in info.pods if item.pod.volumes for disk in _disks(item.pod)]


def _disk_conflict(pod: Pod, others: Iterable[Pod]) -> bool:
    disks = _disks(pod)
    return bool(disks) and any(_uses(other, kind, disk) for other in others for kind, disk in disks)


def _uses(other: Pod, kind: str, disk: Mapping[str, Any]) -> bool:
    """Return True if the pod mounts the disk in a conflicting way."""
    for volume in other.volumes:
        mounted = volume.get(kind)
        if mounted is not None and _same_disk(kind, disk, mounted):
            return True
    return False


def _same_disk(kind: str, disk: Mapping[str, Any], existing: Mapping[str, Any]) -> bool:
    """Return True if both mounts are of one disk and conflict."""
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


# --- facts ---


def _disk_facts(pod: Pod, node_info: NodeInfo) -> Iterator[Fact]:
    """Explain each disk of the pod: which pods on the node conflict."""
    for kind, disk in _disks(pod):
        users = Keys(info.pod.key for info in node_info.pods if _uses(info.pod, kind, disk))
        used = "disk-used-on-aws" if kind == "awsElasticBlockStore" else "disk-used"
        row = used if users else "disk-free"
        yield fact(f"volumes.{row}", not users, kind=kind, disk=str(disk.get(DISKS[kind])), pods=users)


def _claim_facts(pod: Pod, state: FilterState, node_info: NodeInfo, nodes: Sequence[NodeInfo]) -> Iterator[Fact]:
    """Explain each ReadWriteOncePod claim: its users anywhere, and the pods counted here whose claim has that name."""
    for name, uses in state.claims.items():
        there = [info.pod for node in nodes for info in node.pods if info.pod.namespace == pod.namespace]
        waiting = [info.pod for info in node_info.pods if not info.pod.node_name]
        users = Keys(item.key for item in (*there, *waiting) if name in item.claim_names)
        yield fact("volumes.claim-used" if uses else "volumes.claim-free", not uses, claim=name, pods=users)


def _conclusion(pod: Pod, node: str, disks: Sequence[Fact], claims: Sequence[Fact]) -> Fact:
    for row, facts in (("volumes.disk-in-use", disks), ("volumes.claim-in-use", claims)):
        refusing = [item for item in facts if not item.ok]
        if refusing:
            users = Keys(dict.fromkeys(key for item in refusing for key in _users(item)))
            return fact(row, False, pod=Keys((pod.key,)), node=node, pods=users, count=len(users))
    return fact("volumes.nobody-in-the-way", True, pod=Keys((pod.key,)))


def _users(item: Fact) -> Keys:
    users = item.values["pods"]
    return users if isinstance(users, Keys) else Keys()
