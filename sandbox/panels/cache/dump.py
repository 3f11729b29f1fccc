"""What a real scheduler logs on SIGUSR2: its cache and queue, and how they differ from the API server.

Source: upstream ``backend/cache/debugger`` (``dumper.go``, ``comparer.go``); C1 and C5 of the features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sandbox.panels.model.state import Queued, by_expiry, by_priority, by_time
from sandbox.panels.model.world import World
from sandbox.words.say import say
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import Resource

QUEUES = {
    "activeQ": (("activeQ",), by_priority),
    "backoffQ": (("backoffQ", "errorBackoffQ"), by_expiry),
    "unschedulablePods": (("unschedulablePods", "gated"), by_time),
}
"""Queue → (its lanes, their order)."""
SAME = {"Nodes": "cache.same-nodes", "Pods": "cache.same-pods"}


def dump(world: World) -> str:
    """Return the dump as plain text; each line ends with a newline."""
    parts = [_nodes(world), _queue(world), _comparison(world)]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _nodes(world: World) -> Iterator[str]:
    yield "Dump of cached NodeInfo"
    nominated: dict[str, list[Pod]] = {}
    for key, node in world.nominations.items():
        if key in world.pods:
            nominated.setdefault(node, []).append(world.pods[key].pod)
    for name, info in world.cache.node_infos():
        yield ""
        yield f"Node name: {name}"
        yield f"Deleted: {str(info.node is None).lower()}"
        yield f"Requested Resources: {_resource(info.requested)}"
        yield f"Allocatable Resources:{_resource(info.allocatable)}"
        yield f"Scheduled Pods(number: {len(info.pods)}):"
        yield from (_pod(item.pod) for item in info.pods)
        if name in nominated:
            yield f"Nominated Pods(number: {len(nominated[name])}):"
            yield from map(_pod, nominated[name])


def _queue(world: World) -> Iterator[str]:
    waiting = {name: _waiting(world, name) for name in QUEUES}
    yield "Dump of scheduling queue"
    yield "; ".join(f"{name}:{len(pods)}" for name, pods in waiting.items())
    yield from (_pod(pod) for pods in waiting.values() for pod in pods)


def _waiting(world: World, queue: str) -> list[Pod]:
    lanes, order = QUEUES[queue]
    in_order: list[Queued] = [queued for lane in lanes for queued in sorted(world.lane(lane), key=order)]
    pods = ((world.pods.get(queued.move.pod), queued) for queued in in_order)
    return [pod.pod for pod, queued in pods if pod is not None and queued.is_of(pod.pod.uid)]


def _comparison(world: World) -> Iterator[str]:
    """Yield the comparison. As upstream, a pod in flight is in no queue, and so counts as missed."""
    yield say("cache.comparison")
    uids = {pod.pod.uid: key for key, pod in world.pods.items() if not pod.pod.finished}
    queued = [pod.uid for name in QUEUES for pod in _waiting(world, name)]
    cached = {uid: cached_pod.key for uid, cached_pod in world.cache.pods.items()}
    yield _mismatch("Nodes", world.objects.get("Node", ()), world.cache.infos, {})
    yield _mismatch("Pods", uids, [*cached, *queued], {**cached, **uids})


def _mismatch(kind: str, actual: Iterable[str], cached: Iterable[str], keys: Mapping[str, str]) -> str:
    """Return one line of the comparison. ``keys``: uid → namespace/name."""
    in_cache, existing = dict.fromkeys(cached), dict.fromkeys(actual)
    missed, redundant = sorted(existing.keys() - in_cache.keys()), sorted(in_cache.keys() - existing.keys())
    if not missed and not redundant:
        return say(SAME[kind])
    labels = {name: f"{name} ({keys[name]})" if name in keys else name for name in (*missed, *redundant)}
    joined = [" ".join(labels[name] for name in names) for names in (missed, redundant)]
    return f"Cache mismatch missed{kind}=[{joined[0]}] redundant{kind}=[{joined[1]}]"


def _pod(pod: Pod) -> str:
    about = f"name: {pod.name}, namespace: {pod.namespace}, uid: {pod.uid}"
    return f"{about}, phase: {pod.phase}, nominated node: {pod.nominated_node_name}"


def _resource(resource: Resource) -> str:
    """Return a resource as Go prints the struct: millicores, bytes and counts."""
    scalars = " ".join(f"{name}:{number}" for name, number in sorted(resource.scalar.items()))
    return (
        f"&{{MilliCPU:{resource.milli_cpu} Memory:{resource.memory} EphemeralStorage:{resource.ephemeral_storage} "
        f"AllowedPodNumber:{resource.allowed_pod_number} ScalarResources:map[{scalars}]}}"
    )
