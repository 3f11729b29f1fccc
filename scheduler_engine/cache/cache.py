"""The scheduler's cache: nodes with their pods, including those only assumed to run there.

The states of a pod::

    assume ──► assumed ──► (add) ──► added ──► (remove) ──► gone
                 │  ▲                  ▲ │
     forget or   │  │ finish_binding   │ └─ update
     expire      ▼  └─ starts the ttl  │
               gone ───── (add) ───────┘

Source: seed 001; upstream ``backend/cache/cache.go`` and ``interface.go``.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from dataclasses import dataclass, field

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.cache.image_states import ImageStates
from scheduler_engine.cache.node_tree import NodeTree, NodeTreeError
from scheduler_engine.cache.snapshot import NODE_INFO_LIST, REBUILT_TOGETHER, Copied, Snapshot
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.records import record
from scheduler_engine.sharing import Table
from scheduler_engine.trace.events import CacheNodeChanged, CachePodChanged, NodeTreeChanged, Recorder, SnapshotTaken

TELL_TREE_AT_ONCE = 200
"""Up to this many nodes, trace every change of the tree separately; beyond, only the tree at a snapshot."""


class CacheError(Exception):
    """An operation that the cache refuses. The text comes from Kubernetes."""


class CacheCorrupted(CacheError):
    """The real scheduler logs "Scheduler cache is corrupted" and exits here."""


@record(frozen=True, slots=True)
class PodState:
    """``deadline_us``: when an assumed pod expires, None = never; only once ``binding_finished``."""

    pod: Pod
    deadline_us: int | None = None
    binding_finished: bool = False


@dataclass(slots=True)
class Dump:
    """A copy of the cache's contents; ``assumed_pods`` are uids."""

    nodes: dict[str, NodeInfo] = field(default_factory=dict)
    assumed_pods: tuple[str, ...] = ()


def pod_key(pod: Pod) -> str:
    """Return the uid. Raises CacheError when it is empty."""
    if not pod.uid:
        raise CacheError("cannot get cache key for pod with empty UID")
    return pod.uid


