"""Weights of preferred terms per topology domain.

Source: seed 002 §3; upstream ``interpodaffinity/scoring.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.interface import MAX_NODE_SCORE
from scheduler_engine.framework.node_info import AffinityTerm, NodeInfo, PodInfo, WeightedAffinityTerm
from scheduler_engine.plugins.inter_pod_affinity.terms import NO_LABELS
from scheduler_engine.plugins.inter_pod_affinity.who import Met, NamesPods, Pair, Wish

LIKES, DISLIKES = "likes", "dislikes"
"""The incoming pod's preferences."""
THEY_LIKE, THEY_DISLIKE, THEY_NEED = "they-like", "they-dislike", "they-need"
THEIRS = THEY_LIKE, THEY_DISLIKE, THEY_NEED
"""Existing pods' preferences for it."""


class ScoreState(NamesPods):
    """``weights``: topology key → value → sum of weights (anti-affinity counts negative).

    ``preferred`` are the incoming pod's preferences; ``hard_weight`` is the weight of an existing pod's required
    affinity term.
    """

    __slots__ = ("hard_weight", "namespace_labels", "pod", "preferred", "weights")

    def __init__(
        self,
        pod: Pod,
        preferred: tuple[WeightedAffinityTerm, ...],
        preferred_anti: tuple[WeightedAffinityTerm, ...],
        namespace_labels: Mapping[str, str],
        hard_weight: int,
    ) -> None:
        self.pod = pod
        self.preferred: tuple[Wish, ...] = (
            *((LIKES, item.term, item.weight) for item in preferred),
            *((DISLIKES, item.term, -item.weight) for item in preferred_anti),
        )
        self.namespace_labels = namespace_labels
        self.hard_weight = hard_weight
        self.weights: dict[str, dict[str, int]] = {}
        self.known = None

    def count_all(self, nodes: Sequence[NodeInfo]) -> None:
        """Count the terms of both sides, for every pod: the incoming pod has preferences."""
        self._count((info.node, info.pods) for info in nodes)

    def count_existing(self, nodes: Sequence[NodeInfo]) -> None:
        """Count only existing pods' preferences for the incoming one."""
        self._count((info.node, info.pods_with_affinity) for info in nodes)

    def _count(self, there: Iterable[tuple[Node | None, Sequence[PodInfo]]]) -> None:
        weights, meet = self.weights, self.meet
        for node, pods in there:
            if node is not None and node.labels:
                for existing in pods:
                    for (_, _, weight), (key, value) in meet(existing, node):
                        domains = weights.setdefault(key, {})
                        domains[value] = domains.get(value, 0) + weight

    def meet(self, existing: PodInfo, node: Node) -> list[Met]:
        met: list[Met] = []
        for wish in self.preferred:
            pair = domain_of(wish[1], existing.pod, NO_LABELS, node)
            if pair is not None:
                met.append((wish, pair))
        if self.hard_weight > 0:
            for term in existing.required_affinity_terms:
                self._meet(met, THEY_NEED, term, self.hard_weight, node)
        for item in existing.preferred_affinity_terms:
            self._meet(met, THEY_LIKE, item.term, item.weight, node)
        for item in existing.preferred_anti_affinity_terms:
            self._meet(met, THEY_DISLIKE, item.term, -item.weight, node)
        return met

    def _meet(self, met: list[Met], kind: str, term: AffinityTerm, weight: int, node: Node) -> None:
        pair = domain_of(term, self.pod, self.namespace_labels, node)
        if pair is not None:
            met.append(((kind, term, weight), pair))

    def score(self, labels: Mapping[str, str]) -> int:
        """Return the raw score of a node with these labels; may be negative."""
        total = 0
        for key, domains in self.weights.items():
            value = labels.get(key)
            if value is not None:
                total += domains.get(value, 0)
        return total

    def normalize(self, scores: dict[str, int]) -> None:
        """Scale to 0–100 in place; if all are equal every node gets 0."""
        lowest, highest = min(scores.values(), default=0), max(scores.values(), default=0)
        for name, score in scores.items():
            share = (score - lowest) / (highest - lowest) if highest > lowest else 0.0
            scores[name] = int(MAX_NODE_SCORE * share)


def domain_of(term: AffinityTerm, meant: Pod, namespace_labels: Mapping[str, str], node: Node) -> Pair | None:
    """Return the domain in which ``term`` counts on ``node``; None if it does not select the pod, or lacks a label."""
    value = node.labels.get(term.topology_key)
    return (term.topology_key, value) if value is not None and term.matches(meant, namespace_labels) else None
