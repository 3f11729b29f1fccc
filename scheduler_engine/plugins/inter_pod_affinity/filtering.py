"""The counts of PreFilter per topology pair, and how Filter reads them.

Source: seed 002 §3; upstream ``interpodaffinity/filtering.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.node_info import AffinityTerm, NodeInfo, PodInfo
from scheduler_engine.framework.status import Status, unresolvable, unschedulable
from scheduler_engine.plugins.inter_pod_affinity.terms import NO_LABELS, matches_all
from scheduler_engine.plugins.inter_pod_affinity.who import Met, NamesPods, Pair
from scheduler_engine.plugins.overlay_counts import OverlayCounts

AFFINITY_FAILED = unresolvable("node(s) didn't match pod affinity rules")
ANTI_AFFINITY_FAILED = unschedulable("node(s) didn't match pod anti-affinity rules")
EXISTING_ANTI_AFFINITY_FAILED = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
NEAR, FAR, KEEPS_OFF = "near", "far", "keeps-off"
TermDomain = tuple[AffinityTerm, Pair]
"""A term that selects a pod, and the domain in which it counts."""


class FilterState(NamesPods):
    """Counts of pods per topology pair.

    ``affinity`` and ``anti_affinity`` count existing pods that the incoming pod's terms select, ``existing`` those
    whose own required anti-affinity selects the incoming pod; ``existing_keys`` are its topology keys.
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
        self.known = None

    def clone(self) -> FilterState:
        copied = FilterState.__new__(FilterState)
        copied.pod, copied.terms, copied.anti_terms = self.pod, self.terms, self.anti_terms
        copied.namespace_labels, copied.matches_itself = self.namespace_labels, self.matches_itself
        copied.affinity, copied.anti_affinity = self.affinity.clone(), self.anti_affinity.clone()
        copied.existing, copied.existing_keys = self.existing.clone(), self.existing_keys
        copied.known = self.known
        return copied

    def count(self, nodes: Sequence[NodeInfo], with_anti_affinity: Sequence[NodeInfo]) -> None:
        """Count on all ``nodes``; ``with_anti_affinity`` are those with pods that have required anti-affinity."""
        existing: dict[Pair, int] = {}
        for info in with_anti_affinity:
            if info.node is not None:
                for pod_info in info.pods_with_required_anti_affinity:
                    for _, pair in self.keepers(pod_info, info.node):
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
                for _, pair in self.near(pod_info.pod, info.node):
                    affinity[pair] = affinity.get(pair, 0) + 1
                for _, pair in self.far(pod_info.pod, info.node):
                    anti_affinity[pair] = anti_affinity.get(pair, 0) + 1
        self.affinity, self.anti_affinity = OverlayCounts(affinity), OverlayCounts(anti_affinity)

    def update(self, changed: PodInfo, node: Node | None, delta: int) -> None:
        """Update the counts: ``changed`` came to (+1) or left (-1) ``node``."""
        if node is None:
            return
        for _, pair in self.keepers(changed, node):
            self.existing.add(pair, delta)
            if pair[0] not in self.existing_keys:
                self.existing_keys = (*self.existing_keys, pair[0])
        for _, pair in self.near(changed.pod, node):
            self.affinity.add(pair, delta)
        for _, pair in self.far(changed.pod, node):
            self.anti_affinity.add(pair, delta)

    def meet(self, existing: PodInfo, node: Node) -> list[Met]:
        return [
            *(((NEAR, term, 0), pair) for term, pair in self.near(existing.pod, node)),
            *(((FAR, term, 0), pair) for term, pair in self.far(existing.pod, node)),
            *(((KEEPS_OFF, term, 0), pair) for term, pair in self.keepers(existing, node)),
        ]

    def near(self, existing: Pod, node: Node) -> list[TermDomain]:
        return _with_domains(self.terms, node) if self.terms and matches_all(self.terms, existing) else []

    def far(self, existing: Pod, node: Node) -> list[TermDomain]:
        return _with_domains([term for term in self.anti_terms if term.matches(existing, NO_LABELS)], node)

    def keepers(self, existing: PodInfo, node: Node) -> list[TermDomain]:
        terms = existing.required_anti_affinity_terms
        return _with_domains([term for term in terms if term.matches(self.pod, self.namespace_labels)], node)

    def check(self, labels: Mapping[str, str]) -> Status | None:
        """Return the first objection to a node with these labels."""
        if self.terms and not self._satisfies_affinity(labels):
            return AFFINITY_FAILED
        if self.anti_affinity.nonzero:
            for term in self.anti_terms:
                if there(self.anti_affinity, term.topology_key, labels) > 0:
                    return ANTI_AFFINITY_FAILED
        if self.existing.nonzero:
            for key in self.existing_keys:
                if there(self.existing, key, labels) > 0:
                    return EXISTING_ANTI_AFFINITY_FAILED
        return None

    def _satisfies_affinity(self, labels: Mapping[str, str]) -> bool:
        """Check that every term finds a pod; the first pod of a self-matching group needs only the keys."""
        satisfied = True
        for term in self.terms:
            if term.topology_key not in labels:
                return False
            if there(self.affinity, term.topology_key, labels) <= 0:
                satisfied = False
        return satisfied or self.first_of_group

    @property
    def first_of_group(self) -> bool:
        """Return True if the affinity terms select only the pod itself."""
        return self.matches_itself and self.affinity.nonzero == 0


def there(counts: OverlayCounts[Pair], key: str, labels: Mapping[str, str]) -> int:
    """Return the count in the node's domain; 0 if it is in none."""
    value = labels.get(key)
    return 0 if value is None else counts.get((key, value))


def _with_domains(terms: Sequence[AffinityTerm], node: Node) -> list[TermDomain]:
    """Return ``terms`` with the node's domains, without those whose label it lacks."""
    labels = node.labels
    return [(term, (term.topology_key, labels[term.topology_key])) for term in terms if term.topology_key in labels]
