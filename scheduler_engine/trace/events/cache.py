"""The scheduler's cache and its snapshots."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.trace.events.base import Event


@dataclass(frozen=True, slots=True)
class NodeTreeChanged(Event):
    """``zones`` is ((zone key, (node, …)), …) in zone order; ``order`` the round-robin list."""

    zones: tuple[tuple[str, tuple[str, ...]], ...]
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CachePodChanged(Event):
    """``what`` is assumed, confirmed, forgotten, expired, added, updated or removed."""

    pod: str
    node: str
    what: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class CacheNodeChanged(Event):
    """``what`` is added, updated, removed or ghost (left the tree, pods still there)."""

    node: str
    what: str
    generation: int


@dataclass(frozen=True, slots=True)
class SnapshotTaken(Event):
    """``UpdateSnapshot`` ran at a cycle's start.

    ``cloned`` are the nodes copied, ``stopped_at`` the first unchanged one (""= the walk reached the tail), ``recency``
    the cache's list ((node, generation), …) from the head, ``rebuilt`` the lists built anew
    (nodeInfoList, havePodsWithAffinityNodeInfoList, havePodsWithRequiredAntiAffinityNodeInfoList, usedPVCSet),
    ``node_order`` the snapshot's list, None when unchanged since the previous snapshot.
    """

    cycle: int
    generation: int
    cloned: tuple[str, ...]
    stopped_at: str
    rebuilt: tuple[str, ...]
    recency: tuple[tuple[str, int], ...]
    node_order: tuple[str, ...] | None
