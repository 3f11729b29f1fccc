"""The scheduler's cache and its snapshots."""

from __future__ import annotations

from scheduler_engine.records import record
from scheduler_engine.trace.events.base import Event


@record(frozen=True, slots=True)
class NodeTreeChanged(Event):
    """``zones`` is ((zone key, (node, …)), …) in zone order; ``order`` the round-robin list."""

    zones: tuple[tuple[str, tuple[str, ...]], ...]
    order: tuple[str, ...]


@record(frozen=True, slots=True)
class CachePodChanged(Event):
    """``what`` is assumed, confirmed, forgotten, expired, added, updated or removed.

    ``stamped``: the NodeInfos that this moved to the head of the list and that still exist, in that order, with their
    new generations: ((node, generation), …). Two if a pod is confirmed on another node than it was assumed on.
    """

    pod: str
    node: str
    what: str
    uid: str = ""
    stamped: tuple[tuple[str, int], ...] = ()


@record(frozen=True, slots=True)
class CacheNodeChanged(Event):
    """``what`` is added, updated, removed or ghost (left the tree, pods still there).

    A changed NodeInfo moves to the head of the list and gets a new ``generation``.
    """

    node: str
    what: str
    generation: int


@record(frozen=True, slots=True)
class AssumedPodsExpire(Event):
    """How many simulated microseconds after binding assumed pods expire in every cache; 0 = never."""

    ttl_us: int


@record(frozen=True, slots=True)
class SnapshotTaken(Event):
    """``UpdateSnapshot`` ran at a cycle's start.

    ``cloned`` are the nodes copied, ``stopped_at`` the first unchanged one (""= the walk reached the tail), ``length``
    how many NodeInfos the cache's list holds, ghosts included, ``rebuilt`` the rebuilt lists (nodeInfoList,
    havePodsWithAffinityNodeInfoList, havePodsWithRequiredAntiAffinityNodeInfoList, usedPVCSet), ``node_order`` the
    snapshot's list, None if unchanged since the previous snapshot. ``dropped`` are nodes that left and whose copies
    were removed; ``ghosts`` had changed and were skipped, because only their pods still exist.
    """

    cycle: int
    generation: int
    cloned: tuple[str, ...]
    stopped_at: str
    length: int
    rebuilt: tuple[str, ...]
    node_order: tuple[str, ...] | None
    dropped: tuple[str, ...] = ()
    ghosts: tuple[str, ...] = ()
