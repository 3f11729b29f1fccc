"""NodeInfo: the scheduler's data on one node, aggregated over its pods.

Source: seed 001 (cache and snapshot); upstream ``framework/types.go``. The cache stamps ``generation``; a NodeInfo
has no counter itself, so copies for dry runs leave no trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.computed import computed
from scheduler_engine.api.labels import Selector, selector_from
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.pod_resources import PodResource, Resource, pod_resource, resource_from


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """One term of pod (anti-)affinity, ready to match.

    ``namespaces`` are those listed, or else the pod's own; ``namespace_selector`` matches Namespace labels (nothing
    if absent).
    """

    namespaces: tuple[str, ...]
    selector: Selector
    topology_key: str
    namespace_selector: Selector

    def matches(self, pod: Pod, namespace_labels: Mapping[str, str] | None) -> bool:
        """Return True if the term selects ``pod``; ``namespace_labels`` of its namespace, None = not looked up."""
        in_namespace = pod.namespace in self.namespaces or (
            namespace_labels is not None and self.namespace_selector.matches(namespace_labels)
        )
        return in_namespace and self.selector.matches(pod.labels)


@dataclass(frozen=True, slots=True)
class WeightedAffinityTerm:
    weight: int
    term: AffinityTerm


def affinity_term(pod: Pod, manifest: Mapping[str, Any]) -> AffinityTerm:
    """Build the term from a PodAffinityTerm of ``pod``."""
    namespaces = tuple(manifest.get("namespaces") or ())
    namespace_selector = manifest.get("namespaceSelector")
    if not namespaces and namespace_selector is None:
        namespaces = (pod.namespace,)
    return AffinityTerm(
        namespaces,
        selector_from(manifest.get("labelSelector")),
        manifest.get("topologyKey") or "",
        selector_from(namespace_selector),
    )


class PodInfo:
    """A pod with its affinity terms and resources precomputed. Immutable, shared between copies."""

    def __init__(self, pod: Pod) -> None:
        self.pod = pod

    @computed
    def resource(self) -> PodResource:
        return pod_resource(self.pod)

    @computed
    def required_affinity_terms(self) -> tuple[AffinityTerm, ...]:
        return self._required("podAffinity")

    @computed
    def required_anti_affinity_terms(self) -> tuple[AffinityTerm, ...]:
        return self._required("podAntiAffinity")

    @computed
    def preferred_affinity_terms(self) -> tuple[WeightedAffinityTerm, ...]:
        return self._preferred("podAffinity")

    @computed
    def preferred_anti_affinity_terms(self) -> tuple[WeightedAffinityTerm, ...]:
        return self._preferred("podAntiAffinity")

    def _required(self, side: str) -> tuple[AffinityTerm, ...]:
        listed = (self.pod.affinity.get(side) or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        return tuple(affinity_term(self.pod, item) for item in listed)

    def _preferred(self, side: str) -> tuple[WeightedAffinityTerm, ...]:
        listed = (self.pod.affinity.get(side) or {}).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        return tuple(
            WeightedAffinityTerm(item.get("weight", 0), affinity_term(self.pod, item.get("podAffinityTerm") or {}))
            for item in listed
        )

    def __deepcopy__(self, memo: dict[int, object]) -> PodInfo:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return PodInfo, (self.pod,)


@dataclass(slots=True)
class ImageStateSummary:
    """``size`` in bytes; ``num_nodes`` = how many nodes had the image when the NodeInfo was copied from the cache. The
    cache's own NodeInfos do not count nodes.
    """

    size: int
    num_nodes: int


@dataclass(slots=True, eq=False)
class NodeInfo:
    """``node`` is None and ``name`` "" for a ghost (node gone, pods still there). Amounts: millicores and bytes.

    ``slot``: its number in a snapshot, -1 for the cache's own and for copies of dry runs. Copies of a simulation share
    NodeInfos, so clone one before you change it, unless nobody else can have it.
    """

    node: Node | None = None
    pods: list[PodInfo] = field(default_factory=list)
    pods_with_affinity: list[PodInfo] = field(default_factory=list)
    pods_with_required_anti_affinity: list[PodInfo] = field(default_factory=list)
    used_ports: dict[tuple[str, str, int], None] = field(default_factory=dict)
    requested: Resource = field(default_factory=Resource)
    non_zero_requested: Resource = field(default_factory=Resource)
    allocatable: Resource = field(default_factory=Resource)
    image_states: dict[str, ImageStateSummary] = field(default_factory=dict)
    pvc_ref_counts: dict[str, int] = field(default_factory=dict)
    generation: int = 0
    name: str = ""
    slot: int = -1

    def set_node(self, node: Node) -> None:
        self.node = node
        self.name = node.name
        self.allocatable = resource_from(node.allocatable)

    def remove_node(self) -> None:
        """Remove the node but keep its pods, as a ghost."""
        self.node = None
        self.name = ""

    def add_pod_info(self, info: PodInfo) -> None:
        self.pods.append(info)
        if info.pod.has_pod_affinity:
            self.pods_with_affinity.append(info)
        if info.pod.has_required_anti_affinity:
            self.pods_with_required_anti_affinity.append(info)
        self._account(info, 1)

    def add_pod(self, pod: Pod) -> None:
        self.add_pod_info(PodInfo(pod))

    def remove_pod(self, pod: Pod) -> PodInfo:
        """Remove ``pod`` (same uid). Raises KeyError with Kubernetes' text if it is not there."""
        if pod.has_pod_affinity:
            _take_out(self.pods_with_affinity, pod.uid)
        if pod.has_required_anti_affinity:
            _take_out(self.pods_with_required_anti_affinity, pod.uid)
        removed = _take_out(self.pods, pod.uid)
        if removed is None:
            raise KeyError(f"no corresponding pod {pod.name} in pods of node {self.name}")
        self._account(removed, -1)
        return removed

    def _account(self, info: PodInfo, sign: int) -> None:
        resource = info.resource
        self.requested.add(resource.request, sign)
        self.non_zero_requested.milli_cpu += sign * resource.non_zero_milli_cpu
        self.non_zero_requested.memory += sign * resource.non_zero_memory
        for port in info.pod.host_ports:
            if sign > 0:
                self.used_ports[port] = None
            else:
                self.used_ports.pop(port, None)
        for claim in info.pod.claim_names:
            key = f"{info.pod.namespace}/{claim}"
            count = self.pvc_ref_counts.get(key, 0) + sign
            if count > 0:
                self.pvc_ref_counts[key] = count
            else:
                self.pvc_ref_counts.pop(key, None)

    def clone(self) -> NodeInfo:
        """Copy, to change the copy: containers are copied, immutable pods and nodes shared."""
        return NodeInfo(
            self.node,
            list(self.pods),
            list(self.pods_with_affinity),
            list(self.pods_with_required_anti_affinity),
            dict(self.used_ports),
            self.requested.clone(),
            self.non_zero_requested.clone(),
            self.allocatable,
            dict(self.image_states),
            dict(self.pvc_ref_counts),
            self.generation,
            self.name,
        )

    def shared(self, image_states: dict[str, ImageStateSummary], slot: int) -> NodeInfo:
        """Return a NodeInfo with the same containers. From now on, neither may change."""
        return NodeInfo(
            self.node,
            self.pods,
            self.pods_with_affinity,
            self.pods_with_required_anti_affinity,
            self.used_ports,
            self.requested,
            self.non_zero_requested,
            self.allocatable,
            image_states,
            self.pvc_ref_counts,
            self.generation,
            self.name,
            slot,
        )

    def __deepcopy__(self, memo: dict[int, object]) -> NodeInfo:
        return self


def _take_out(infos: list[PodInfo], uid: str) -> PodInfo | None:
    """Remove by uid and move the last one into the gap, as in Kubernetes (the order shows in dumps)."""
    # Usually it is the last one: an assumed pod, which the bound one replaces.
    if infos and infos[-1].pod.uid == uid:
        return infos.pop()
    for index, info in enumerate(infos):
        if info.pod.uid == uid:
            infos[index] = infos[-1]
            infos.pop()
            return info
    return None


def removed_pods(before: NodeInfo | None, now: NodeInfo) -> list[Pod]:
    """Return the pods of ``before`` that are not in ``now``: those that a dry run of preemption removed."""
    if before is None or before is now:
        return []
    left = {info.pod.uid for info in now.pods}
    return [info.pod for info in before.pods if info.pod.uid not in left]
