"""One scheduler's cache and its snapshot, folded from the trace.

Every change puts a NodeInfo at the head of the cache's list with a new generation. The snapshot is what the last
scheduling cycle copied from it; it stays the same until the next cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from sandbox.panels.model.used_ports import UsedPorts
from sandbox.words.say import say
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.node_info import ImageStateSummary, NodeInfo
from scheduler_engine.trace import events as ev

GONE = ("forgotten", "expired", "removed")
POD_CHANGES = {
    "assumed": "cache.pod-assumed",
    "added": "cache.pod-added",
    "confirmed": "cache.pod-confirmed",
    "updated": "cache.pod-updated",
    "forgotten": "cache.pod-forgotten",
    "expired": "cache.pod-expired",
    "removed": "cache.pod-removed",
}
NODE_CHANGES = {"added": "cache.node-added", "updated": "cache.node-updated", "ghost": "cache.node-ghost"}


@dataclass
class Info:
    """A NodeInfo in the list: its ``generation``, the last ``change`` in words, and the ``node`` as the cache has it.

    A ghost has left the node tree, but its pods are still in the cache. Its ``node`` and ``images`` are the last ones
    known.
    """

    name: str
    generation: int = 0
    change: str = ""
    node: Node | None = None
    ghost: bool = True
    images: dict[str, ImageStateSummary] = field(default_factory=dict)


@dataclass(frozen=True)
class CachedPod:
    """A pod that the cache counts on ``node``, as the API server had it then."""

    key: str
    node: str
    pod: Pod | None


@dataclass(frozen=True)
class Lists:
    """The lists of a snapshot: names of nodes, and ``namespace/name`` of the claims in use."""

    nodes: tuple[str, ...] = ()
    with_affinity: tuple[str, ...] = ()
    with_required_anti_affinity: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()


@dataclass
class CacheState:
    """A cache and the last snapshot of it.

    ``infos``: NodeInfos from the least to the most recently changed. ``pods``: uid → each pod that the cache counts;
    ``assumed``: uids of those that only the cache counts on a node. ``zones``, ``order``: the nodeTree and its
    round-robin order. ``snapshot``: the last one, with its ``lists``; ``copied``: node → generation of its copy in
    there. ``images``: name → size at the first node that had it, and the number of nodes that have it. An image that no
    node has any more is forgotten, and counted again from the next node that has it.
    """

    infos: dict[str, Info] = field(default_factory=dict)
    pods: dict[str, CachedPod] = field(default_factory=dict)
    assumed: dict[str, None] = field(default_factory=dict)
    zones: tuple[tuple[str, tuple[str, ...]], ...] = ()
    order: tuple[str, ...] = ()
    snapshot: ev.SnapshotTaken | None = None
    lists: Lists = field(default_factory=Lists)
    images: dict[str, ImageStateSummary] = field(default_factory=dict)
    copied: dict[str, int] = field(default_factory=dict)
    ports: UsedPorts = field(default_factory=UsedPorts)

    # --- folding ---------------------------------------------------------------------------------------------------

    def pod_changed(self, event: ev.CachePodChanged, pod: Pod | None) -> None:
        """Apply a change of a pod. ``pod``: as the API server has it, None if it has no pod of that uid."""
        change = say(POD_CHANGES[event.what], pod=event.pod.rpartition("/")[2])
        for name, generation in event.stamped:
            self._stamp(name, generation, change)
        before = self.pods.pop(event.uid, None)
        self.assumed.pop(event.uid, None)
        if event.what in GONE:
            self.ports.leave(event.uid)
            return
        cached_pod = CachedPod(event.pod, event.node, pod or (before.pod if before else None))
        self.pods[event.uid] = cached_pod
        self.ports.place(event.uid, event.node, cached_pod.pod)
        if event.what == "assumed":
            self.assumed[event.uid] = None

    def node_changed(self, event: ev.CacheNodeChanged, node: Node | None) -> None:
        """Apply a change of a node. ``node``: as the API server has it."""
        before = self.infos.get(event.node)
        old = before.node if before and not before.ghost else None
        images = self._images_of(old)
        for name, image in images.items():
            image.num_nodes -= 1
            if not image.num_nodes:
                del self.images[name]
        if event.what == "removed":
            self.infos.pop(event.node, None)
            return
        info = self._stamp(event.node, event.generation, say(NODE_CHANGES[event.what]))
        info.ghost = event.what == "ghost"
        if info.ghost:
            info.images = images
            return
        info.node, info.images = node or info.node, {}
        for name, size in image_sizes(info.node).items():
            self.images.setdefault(name, ImageStateSummary(size, 0)).num_nodes += 1

    def _images_of(self, node: Node | None) -> dict[str, ImageStateSummary]:
        return {name: self.images[name] for name in image_sizes(node)}

    def _stamp(self, name: str, generation: int, change: str) -> Info:
        info = self.infos.pop(name, None) or Info(name)
        info.generation, info.change = generation, change
        self.infos[name] = info
        return info

    def tree_changed(self, event: ev.NodeTreeChanged) -> None:
        self.zones, self.order = event.zones, event.order

    def snapshot_taken(self, event: ev.SnapshotTaken) -> None:
        self.snapshot = event
        for name in event.cloned:
            self.copied[name] = self.infos[name].generation if name in self.infos else event.generation
        if event.node_order is not None:  # A node came or went.
            there = {name for name, info in self.infos.items() if not info.ghost}
            self.copied = {name: generation for name, generation in self.copied.items() if name in there}
        if event.rebuilt:
            self.lists = self._lists(self.lists.nodes if event.node_order is None else event.node_order)

    def _lists(self, nodes: tuple[str, ...]) -> Lists:
        """Return the lists of a snapshot. The trace does not record them; they follow from the pods in the cache."""
        with_affinity, with_anti_affinity, claims = set(), set(), dict[str, dict[str, None]]()
        for cached_pod in self.pods.values():
            pod = cached_pod.pod
            if pod is None:
                continue
            if pod.has_pod_affinity:
                with_affinity.add(cached_pod.node)
            if pod.has_required_anti_affinity:
                with_anti_affinity.add(cached_pod.node)
            if pod.claim_names:
                used = (f"{pod.namespace}/{claim}" for claim in pod.claim_names)
                claims.setdefault(cached_pod.node, {}).update(dict.fromkeys(used))
        return Lists(
            nodes,
            tuple(name for name in nodes if name in with_affinity),
            tuple(name for name in nodes if name in with_anti_affinity),
            tuple(dict.fromkeys(claim for name in nodes for claim in claims.get(name, ()))),
        )

    # --- reading ---------------------------------------------------------------------------------------------------

    def recent(self) -> list[Info]:
        """Return the list from its head, which has the highest generation."""
        return list(reversed(self.infos.values()))

    def next_order(self) -> tuple[str, ...]:
        """Return the nodes as the next snapshot lists them: in tree order if a node came or left, else as before."""
        return self.lists.nodes if set(self.order) == set(self.lists.nodes) else self.order

    def newer(self) -> int:
        """Return how many NodeInfos at the head changed since the last snapshot; the next one looks at these."""
        snapshot_generation = self.snapshot.generation if self.snapshot else 0
        return sum(
            1 for _ in takewhile(lambda info: info.generation > snapshot_generation, reversed(self.infos.values()))
        )

    def node_info(self, name: str) -> NodeInfo | None:
        """Return a NodeInfo with all its sums, as the scheduler has it; None if the cache has none of that name."""
        info = self.infos.get(name)
        if info is None:
            return None
        node_info = self._node_info(info, [cached_pod for cached_pod in self.pods.values() if cached_pod.node == name])
        node_info.image_states = info.images if info.ghost else self._images_of(info.node)
        return node_info

    def node_infos(self) -> Iterator[tuple[str, NodeInfo]]:
        """Return all NodeInfos by name, without their images."""
        on: dict[str, list[CachedPod]] = {}
        for cached_pod in self.pods.values():
            on.setdefault(cached_pod.node, []).append(cached_pod)
        return ((name, self._node_info(info, on.get(name, []))) for name, info in self.infos.items())

    def _node_info(self, info: Info, pods: list[CachedPod]) -> NodeInfo:
        node_info = NodeInfo(generation=info.generation)
        if info.node is not None:
            node_info.set_node(info.node)
        if info.ghost:
            node_info.remove_node()
        for cached_pod in pods:
            if cached_pod.pod is not None:
                node_info.add_pod(cached_pod.pod)
        node_info.used_ports = dict(self.ports.on.get(info.name, {}))
        return node_info


def image_sizes(node: Node | None) -> dict[str, int]:
    """Return each image name of a node → its size in bytes; the first image with the name counts."""
    sizes: dict[str, int] = {}
    for names, size in node.images if node is not None else ():
        for name in names:
            sizes.setdefault(name, size)
    return sizes
