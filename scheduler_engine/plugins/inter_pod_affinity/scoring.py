"""Weights of preferred terms per topology domain.

Source: seed 002 §3; upstream ``interpodaffinity/scoring.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.interface import MAX_NODE_SCORE
from scheduler_engine.framework.node_info import AffinityTerm, NodeInfo, PodInfo, WeightedAffinityTerm
from scheduler_engine.plugins.inter_pod_affinity.terms import NO_LABELS


class ScoreState:
    """``weights``: topology key → value → sum of weights (anti-affinity counts negative).

    ``preferred``/``preferred_anti`` are the incoming pod's terms; ``hard_weight`` is what a required affinity term of
    an existing pod is worth.
    """

    __slots__ = ("hard_weight", "namespace_labels", "pod", "preferred", "preferred_anti", "weights")

    def __init__(
        self,
        pod: Pod,
        preferred: tuple[WeightedAffinityTerm, ...],
        preferred_anti: tuple[WeightedAffinityTerm, ...],
        namespace_labels: Mapping[str, str],
        hard_weight: int,
    ) -> None:
        self.pod = pod
        self.preferred = preferred
        self.preferred_anti = preferred_anti
        self.namespace_labels = namespace_labels
        self.hard_weight = hard_weight
        self.weights: dict[str, dict[str, int]] = {}

    def count_all(self, nodes: Sequence[NodeInfo]) -> None:
        """Terms of both sides, for every pod: the incoming pod prefers something itself."""
        for info in nodes:
            if info.node is not None and info.node.labels:
                for existing in info.pods:
                    self._count_incoming(existing.pod, info.node)
                    self._count_existing(existing, info.node)

    def count_existing(self, nodes: Sequence[NodeInfo]) -> None:
        """Only what existing pods prefer of the incoming one."""
        for info in nodes:
            if info.node is not None and info.node.labels:
                for existing in info.pods_with_affinity:
                    self._count_existing(existing, info.node)

    def _count_incoming(self, existing: Pod, node: Node) -> None:
        for weighted in self.preferred:
            self._add(weighted.term, weighted.weight, existing, NO_LABELS, node)
        for weighted in self.preferred_anti:
            self._add(weighted.term, -weighted.weight, existing, NO_LABELS, node)

    def _count_existing(self, existing: PodInfo, node: Node) -> None:
        if self.hard_weight > 0:
            for term in existing.required_affinity_terms:
                self._add(term, self.hard_weight, self.pod, self.namespace_labels, node)
        for weighted in existing.preferred_affinity_terms:
            self._add(weighted.term, weighted.weight, self.pod, self.namespace_labels, node)
        for weighted in existing.preferred_anti_affinity_terms:
            self._add(weighted.term, -weighted.weight, self.pod, self.namespace_labels, node)

    def _add(self, term: AffinityTerm, weight: int, meant: Pod, labels: Mapping[str, str], node: Node) -> None:
        value = node.labels.get(term.topology_key)
        if value is not None and term.matches(meant, labels):
            domains = self.weights.setdefault(term.topology_key, {})
            domains[value] = domains.get(value, 0) + weight

    def score(self, labels: Mapping[str, str]) -> int:
        """Raw score of a node with these labels; may be negative."""
        total = 0
        for key, domains in self.weights.items():
            value = labels.get(key)
            if value is not None:
                total += domains.get(value, 0)
        return total

    def normalize(self, scores: dict[str, int]) -> None:
        """Stretch over 0–100 in place; when all are equal everyone gets 0."""
        lowest, highest = min(scores.values(), default=0), max(scores.values(), default=0)
        for name, score in scores.items():
            share = (score - lowest) / (highest - lowest) if highest > lowest else 0.0
            scores[name] = int(MAX_NODE_SCORE * share)
