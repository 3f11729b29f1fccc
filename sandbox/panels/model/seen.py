"""The cluster as one scheduling cycle saw it, folded from the trace up to that cycle.

The scheduler's snapshot holds nodes and the pods bound or assumed on them when ``SnapshotTaken`` happened; other
objects are read from the API server when PreFilter, Filter and PreScore run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.trace import events as ev

Manifests = dict[str, dict[str, dict[str, Any]]]
IN_THE_CACHE = ("Pod", "Node")


class Objects:
    """Objects other than pods and nodes, at one instant, in order of creation."""

    def __init__(self, manifests: Mapping[str, Mapping[str, dict[str, Any]]]) -> None:
        self.held = {kind: dict(held) for kind, held in manifests.items() if kind not in IN_THE_CACHE}

    def get(self, kind: str, key: str) -> KubeObject | None:
        manifest = self.held.get(kind, {}).get(key)
        return None if manifest is None else KubeObject(manifest)

    def list(self, kind: str, namespace: str | None = None) -> list[KubeObject]:
        found = (KubeObject(manifest) for manifest in self.held.get(kind, {}).values())
        return [item for item in found if namespace is None or item.namespace == namespace]


@dataclass
class Seen:
    """``pod`` as it was popped; ``nodes`` in the snapshot's order, ``pods_on`` them.

    ``nominated``: pods named in Filter's rows.
    ``arguments``: plugin → its arguments in the cycle's profile, {} for those without.
    ``pre_filter`` and ``pre_score`` hold the other objects when those stages ran.
    ``stages``: how many stages the cycle had done when this was folded; ``complete``: later ones add nothing.
    """

    pod: Pod
    nodes: dict[str, Node] = field(default_factory=dict)
    pods_on: dict[str, tuple[PodInfo, ...]] = field(default_factory=dict)
    nominated: dict[str, PodInfo] = field(default_factory=dict)
    arguments: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    pre_filter: Objects = field(default_factory=lambda: Objects({}))
    pre_score: Objects = field(default_factory=lambda: Objects({}))
    stages: int = 0
    complete: bool = False


def seen_by(entries: Iterable[ev.Entry], cycle: int, replica: str = "") -> Seen | None:
    """What scheduling cycle number ``cycle`` of ``replica`` saw; None when no pod was popped in it."""
    fold = _Fold(cycle, replica)
    for entry in entries:
        kind = type(entry.event)
        handler = HANDLERS.get(kind)
        if handler is not None and (entry.replica == replica or kind not in OWN):
            handler(fold, entry.event)
            if fold.done:
                break
    if fold.seen is not None:
        fold.seen.complete = fold.done
    return fold.seen


class _Fold:
    """``placed``: pod → (node, what the cache assumed it to be; None = as the API server has it)."""

    def __init__(self, cycle: int, replica: str) -> None:
        self.cycle = cycle
        self.replica = replica
        self.done = False
        self.seen: Seen | None = None
        self.objects: Manifests = {}
        self.configuration: Mapping[str, Any] = {}
        self._start_over()

    def _start_over(self) -> None:
        """A scheduler that starts anew knows nothing of what it assumed before."""
        self.popped: dict[str, dict[str, Any]] = {}
        self.nodes: dict[str, Node] = {}
        self.placed: dict[str, tuple[str, Pod | None]] = {}
        self.order: tuple[str, ...] = ()

    def configured(self, event: ev.Configured) -> None:
        self.configuration = event.configuration

    def stored(self, event: ev.ObjectAdded | ev.ObjectModified) -> None:
        self.objects.setdefault(event.kind, {})[event.key] = event.manifest

    def deleted(self, event: ev.ObjectDeleted) -> None:
        self.objects.get(event.kind, {}).pop(event.key, None)

    def replica_changed(self, event: ev.ReplicaChanged) -> None:
        if event.replica == self.replica and not event.schedules:
            self._start_over()

    def cache_pod(self, event: ev.CachePodChanged) -> None:
        if event.what == "assumed":
            popped = self.popped.get(event.pod)
            assumed = None if popped is None else Pod(popped).evolve({"spec": {"nodeName": event.node}})
            self.placed[event.pod] = (event.node, assumed)
        elif event.what in ("added", "confirmed", "updated"):
            self.placed[event.pod] = (event.node, None)
        else:
            self.placed.pop(event.pod, None)

    def cache_node(self, event: ev.CacheNodeChanged) -> None:
        self.nodes.pop(event.node, None)
        manifest = self.objects.get("Node", {}).get(event.node)
        if event.what in ("added", "updated") and manifest is not None:
            self.nodes[event.node] = Node(manifest)

    def started(self, event: ev.CycleStarted) -> None:
        manifest = self.objects.get("Pod", {}).get(event.pod)
        if manifest is not None:
            self.popped[event.pod] = manifest
            if event.cycle == self.cycle:
                self.seen = Seen(Pod(manifest), arguments=self._arguments(event.profile))

    def _arguments(self, profile: str) -> dict[str, Mapping[str, Any]]:
        """A cycle keeps the configuration that it started with."""
        profiles = (item for item in self.configuration.get("profiles") or () if item.get("schedulerName") == profile)
        configs = (config for item in profiles for config in item.get("pluginConfig") or ())
        return {config["name"]: config.get("args") or {} for config in configs}

    def snapshot(self, event: ev.SnapshotTaken) -> None:
        if event.node_order is not None:
            self.order = event.node_order
        if self.seen is None or event.cycle != self.cycle:
            return
        self.seen.nodes = {name: self.nodes[name] for name in self.order if name in self.nodes}
        pods: dict[str, list[PodInfo]] = {}
        for key, (node, assumed) in self.placed.items():
            pod = assumed or self._pod(key)
            if pod is not None:
                pods.setdefault(node, []).append(PodInfo(pod))
        self.seen.pods_on = {node: tuple(held) for node, held in pods.items()}

    def _pod(self, key: str) -> Pod | None:
        manifest = self.objects.get("Pod", {}).get(key)
        return None if manifest is None else Pod(manifest)

    def pre_filter(self, event: ev.PreFilterRan) -> None:
        if self.seen is not None and event.cycle == self.cycle:
            self.seen.pre_filter = Objects(self.objects)

    def filter(self, event: ev.FilterRan) -> None:
        if self.seen is None or event.cycle != self.cycle:
            return
        for _, _, _, _, nominated in event.rows:
            for key in nominated:
                pod = self._pod(key)
                if pod is not None:
                    self.seen.nominated[key] = PodInfo(pod)

    def pre_score(self, event: ev.PreScoreRan) -> None:
        if self.seen is not None and event.cycle == self.cycle:
            self.seen.pre_score = Objects(self.objects)
            self.done = True

    def finished(self, event: ev.CycleFinished) -> None:
        self.done = event.cycle == self.cycle


OWN = frozenset((ev.CachePodChanged, ev.CacheNodeChanged, ev.CycleStarted, ev.SnapshotTaken))
"""Every scheduler has its own of these."""
HANDLERS: dict[type[ev.Event], Callable[[_Fold, Any], None]] = {
    ev.Configured: _Fold.configured,
    ev.ObjectAdded: _Fold.stored,
    ev.ObjectModified: _Fold.stored,
    ev.ObjectDeleted: _Fold.deleted,
    ev.ReplicaChanged: _Fold.replica_changed,
    ev.CachePodChanged: _Fold.cache_pod,
    ev.CacheNodeChanged: _Fold.cache_node,
    ev.CycleStarted: _Fold.started,
    ev.SnapshotTaken: _Fold.snapshot,
    ev.PreFilterRan: _Fold.pre_filter,
    ev.FilterRan: _Fold.filter,
    ev.PreScoreRan: _Fold.pre_score,
    ev.CycleFinished: _Fold.finished,
}