class Cache:
    """``nodes``: node name → NodeInfo, most recently changed first, ghosts included: the recency list.

    ``ttl_us``: how long an assumed pod survives after ``finish_binding``, in simulated microseconds; 0 = forever.
    ``shared``: others, such as snapshots and copies of this cache, may hold NodeInfos up to this generation: these are
    cloned before they change.
    """

    def __init__(self, recorder: Recorder | None = None, ttl_us: int = 0) -> None:
        self.recorder = recorder
        self.ttl_us = ttl_us
        self.generation = 0
        self.shared = 0
        self.nodes: OrderedDict[str, NodeInfo] = OrderedDict()
        self.node_tree = NodeTree()
        self.pod_states: Table[str, PodState] = Table()
        self.assumed_pods: Table[str, None] = Table()
        self.image_states = ImageStates()
        self._tree_untold = False

    # --- pods ----------------------------------------------------------------------------------------------------

    def assume_pod(self, pod: Pod) -> None:
        """Count ``pod`` on its node before the API server does. Raises CacheError when it is already known."""
        key = pod_key(pod)
        if key in self.pod_states:
            raise CacheError(f"pod {key}({pod.key}) is in the cache, so can't be assumed")
        self._add_pod(pod, assumed=True)
        self._tell_pod(pod, "assumed")

    def finish_binding(self, pod: Pod, now_us: int | None = None) -> None:
        """Finish the binding of an assumed pod: from now on it may expire."""
        key = pod_key(pod)
        if key not in self.assumed_pods:
            return
        if now_us is None:
            now_us = self.recorder.now_us if self.recorder else 0
        deadline_us = now_us + self.ttl_us if self.ttl_us else None
        self.pod_states[key] = PodState(self.pod_states[key].pod, deadline_us, binding_finished=True)

    def forget_pod(self, pod: Pod) -> None:
        """Remove an assumed pod. Raises CacheError when it is not assumed, or not on that node."""
        key = pod_key(pod)
        state = self.pod_states.get(key)
        if state is not None and state.pod.node_name != pod.node_name:
            raise CacheError(
                f"pod {key}({pod.key}) was assumed on {pod.node_name} but assigned to {state.pod.node_name}"
            )
        if key not in self.assumed_pods:
            raise CacheError(f"pod {key}({pod.key}) wasn't assumed so cannot be forgotten")
        self._remove_pod(pod)
        self._tell_pod(pod, "forgotten")

    def add_pod(self, pod: Pod) -> None:
        """Confirm an assumed pod (on its actual node), or add one that bypassed the scheduler.

        Raises CacheError when it was added before.
        """
        key = pod_key(pod)
        state = self.pod_states.get(key)
        if state is None:
            self._add_pod(pod)
            self._tell_pod(pod, "added")
        elif key in self.assumed_pods:
            self._update_pod(state.pod, pod)
            self._tell_pod(pod, "confirmed", before=state.pod.node_name)
        else:
            raise CacheError(f"pod {key}({pod.key}) was already in added state")

    def update_pod(self, old: Pod, new: Pod) -> None:
        """Replace ``old``. Raises CacheError when unknown or only assumed, CacheCorrupted when its node changes."""
        key = pod_key(old)
        state = self.pod_states.get(key)
        if state is None:
            raise CacheError(f"pod {key}({old.key}) is not added to scheduler cache, so cannot be updated")
        if key in self.assumed_pods:
            raise CacheError(f"assumed pod {key}({old.key}) should not be updated")
        if state.pod.node_name != new.node_name:
            raise CacheCorrupted("Pod updated on a different node than previously added to")
        self._update_pod(old, new)
        self._tell_pod(new, "updated")

    def remove_pod(self, pod: Pod) -> None:
        """Remove ``pod``. Raises CacheError when it is unknown, CacheCorrupted when it is on another node.

        A pod without a node name is removed wherever it is: the scheduler may have missed its deletion.
        """
        key = pod_key(pod)
        state = self.pod_states.get(key)
        if state is None:
            raise CacheError(f"pod {key}({pod.key}) is not found in scheduler cache, so cannot be removed from it")
        if pod.node_name and state.pod.node_name != pod.node_name:
            raise CacheCorrupted("Pod was added to a different node than it was assumed")
        self._remove_pod(state.pod)
        self._tell_pod(state.pod, "removed")

    def get_pod(self, pod: Pod) -> Pod:
        """Return the cached pod. Raises CacheError when it is unknown."""
        key = pod_key(pod)
        if key not in self.pod_states:
            raise CacheError(f"pod {key}({pod.key}) does not exist in scheduler cache")
        return self.pod_states[key].pod

    def has_pod(self, pod: Pod) -> bool:
        return pod_key(pod) in self.pod_states

    def is_assumed_pod(self, pod: Pod) -> bool:
        return pod_key(pod) in self.assumed_pods

    def cleanup_assumed_pods(self, now_us: int) -> None:
        """Expire assumed pods whose binding finished more than the ttl ago (upstream: once a second)."""
        for key in tuple(self.assumed_pods):
            state = self.pod_states[key]
            if state.binding_finished and state.deadline_us is not None and now_us > state.deadline_us:
                self._remove_pod(state.pod)
                self._tell_pod(state.pod, "expired")

    def _add_pod(self, pod: Pod, assumed: bool = False) -> None:
        if pod.node_name not in self.nodes:
            self._tell_node(pod.node_name, "ghost", self.generation + 1)
        info = self._own(pod.node_name)
        info.add_pod(pod)
        self._stamp(pod.node_name, info)
        self.pod_states[pod.uid] = PodState(pod)
        if assumed:
            self.assumed_pods[pod.uid] = None

    def _update_pod(self, old: Pod, new: Pod) -> None:
        self._remove_pod(old)
        self._add_pod(new)

    def _remove_pod(self, pod: Pod) -> None:
        """Remove the pod, even if its node is unknown. Raises CacheError when the node lacks it."""
        if pod.node_name in self.nodes:
            info = self._own(pod.node_name)
            try:
                info.remove_pod(pod)
            except KeyError as missing:
                raise CacheError(missing.args[0]) from missing
            self._stamp(pod.node_name, info)
            if not info.pods and info.node is None:
                del self.nodes[pod.node_name]
                self._tell_node(pod.node_name, "removed", info.generation)
        self.pod_states.pop(pod.uid, None)
        self.assumed_pods.pop(pod.uid, None)

    # --- nodes ---------------------------------------------------------------------------------------------------

    def add_node(self, node: Node) -> NodeInfo:
        """Add ``node``, or revive a ghost; return a copy of its NodeInfo."""
        info = self._without_images(node.name)
        if self.node_tree.add_node(node):
            self._tree_changed()
        return self._set_node(node, info, "added")

    def update_node(self, old: Node | None, new: Node) -> NodeInfo:
        """Store ``new`` and move it in the tree if its zone changed; return a copy of its NodeInfo."""
        known = new.name in self.nodes
        info = self._without_images(new.name)
        added = not known and self.node_tree.add_node(new)
        if self.node_tree.update_node(old, new) or added:
            self._tree_changed()
        return self._set_node(new, info, "updated")

    def remove_node(self, node: Node) -> None:
        """Remove ``node`` from the tree at once; while it has pods, its NodeInfo stays as a ghost.

        Raises CacheError when the node is unknown, or not in the zone that its labels name.
        """
        if node.name not in self.nodes:
            raise CacheError(f"node {node.name} is not found")
        info = self._own(node.name)
        info.remove_node()
        self._stamp(node.name, info)
        if not info.pods:
            del self.nodes[node.name]
        self._tell_node(node.name, "ghost" if info.pods else "removed", info.generation)
        try:
            self.node_tree.remove_node(node)
        except NodeTreeError as misplaced:
            raise CacheError(str(misplaced)) from misplaced
        self._tree_changed()
        self.image_states.remove(node)

    def _own(self, name: str) -> NodeInfo:
        """Return the NodeInfo of a node, to change it: a new one if there is none, a clone if it is shared."""
        info = self.nodes.get(name)
        if info is None:
            info = self.nodes[name] = NodeInfo()
        elif info.generation <= self.shared:
            info = self.nodes[name] = info.clone()
        return info

    def _without_images(self, name: str) -> NodeInfo:
        info = self._own(name)
        self.image_states.remove(info.node)
        return info

    def _set_node(self, node: Node, info: NodeInfo, what: str) -> NodeInfo:
        self.image_states.add(node, info)
        info.set_node(node)
        self._stamp(node.name, info)
        self._tell_node(node.name, what, info.generation)
        return self._cloned(info)

    def _cloned(self, info: NodeInfo) -> NodeInfo:
        cloned = info.clone()
        cloned.image_states = self.image_states.current(info)
        return cloned

    def _stamp(self, name: str, info: NodeInfo) -> None:
        """Give the changed ``info`` the next generation and move it to the head of the recency list."""
        self.generation += 1
        info.generation = self.generation
        self.nodes.move_to_end(name, last=False)

    # --- snapshot ------------------------------------------------------------------------------------------------

    def update_snapshot(self, snapshot: Snapshot, cycle: int = 0) -> tuple[str, ...]:
        """Update ``snapshot``, copying only NodeInfos that have changed since. It shares their contents.

        Return the names of the nodes copied. ``cycle`` numbers the scheduling cycle, for the trace.
        Raises CacheError when lists and tree disagree; all lists have then been rebuilt for the next cycle.
        """
        copied = snapshot.copy_changed(self.nodes, self.image_states)
        self.shared = self.generation
        surplus = len(snapshot.node_info_map) - self.node_tree.num_nodes
        dropped = snapshot.drop_deleted(self.nodes, surplus) if surplus > 0 else ()
        rebuild_all = copied.new_node or surplus > 0
        if rebuild_all or copied.derived:
            snapshot.rebuild_lists(self.node_tree.list() if rebuild_all else None)
        problem = ""
        if len(snapshot.node_info_list) != self.node_tree.num_nodes:
            problem = self._inconsistency(snapshot)
            snapshot.rebuild_lists(self.node_tree.list())
            rebuild_all = True
        self._tell_snapshot(snapshot, cycle, copied, dropped, rebuild_all)
        if problem:
            raise CacheError(problem)
        return copied.names

    def _inconsistency(self, snapshot: Snapshot) -> str:
        return (
            f"snapshot state is not consistent, length of NodeInfoList={len(snapshot.node_info_list)}"
            f" not equal to length of nodes in tree={self.node_tree.num_nodes} "
            f", length of NodeInfoMap={len(snapshot.node_info_map)}, length of nodes in cache={len(self.nodes)}"
            ", trying to recover"
        )

    def __deepcopy__(self, memo: dict[int, object]) -> Cache:
        """Share the NodeInfos, and clone them when they change."""
        self.shared = self.generation
        copied = Cache.__new__(Cache)
        memo[id(self)], memo[id(self.nodes)] = copied, self.nodes.copy()
        copied.__dict__ = copy.deepcopy(self.__dict__, memo)
        return copied

    # --- inspection ----------------------------------------------------------------------------------------------

    def node_count(self) -> int:
        """Count nodes, ghosts included."""
        return len(self.nodes)

    def pod_count(self) -> int:
        """Count pods, including those on ghosts."""
        return sum(len(info.pods) for info in self.nodes.values())

    def dump(self) -> Dump:
        return Dump({name: self._cloned(info) for name, info in self.nodes.items()}, tuple(self.assumed_pods))

    def check(self) -> None:
        """Raise AssertionError if an invariant is broken that must hold while the cache gets correct input."""
        self.node_tree.check()
        generations = [info.generation for info in self.nodes.values()]
        assert generations == sorted(set(generations), reverse=True), "the recency list is out of order"
        assert set(self.assumed_pods) <= set(self.pod_states)
        node_of = {info.pod.uid: name for name, node in self.nodes.items() for info in node.pods}
        assert node_of == {uid: state.pod.node_name for uid, state in self.pod_states.items()}
        assert self.pod_count() == len(node_of), "a pod is counted twice"
        in_tree = sorted(self.node_tree.list())
        assert in_tree == sorted(name for name, info in self.nodes.items() if info.node is not None)
        assert all(info.pods for info in self.nodes.values() if info.node is None), "an empty ghost was kept"
        for info in self.nodes.values():
            if info.node is not None:
                self.image_states.check(info)

    # --- trace ---------------------------------------------------------------------------------------------------

    def _tell_pod(self, pod: Pod, what: str, before: str = "") -> None:
        """Trace a change; ``before``: the pod's previous node."""
        if self.recorder is not None:
            moved = dict.fromkeys((before or pod.node_name, pod.node_name))
            stamped = tuple((name, self.nodes[name].generation) for name in moved if name in self.nodes)
            self.recorder.add(CachePodChanged(pod.key, pod.node_name, what, pod.uid, stamped))

    def _tell_node(self, name: str, what: str, generation: int) -> None:
        if self.recorder is not None:
            self.recorder.add(CacheNodeChanged(name, what, generation))

    def _tree_changed(self) -> None:
        self._tree_untold = True
        if self.recorder is not None and self.recorder.full and self.node_tree.num_nodes <= TELL_TREE_AT_ONCE:
            self.tell_tree()

    def tell_tree(self) -> None:
        """Trace the tree if it changed since it was last traced."""
        if self._tree_untold and self.recorder is not None:
            self.recorder.add(NodeTreeChanged(self.node_tree.zones(), tuple(self.node_tree.list())))
        self._tree_untold = False

    def _tell_snapshot(
        self, snapshot: Snapshot, cycle: int, copied: Copied, dropped: tuple[str, ...], all_lists: bool
    ) -> None:
        if self.recorder is None:
            return
        self.tell_tree()
        rebuilt = (NODE_INFO_LIST, *REBUILT_TOGETHER) if all_lists else REBUILT_TOGETHER if copied.derived else ()
        order = tuple(info.name for info in snapshot.node_info_list) if all_lists else None
        self.recorder.add(
            SnapshotTaken(
                cycle,
                snapshot.generation,
                copied.names,
                copied.stopped_at,
                len(self.nodes),
                rebuilt,
                order,
                dropped,
                copied.ghosts,
            )
        )
