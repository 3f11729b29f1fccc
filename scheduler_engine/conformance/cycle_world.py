"""The API objects of one recorded cycle scenario: plugins read them, preemption and binding write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.apiserver.admission import match_label_keys, pod_priority
from scheduler_engine.apiserver.change_log import Unlogged
from scheduler_engine.apiserver.watching import Wants, Watch
from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.versions import DEFAULT_RULES

Manifest = dict[str, Any]


class World(Unlogged):
    """Implements ``Api``.

    ``order`` lists all objects as given, ``pending`` the pods to attempt. Succeeded or Failed pods are omitted: the
    scheduler ignores them.
    """

    priority_numbers = True
    switched_on: tuple[str, ...] = ()
    rules = DEFAULT_RULES

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.objects: dict[str, dict[str, KubeObject]] = {}
        self.order: list[KubeObject] = []
        for manifest in case["objects"]:
            if manifest["kind"] == "PriorityClass":
                self._add(manifest)
        for manifest in case["objects"]:
            if manifest["kind"] != "PriorityClass":
                self._add(manifest)
        self.pending = [self._pod(manifest) for manifest in case["pending"]]
        for pod in self.pending:
            self.put(pod)

    def _add(self, manifest: Manifest) -> None:
        if manifest["kind"] == "Pod":
            pod = self._pod(manifest)
            if pod.finished:
                return
            self.order.append(pod)
        else:
            self.order.append(_view(_with_uid(set_defaults(manifest))))
        self.put(self.order[-1])

    def _pod(self, manifest: Manifest) -> Pod:
        """Add defaults and admission's changes; a priority number wins over the class."""
        defaulted = _with_uid(set_defaults(manifest))
        if defaulted["spec"].get("priority") is None:
            defaulted = pod_priority(defaulted, self)
        return Pod(match_label_keys(defaulted, self))

    def put(self, item: KubeObject) -> None:
        self.objects.setdefault(item.kind, {})[item.key] = item

    def pod(self, key: str) -> Pod:
        item = self.objects["Pod"][key]
        assert isinstance(item, Pod)
        return item

    # --- reading -----------------------------------------------------------------------------------------------------

    def list(self, kind: str, namespace: str | None = None) -> Iterator[KubeObject]:
        objects = self.objects.get(kind, {}).values()
        return iter([item for item in objects if namespace is None or item.namespace == namespace])

    def get(self, kind: str, key: str) -> KubeObject | None:
        return self.objects.get(kind, {}).get(key)

    # --- writing -----------------------------------------------------------------------------------------------------

    def bind(self, pod_key: str, uid: str, node_name: str) -> None:
        self.patch("Pod", pod_key, {"spec": {"nodeName": node_name}})

    def delete_pod(self, pod_key: str, reason: str, message: str) -> None:
        """Do nothing: the scenario decides about victims."""

    def patch(self, kind: str, key: str, changes: Mapping[str, Any]) -> None:
        self.put(self.objects[kind][key].evolve(changes))

    # --- watching ----------------------------------------------------------------------------------------------------

    def watch(self, wants: Wants) -> Watch:
        return Watch(wants)

    def next_event(self, watch: Watch) -> None:
        """Return nothing: the recording's own steps change the cache."""


class WaitingPods:
    """The nominator's source of pods: all without a node, whether or not their turn is over."""

    def __init__(self, world: World) -> None:
        self.world = world

    def get(self, key: str) -> QueuedPodInfo | None:
        return QueuedPodInfo(PodInfo(self.world.pod(key)))


def _with_uid(manifest: Manifest) -> Manifest:
    """Give an object in a namespace the uid of the recordings, unless it has one."""
    metadata = manifest["metadata"]
    if metadata.get("namespace"):
        metadata.setdefault("uid", f"uid-{metadata['namespace']}-{metadata['name']}")
    return manifest


def _view(manifest: Manifest) -> KubeObject:
    kind = KINDS.get(manifest["kind"])
    return kind.view(manifest) if kind is not None else KubeObject(manifest)
