"""A node's NodeInfo: what the cache of the scheduler in focus counts there, compared with the API server."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import Pager, on_page, pager
from sandbox.panels.model.cache import CacheState
from sandbox.panels.model.state import amounts_of
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import memory, short_name, shown
from sandbox.words.phrases import listed, plural
from sandbox.words.say import say
from scheduler_engine.api.pod_resources import Resource
from scheduler_engine.framework.node_info import NodeInfo, PodInfo

FEW, PAGE = 12, 100


def node_info(world: World, name: str, view: View) -> dict[str, Any]:
    """Return ``rows``: (field, values, their pages), in the order of Kubernetes' struct; none for an unknown node."""
    cache = world.cache
    info = cache.node_info(name)
    if info is None:
        return {"rows": []}
    rows = (
        ("Pods", _pods(cache, info.pods)),
        ("PodsWithAffinity", _pods(cache, info.pods_with_affinity)),
        ("PodsWithRequiredAntiAffinity", _pods(cache, info.pods_with_required_anti_affinity)),
        ("UsedPorts", [f"{ip}:{port}/{protocol}" for ip, protocol, port in info.used_ports]),
        ("Requested", _resource(info.requested)),
        ("NonZeroRequested", _resource(info.non_zero_requested)),
        ("Allocatable", _resource(info.allocatable, len(info.pods))),
        ("ImageStates", _images(info)),
        ("PVCRefCounts", [f"{key} ×{count}" for key, count in info.pvc_ref_counts.items()]),
        ("Generation", [_generation(cache, name, info.generation)]),
    )
    return {"rows": [_row(view, term, parts) for term, parts in rows], "differs": _difference(world, name, info)}


def _row(view: View, term: str, parts: list[str]) -> tuple[str, str, Pager]:
    pages = pager(len(parts), view, f"inspector.{term}", PAGE, few=FEW)
    return term, ", ".join(on_page(parts, pages)) or say("inspector.none"), pages


def _pods(cache: CacheState, infos: list[PodInfo]) -> list[str]:
    names = ((short_name(item.pod.key), item.pod.uid in cache.assumed) for item in infos)
    return [say("inspector.assumed-pod", pod=name) if is_assumed else name for name, is_assumed in names]


def _resource(resource: Resource, pods: int | None = None) -> list[str]:
    """Return amounts in words. ``pods``: number of pods on the node, None to leave out the allowed number."""
    texts = [f"{name.rpartition('/')[2]} {shown(name, number)}" for name, number in amounts_of(resource).items()]
    if pods is not None and resource.allowed_pod_number:
        texts.append(plural(resource.allowed_pod_number, "pod"))
    return texts


def _images(info: NodeInfo) -> list[str]:
    texts = []
    for name, state in info.image_states.items():
        image, size, nodes = name.rpartition("/")[2], memory(state.size), plural(state.num_nodes, "node")
        texts.append(say("inspector.image-state", image=image, size=size, nodes=nodes))
    return texts


def _generation(cache: CacheState, name: str, generation: int) -> str:
    copied = cache.copied.get(name)
    if copied is None:
        return say("inspector.never-copied", generation=generation)
    if copied == generation:
        return say("inspector.copied", generation=generation)
    return say("inspector.copied-before", generation=generation, copied=copied)


def _difference(world: World, name: str, info: NodeInfo) -> str:
    """Return which pods only the cache or only the API server counts here, without assumed ones."""
    bound = {pod.key for pod in world.pods_of(name) if pod.pod.node_name}
    counted = {item.pod.key for item in info.pods if item.pod.uid not in world.cache.assumed}
    missing, redundant = sorted(bound - {item.pod.key for item in info.pods}), sorted(counted - bound)
    sentences = (("inspector.cache-lacks", missing), ("inspector.cache-still-counts", redundant))
    return " ".join(say(key, pods=listed([short_name(pod) for pod in pods])) for key, pods in sentences if pods)
