"""A node's NodeInfo: what the cache of the scheduler in focus counts there, beside what the API server has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sandbox.panels.model.cache import CacheState
from sandbox.panels.model.world import World
from sandbox.panels.words.amounts import memory, short_name, shown
from sandbox.panels.words.phrases import listed, plural
from sandbox.panels.words.say import say
from scheduler_engine.api.pod_resources import Resource
from scheduler_engine.framework.node_info import NodeInfo, PodInfo

MOST = 12


def node_info(world: World, name: str) -> dict[str, Any]:
    """``rows``: (aggregate, value), in the order of Kubernetes' struct; no rows when the cache does not know it."""
    cache = world.cache
    info = cache.node_info(name)
    if info is None:
        return {"rows": []}
    rows = (
        ("Pods", _pods(cache, info.pods)),
        ("PodsWithAffinity", _pods(cache, info.pods_with_affinity)),
        ("PodsWithRequiredAntiAffinity", _pods(cache, info.pods_with_required_anti_affinity)),
        ("UsedPorts", _cut(f"{ip}:{port}/{protocol}" for ip, protocol, port in info.used_ports)),
        ("Requested", _resource(info.requested)),
        ("NonZeroRequested", _resource(info.non_zero_requested)),
        ("Allocatable", _resource(info.allocatable, len(info.pods))),
        ("ImageStates", _images(info)),
        ("PVCRefCounts", _cut(f"{key} ×{count}" for key, count in info.pvc_ref_counts.items())),
        ("Generation", _generation(cache, name, info.generation)),
    )
    return {
        "rows": [(term, text or say("inspector.none")) for term, text in rows],
        "differs": _difference(world, name, info),
    }


def _pods(cache: CacheState, infos: list[PodInfo]) -> str:
    return _cut(
        say("inspector.assumed-pod", pod=short_name(item.pod.key))
        if item.pod.uid in cache.assumed
        else short_name(item.pod.key)
        for item in infos
    )


def _cut(parts: Iterable[str]) -> str:
    found = list(parts)
    names = ", ".join(found[:MOST])
    return say("lists.more", names=names, count=len(found) - MOST) if len(found) > MOST else names


def _resource(held: Resource, pods: int | None = None) -> str:
    """``pods``: of how many the allowed number is told, None = of none."""
    named = {"cpu": held.milli_cpu, "memory": held.memory, "ephemeral-storage": held.ephemeral_storage, **held.scalar}
    texts = [f"{name.rpartition('/')[2]} {shown(name, number)}" for name, number in named.items() if number]
    if pods is not None and held.allowed_pod_number:
        texts.append(plural(held.allowed_pod_number, "pod"))
    return ", ".join(texts)


def _images(info: NodeInfo) -> str:
    return _cut(
        say(
            "inspector.image-state",
            image=name.rpartition("/")[2],
            size=memory(state.size),
            nodes=plural(state.num_nodes, "node"),
        )
        for name, state in info.image_states.items()
    )


def _generation(cache: CacheState, name: str, generation: int) -> str:
    copied = cache.copied.get(name)
    if copied is None:
        return say("inspector.never-copied", generation=generation)
    if copied == generation:
        return say("inspector.copied", generation=generation)
    return say("inspector.copied-before", generation=generation, copied=copied)


def _difference(world: World, name: str, info: NodeInfo) -> str:
    """Pods that only one of the two counts here, but for those that are assumed."""
    there = {pod.key for pod in world.pods_of(name) if pod.pod.node_name}
    here = {item.pod.key for item in info.pods if item.pod.uid not in world.cache.assumed}
    missing, redundant = sorted(there - {item.pod.key for item in info.pods}), sorted(here - there)
    sentences = (("inspector.cache-lacks", missing), ("inspector.cache-still-counts", redundant))
    return " ".join(say(key, pods=listed([short_name(pod) for pod in pods])) for key, pods in sentences if pods)
