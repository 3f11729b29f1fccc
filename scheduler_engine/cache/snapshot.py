"""The cluster as one scheduling cycle sees it: copies of the cache's NodeInfos, in visiting order.

Source: seed 001 (Snapshot); upstream ``backend/cache/snapshot.go``. ``Cache.update_snapshot`` updates it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from scheduler_engine.cache.image_states import ImageStates
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes, SlotArray, Slots
from scheduler_engine.records import record
from scheduler_engine.sharing import Table

NODE_INFO_LIST = "nodeInfoList"
REBUILT_TOGETHER = ("havePodsWithAffinityNodeInfoList", "havePodsWithRequiredAntiAffinityNodeInfoList", "usedPVCSet")
"""Names of the derived lists in the trace; if one must be rebuilt, all three are."""


@record(frozen=True, slots=True)
class Copied:
    """The result of a walk along the recency list.

    ``names`` were copied, ``ghosts`` had changed and were skipped; ``stopped_at`` is the first unchanged one
    ("" = none); ``new_node``: one was not in the snapshot before; ``derived``: the affinity lists or the set of used
    claims change.
    """

    names: tuple[str, ...]
    ghosts: tuple[str, ...]
    stopped_at: str
    new_node: bool
    derived: bool


class Snapshot:
    """Implements ``NodeInfoLister``.

    ``node_info_map``: node name → NodeInfo, which shares its contents with the cache's. ``generation``: that of the
    newest NodeInfo copied so far. ``slots`` numbers the nodes, and the lists read it; ``order``: the slots in visiting
    order.
    """

    __slots__ = (
        "generation",
        "node_info_list",
        "node_info_map",
        "nodes_with_affinity",
        "nodes_with_required_anti_affinity",
        "order",
        "slots",
        "used_pvcs",
    )

    order: SlotArray
    used_pvcs: Table[str, None] | None

    def __init__(self) -> None:
        self.node_info_map: Table[str, NodeInfo] = Table()
        self.generation = 0
        self.slots = Slots()
        self.rebuild_lists(())

    def list(self) -> Sequence[NodeInfo]:
        return self.node_info_list

    def have_pods_with_affinity(self) -> Sequence[NodeInfo]:
        return self.nodes_with_affinity

    def have_pods_with_required_anti_affinity(self) -> Sequence[NodeInfo]:
        return self.nodes_with_required_anti_affinity

    def get(self, node_name: str) -> NodeInfo | None:
        return self.node_info_map.get(node_name)

    @property
    def used_pvc_set(self) -> Table[str, None]:
        """The claims of pods on the nodes. Only pods with a ReadWriteOncePod claim ask for them."""
        if self.used_pvcs is None:
            self.used_pvcs = Table(dict.fromkeys(key for info in self.node_info_list for key in info.pvc_ref_counts))
        return self.used_pvcs

    def is_pvc_used_by_pods(self, key: str) -> bool:
        """``key``: ``namespace/name`` of the claim."""
        return key in self.used_pvc_set

    def copy_changed(self, nodes: Mapping[str, NodeInfo], images: ImageStates) -> Copied:
        """Share all that is newer than this snapshot with ``nodes``, the cache's recency list; skip ghosts."""
        names: list[str] = []
        ghosts: list[str] = []
        stopped_at, new_node, derived = "", False, False
        for name, info in nodes.items():
            if info.generation <= self.generation:
                stopped_at = name
                break
            if info.node is None:
                ghosts.append(name)
                continue
            existing = self.node_info_map.get(name)
            if existing is None:
                new_node, existing = True, NodeInfo()
                self.slots.put(existing)
            derived = derived or _derived_lists_differ(existing, info)
            copied = self.node_info_map[name] = info.shared(images.current(info), existing.slot)
            self.slots.note_change(copied, existing.node is not info.node)
            names.append(name)
        if nodes:
            self.generation = next(iter(nodes.values())).generation
        return Copied(tuple(names), tuple(ghosts), stopped_at, new_node, derived)

    def drop_deleted(self, nodes: Mapping[str, NodeInfo], surplus: int) -> tuple[str, ...]:
        """Drop at most ``surplus`` copies of nodes that are gone or ghosts; return their names."""
        gone = [name for name in self.node_info_map if name not in nodes or nodes[name].node is None]
        dropped = tuple(gone[:surplus])
        for name in dropped:
            self.slots.drop(self.node_info_map.pop(name))
        return dropped

    def rebuild_lists(self, order: Iterable[str] | None) -> None:
        """Rebuild the derived lists; ``order`` (node names) rebuilds nodeInfoList too, None keeps it.

        Skip a name without a NodeInfo: ``update_snapshot`` notices that the lengths differ.
        """
        if order is not None:
            self.node_info_list = self._listed(self.node_info_map[name] for name in order if name in self.node_info_map)
            self.order = self.node_info_list.slots
        self.nodes_with_affinity, self.nodes_with_required_anti_affinity = (
            Nodes(self.slots.infos, self.order[mark[self.order]]) for mark in self.slots.marks
        )
        self.used_pvcs = None

    def _listed(self, infos: Iterable[NodeInfo]) -> Nodes:
        return Nodes(self.slots.infos, np.array([info.slot for info in infos], dtype=np.intp))


def _derived_lists_differ(old: NodeInfo, new: NodeInfo) -> bool:
    """Compare nodes. For the set of used claims only the claims matter, not the number of their pods."""
    return (
        bool(old.pods_with_affinity) != bool(new.pods_with_affinity)
        or bool(old.pods_with_required_anti_affinity) != bool(new.pods_with_required_anti_affinity)
        or old.pvc_ref_counts.keys() != new.pvc_ref_counts.keys()
    )
