"""A small cluster for one plugin: node infos, objects, and an API that records its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import KubeObject, Node, Pod, merge
from scheduler_engine.framework.events import ActionType
from scheduler_engine.framework.interface import Handle, Hint
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.framework.nodes import Slots
from scheduler_engine.testing import Builder, NodeBuilder, PodBuilder
from scheduler_engine.trace.events import Event, Recorder


def pod_of(builder: PodBuilder) -> Pod:
    """Return the pod as the API server would store it, with a uid and a priority."""
    manifest = set_defaults(builder.obj())
    metadata = manifest["metadata"]
    defaults = {"metadata": {"uid": f"uid-{metadata['name']}"}, "spec": {"priority": 0}}
    return Pod(merge(defaults, manifest))


def node_of(builder: NodeBuilder) -> Node:
    return Node(set_defaults(builder.obj()))


def object_of(manifest: Mapping[str, Any] | Builder) -> KubeObject:
    return KubeObject(set_defaults(manifest.obj() if isinstance(manifest, Builder) else manifest))


def node_info(node: NodeBuilder, *pods: PodBuilder) -> NodeInfo:
    info = NodeInfo()
    info.set_node(node_of(node))
    for pod in pods:
        info.add_pod(pod_of(pod.node(info.name)))
    return info


class World:
    """Snapshot, objects, API and nominator in one: all a plugin reaches through its handle."""

    def __init__(self, *infos: NodeInfo) -> None:
        self.infos = {info.name: info for info in infos}
        self.objects: dict[tuple[str, str], KubeObject] = {}
        self.nominations: dict[str, list[PodInfo]] = {}
        self.calls: list[tuple[Any, ...]] = []
        self.refusal: Exception | None = None
        self.recorder = Recorder()
        for info in infos:
            for held in info.pods:
                self.objects["Pod", held.pod.key] = held.pod
        self.handle = Handle(_Snapshot(self), _Objects(self), _Api(self), _Nominator(self), self.recorder, Random(1))

    def add(self, *objects: KubeObject) -> None:
        for item in objects:
            self.objects[item.kind, item.key] = item

    def nominate(self, pod: Pod, node: str) -> None:
        self.add(pod)
        self.nominations.setdefault(node, []).append(PodInfo(pod))

    def events(self, kind: type[Event]) -> list[Any]:
        return [entry.event for entry in self.recorder.entries if isinstance(entry.event, kind)]


class _Snapshot:
    def __init__(self, world: World) -> None:
        self.world = world
        self.slots = Slots()
        for info in world.infos.values():
            self.slots.put(info)
            self.slots.note_change(info, replaced=True)

    def list(self) -> Sequence[NodeInfo]:
        return list(self.world.infos.values())

    def have_pods_with_affinity(self) -> Sequence[NodeInfo]:
        return [info for info in self.list() if info.pods_with_affinity]

    def have_pods_with_required_anti_affinity(self) -> Sequence[NodeInfo]:
        return [info for info in self.list() if info.pods_with_required_anti_affinity]

    def get(self, node_name: str) -> NodeInfo | None:
        return self.world.infos.get(node_name)

    def is_pvc_used_by_pods(self, key: str) -> bool:
        return any(key in info.pvc_ref_counts for info in self.list())


class _Objects:
    def __init__(self, world: World) -> None:
        self.world = world

    def list(self, kind: str, namespace: str | None = None) -> Iterator[KubeObject]:
        for (held_kind, _), item in self.world.objects.items():
            if held_kind == kind and namespace in (None, item.namespace):
                yield item

    def get(self, kind: str, key: str) -> KubeObject | None:
        return self.world.objects.get((kind, key))


class _Api:
    def __init__(self, world: World) -> None:
        self.world = world

    def bind(self, *call: Any) -> None:
        self._remember("bind", *call)

    def delete_pod(self, pod_key: str, reason: str, message: str) -> None:
        self._remember("delete_pod", pod_key, reason, message)

    def patch(self, *call: Any) -> None:
        self._remember("patch", *call)

    def _remember(self, *call: Any) -> None:
        if self.world.refusal is not None:
            raise self.world.refusal
        self.world.calls.append(call)


class _Nominator:
    def __init__(self, world: World) -> None:
        self.world = world

    def nominated_nodes(self) -> Sequence[str]:
        return [*self.world.nominations]

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]:
        return self.world.nominations.get(node_name, [])

    def delete_nominated_pod_if_exists(self, pod: Pod) -> None:
        for held in self.world.nominations.values():
            held[:] = [info for info in held if info.pod.uid != pod.uid]


def events_of(plugin: Any) -> dict[str, bool]:
    """Return a plugin's registrations: ``resource/action, action`` → True if a hint decides."""
    registrations = plugin.events_to_register()
    return {f"{item.event.resource}/{_actions(item.event.action)}": item.hint is not None for item in registrations}


def _actions(action: ActionType) -> str:
    """Return the names of the bits; all the updates together are UPDATE."""
    updates = action & ActionType.UPDATE == ActionType.UPDATE
    bits = action & ~ActionType.UPDATE if updates else action
    return ", ".join(sorted([*(str(bit.name) for bit in bits), *(["UPDATE"] if updates else [])]))


def hint_of(plugin: Any, resource: str, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> Hint:
    """Return the verdict of the plugin's hint for events of ``resource``."""
    registrations = plugin.events_to_register()
    hint = next(item.hint for item in registrations if item.event.resource == resource and item.hint is not None)
    verdict: Hint = hint(pod, old, new)[0]
    return verdict
