"""What PreFilter counts per topology pair, and how Filter reads it.

Source: seed 002 §3; upstream ``interpodaffinity/filtering.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.node_info import AffinityTerm, NodeInfo, PodInfo
from scheduler_engine.framework.status import Status, unresolvable, unschedulable
from scheduler_engine.plugins.inter_pod_affinity.terms import NO_LABELS, matches_all
from scheduler_engine.plugins.overlay_counts import OverlayCounts

AFFINITY_FAILED = unresolvable("node(s) didn't match pod affinity rules")
ANTI_AFFINITY_FAILED = unschedulable("node(s) didn't match pod anti-affinity rules")
EXISTING_ANTI_AFFINITY_FAILED = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")

Pair = tuple[str, str]
"""(topology key, value)"""


class FilterState:
    """Counts of pods per topology pair.

    ``affinity`` and ``anti_affinity`` count existing pods that the incoming pod's terms mean, ``existing`` those
    whose own required anti-affinity means the incoming pod; ``existing_keys`` are the topology keys in the latter.
    ``terms`` and ``anti_terms`` are the incoming pod's.
    """

    __slots__ = (
        "affinity",
        "anti_affinity",
        "anti_terms",
        "existing",
        "existing_keys",
        "matches_itself",
        "namespace_labels",
        "pod",
        "terms",
    )

    def __init__(
        self,
        pod: Pod,
        terms: tuple[AffinityTerm, ...],
        anti_terms: tuple[AffinityTerm, ...],
        namespace_labels: Mapping[str, str],
    ) -> None:
        self.pod = pod
        self.terms = terms
        self.anti_terms = anti_terms
        self.namespace_labels = namespace_labels
        self.matches_itself = matches_all(terms, pod)
        self.affinity: OverlayCounts[Pair] = OverlayCounts({})
        self.anti_affinity: OverlayCounts[Pair] = OverlayCounts({})
        self.existing: OverlayCounts[Pair] = OverlayCounts({})
        self.existing_keys: tuple[str, ...] = ()

    def clone(self) -> FilterState:
        copied = FilterState.__new__(FilterState)
        copied.pod, copied.terms, copied.anti_terms = self.pod, self.terms, self.anti_terms
        copied.namespace_labels, copied.matches_itself = self.namespace_labels, self.matches_itself
        copied.affinity, copied.anti_affinity = self.affinity.clone(), self.anti_affinity.clone()
        copied.existing, copied.existing_keys = self.existing.clone(), self.existing_keys
        return copied

    def count(self, nodes: Sequence[NodeInfo], with_anti_affinity: Sequence[NodeInfo]) -> None:
        """``nodes`` are all nodes; ``with_anti_affinity`` those that hold pods with required anti-affinity."""
        existing: dict[Pair, int] = {}
        for info in with_anti_affinity:
            if info.node is not None:
                for pod_info in info.pods_with_required_anti_affinity:
                    for pair in self._existing_pairs(pod_info, info.node):
                        existing[pair] = existing.get(pair, 0) + 1
        self.existing = OverlayCounts(existing)
        self.existing_keys = tuple(dict.fromkeys(key for key, _ in existing))
        if self.terms or self.anti_terms:
            self._count_incoming(nodes)

    def _count_incoming(self, nodes: Sequence[NodeInfo]) -> None:
        affinity: dict[Pair, int] = {}
        anti_affinity: dict[Pair, int] = {}
        for info in nodes:
            if info.node is None:
                continue
            for pod_info in info.pods:
                for pair in self._affinity_pairs(pod_info.pod, info.node):
                    affinity[pair] = affinity.get(pair, 0) + 1
                for pair in self._anti_affinity_pairs(pod_info.pod, info.node):
                    anti_affinity[pair] = anti_affinity.get(pair, 0) + 1
        self.affinity, self.anti_affinity = OverlayCounts(affinity), OverlayCounts(anti_affinity)

    def update(self, changed: PodInfo, node: Node | None, delta: int) -> None:
        """``changed`` came to (+1) or left (-1) ``node``."""
        if node is None:
            return
        for pair in self._existing_pairs(changed, node):
            self.existing.add(pair, delta)
            if pair[0] not in self.existing_keys:
                self.existing_keys = (*self.existing_keys, pair[0])
        for pair in self._affinity_pairs(changed.pod, node):
            self.affinity.add(pair, delta)
        for pair in self._anti_affinity_pairs(changed.pod, node):
            self.anti_affinity.add(pair, delta)

    def _existing_pairs(self, existing: PodInfo, node: Node) -> list[Pair]:
        terms = existing.required_anti_affinity_terms
        return _pairs([term for term in terms if term.matches(self.pod, self.namespace_labels)], node)

    def _affinity_pairs(self, existing: Pod, node: Node) -> list[Pair]:
        return _pairs(self.terms, node) if self.terms and matches_all(self.terms, existing) else []

    def _anti_affinity_pairs(self, existing: Pod, node: Node) -> list[Pair]:
        return _pairs([term for term in self.anti_terms if term.matches(existing, NO_LABELS)], node)

    def check(self, labels: Mapping[str, str]) -> Status | None:
        """The first objection to a node with these labels."""
        if not self._satisfies_affinity(labels):
            return AFFINITY_FAILED
        for term in self.anti_terms:
            value = labels.get(term.topology_key)
            if value is not None and self.anti_affinity.get((term.topology_key, value)) > 0:
                return ANTI_AFFINITY_FAILED
        for key in self.existing_keys:
            value = labels.get(key)
            if value is not None and self.existing.get((key, value)) > 0:
                return EXISTING_ANTI_AFFINITY_FAILED
        return None

    def _satisfies_affinity(self, labels: Mapping[str, str]) -> bool:
        """Every term finds a pod in its domain; the first of a group that means itself needs only the keys."""
        found = True
        for term in self.terms:
            value = labels.get(term.topology_key)
            if value is None:
                return False
            if self.affinity.get((term.topology_key, value)) <= 0:
                found = False
        return found or (self.matches_itself and self.affinity.nonzero == 0)


def _pairs(terms: Sequence[AffinityTerm], node: Node) -> list[Pair]:
    """The node's topology pairs that ``terms`` name; those it has no label for are left out."""
    return [(term.topology_key, node.labels[term.topology_key]) for term in terms if term.topology_key in node.labels]
