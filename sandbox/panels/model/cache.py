"""One scheduler's cache and its snapshot, as the trace tells them.

The cache lives: every change puts a NodeInfo at the head of its list with a new generation. The snapshot is what the
last scheduling cycle copied from it, and stays behind until the next one.
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
    """A NodeInfo in the list: its ``generation`` and what changed it last; ``node`` as the cache has it.

    A ghost has left the tree, its pods have not: ``node`` is what was there last, and ``images`` are those that it had.
    """

    name: str
    generation: int = 0
    change: str = ""
    node: Node | None = None
    ghost: bool = True
    images: dict[str, ImageStateSummary] = field(default_factory=dict)


@dataclass(frozen=True)
class Held:
    """A pod that the cache counts on ``node``, as the API server had it then."""

    key: str
    node: str
    pod: Pod | None


@dataclass(frozen=True)
class Lists:
    """Those of a snapshot: names of nodes, and ``namespace/name`` of the claims in use."""

    nodes: tuple[str, ...] = ()
    with_affinity: tuple[str, ...] = ()
    with_required_anti_affinity: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()


@dataclass
class CacheState:
    """``infos``: NodeInfos from the least recently changed to the most, as changing puts one at the end.

    ``pods``: uid → all that the cache counts; ``assumed``: uids of those that only it counts there. ``zones``,
    ``order``: the nodeTree and the round-robin order that it gives. ``snapshot``: the last one that was taken, with its
    ``lists``; ``copied``: node → generation of its copy in there. ``images``: name → size at the first node that had
    it, and how many have it. One that no node has any more is forgotten, and counted anew when another node has it.
    """

    infos: dict[str, Info] = field(default_factory=dict)
    pods: dict[str, Held] = field(default_factory=dict)
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
        """``pod``: as the API server has it, None when it has none of that uid any more."""
        change = say(POD_CHANGES[event.what], pod=event.pod.rpartition("/")[2])
        for name, generation in event.stamped:
            self._stamp(name, generation, change)
        before = self.pods.pop(event.uid, None)
        self.assumed.pop(event.uid, None)
        if event.what in GONE:
            self.ports.leave(event.uid)
            return
        held = Held(event.pod, event.node, pod or (before.pod if before else None))
        self.pods[event.uid] = held
        self.ports.place(event.uid, event.node, held.pod)
        if event.what == "assumed":
            self.assumed[event.uid] = None

    def node_changed(self, event: ev.CacheNodeChanged, node: Node | None) -> None:
        """``node``: as the API server has it."""
        before = self.infos.get(event.node)
        had = before.node if before and not before.ghost else None
        kept = self._images_of(had)
        for name, image in kept.items():
            image.num_nodes -= 1
            if not image.num_nodes:
                del self.images[name]
        if event.what == "removed":
            self.infos.pop(event.node, None)
            return
        info = self._stamp(event.node, event.generation, say(NODE_CHANGES[event.what]))
        info.ghost = event.what == "ghost"
        if info.ghost:
            info.images = kept
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
            self.copied = {name: generation for name, generation in self.copied.items() if self._is_there(name)}
        if event.rebuilt:
            self.lists = self._lists(self.lists.nodes if event.node_order is None else event.node_order)

    def _is_there(self, name: str) -> bool:
        """A ghost is in the cache alone."""
        return name in self.infos and not self.infos[name].ghost

    def _lists(self, nodes: tuple[str, ...]) -> Lists:
        """The trace does not spell these lists out: they follow from the pods in the cache at that moment."""
        with_affinity, with_anti_affinity, claims = set(), set(), dict[str, dict[str, None]]()
        for held in self.pods.values():
            pod = held.pod
            if pod is None:
                continue
            if pod.has_pod_affinity:
                with_affinity.add(held.node)
            if pod.has_required_anti_affinity:
                with_anti_affinity.add(held.node)
            if pod.claim_names:
                used = (f"{pod.namespace}/{claim}" for claim in pod.claim_names)
                claims.setdefault(held.node, {}).update(dict.fromkeys(used))
        return Lists(
            nodes,
            tuple(name for name in nodes if name in with_affinity),
            tuple(name for name in nodes if name in with_anti_affinity),
            tuple(dict.fromkeys(claim for name in nodes for claim in claims.get(name, ()))),
        )

    # --- reading ---------------------------------------------------------------------------------------------------

    def recent(self) -> list[Info]:
        """The list from its head, the highest generation."""
        return list(reversed(self.infos.values()))

    def next_order(self) -> tuple[str, ...]:
        """The nodes as the next snapshot lists them: in the tree's order if a node has come or left, else as before."""
        return self.lists.nodes if set(self.order) == set(self.lists.nodes) else self.order

    def newer(self) -> int:
        """How many at the head the next snapshot will look at: changed since the last one was taken."""
        taken = self.snapshot.generation if self.snapshot else 0
        return sum(1 for _ in takewhile(lambda info: info.generation > taken, reversed(self.infos.values())))

    def node_info(self, name: str) -> NodeInfo | None:
        """With all its sums, as the scheduler has it; None when the cache has none of that name."""
        info = self.infos.get(name)
        if info is None:
            return None
        made = self._node_info(info, [held for held in self.pods.values() if held.node == name])
        made.image_states = info.images if info.ghost else self._images_of(info.node)
        return made

    def node_infos(self) -> Iterator[tuple[str, NodeInfo]]:
        """All of them by name, without their images."""
        on: dict[str, list[Held]] = {}
        for held in self.pods.values():
            on.setdefault(held.node, []).append(held)
        return ((name, self._node_info(info, on.get(name, []))) for name, info in self.infos.items())

    def _node_info(self, info: Info, pods: list[Held]) -> NodeInfo:
        made = NodeInfo(generation=info.generation)
        if info.node is not None:
            made.set_node(info.node)
        if info.ghost:
            made.remove_node()
        for held in pods:
            if held.pod is not None:
                made.add_pod(held.pod)
        made.used_ports = dict(self.ports.on.get(info.name, {}))
        return made


def image_sizes(node: Node | None) -> dict[str, int]:
    """Name of each image that a node has → its size there, where it stands first."""
    found: dict[str, int] = {}
    for names, size in node.images if node is not None else ():
        for name in names:
            found.setdefault(name, size)
    return found
