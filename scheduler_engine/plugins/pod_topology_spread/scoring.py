"""Scores for soft constraints: fewer matching pods in a node's domains are better.

Source: seed 002 §4; upstream ``podtopologyspread/scoring.go``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.framework.interface import MAX_NODE_SCORE
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.plugins.pod_topology_spread.constraints import (
    SpreadConstraint,
    count_matching,
    has_all_keys,
)


class ScoreState:
    """``ignored``: feasible nodes without all topology keys. ``counts``: per constraint, matching pods per domain.

    Pods per host are counted when the node is scored. ``sizes`` are the numbers of domains, or of hosts. ``judged``:
    each constraint with its counts (None: per host) and the weight of a pod, which grows with the size, so that a
    large topology does not drown the domains of a small one.
    """

    __slots__ = ("all_keys", "constraints", "counts", "ignored", "judged", "pod", "sizes")

    def __init__(
        self, pod: Pod, constraints: tuple[SpreadConstraint, ...], nodes: Sequence[NodeInfo], all_keys: bool
    ) -> None:
        """Prepare for the feasible ``nodes``. ``all_keys``: a node must have every topology key to count."""
        self.pod = pod
        self.constraints = constraints
        self.all_keys = all_keys
        self.ignored: dict[str, None] = {}
        self.counts: list[dict[str, int]] = [{} for _ in constraints]
        for info in nodes:
            labels = info.node.labels if info.node is not None else {}
            if all_keys and not has_all_keys(labels, constraints):
                self.ignored[info.name] = None
                continue
            for constraint, counts in zip(constraints, self.counts, strict=True):
                if constraint.topology_key != HOSTNAME:
                    counts.setdefault(labels.get(constraint.topology_key, ""), 0)
        hosts = len(nodes) - len(self.ignored)
        self.sizes = [
            hosts if constraint.topology_key == HOSTNAME else len(counts)
            for constraint, counts in zip(constraints, self.counts, strict=True)
        ]
        self.judged: list[tuple[SpreadConstraint, dict[str, int] | None, float]] = [
            (constraint, None if constraint.topology_key == HOSTNAME else counts, math.log(size + 2))
            for constraint, counts, size in zip(constraints, self.counts, self.sizes, strict=True)
        ]

    def count(self, nodes: Sequence[NodeInfo]) -> None:
        """Count matching pods on ``nodes`` (all of the cluster) in the domains that hold a feasible node."""
        for info in nodes:
            node = info.node
            if node is None or not info.pods or (self.all_keys and not has_all_keys(node.labels, self.constraints)):
                continue
            for constraint, counts in zip(self.constraints, self.counts, strict=True):
                value = node.labels.get(constraint.topology_key, "")
                if value in counts and constraint.counts_node(self.pod, node):
                    counts[value] += count_matching(info.pods, constraint.selector, self.pod.namespace)

    def score(self, info: NodeInfo) -> int:
        """Return the raw score of a feasible node: high means crowded."""
        if info.node is None or info.name in self.ignored:
            return 0
        total = 0.0
        for _, added in self.crowds(info):
            total += added
        whole = int(total)
        return whole + 1 if total - whole >= 0.5 else whole

    def crowds(self, info: NodeInfo) -> list[tuple[int | None, float]]:
        """Return per constraint the matching pods in the node's domain (None: no domain), and what these add."""
        labels = info.node.labels if info.node is not None else {}
        crowds: list[tuple[int | None, float]] = []
        for constraint, counts, weight in self.judged:
            value = labels.get(constraint.topology_key)
            if value is None:
                number, added = None, 0.0
            else:
                if counts is None:
                    number = count_matching(info.pods, constraint.selector, self.pod.namespace)
                else:
                    number = counts[value]
                added = number * weight + (constraint.max_skew - 1)
            crowds.append((number, added))
        return crowds

    def extremes(self, scores: Mapping[str, int]) -> tuple[int, int]:
        """Return the highest and lowest raw score of nodes that are not ignored."""
        kept = [score for name, score in scores.items() if name not in self.ignored]
        return max(kept, default=0), min(kept, default=0)

    def normalize(self, scores: dict[str, int]) -> None:
        """Convert crowdedness to 0–100, in place; ignored nodes get 0."""
        highest, lowest = self.extremes(scores)
        for name, score in scores.items():
            if name in self.ignored:
                scores[name] = 0
            elif highest == 0:
                scores[name] = MAX_NODE_SCORE
            else:
                scores[name] = MAX_NODE_SCORE * (highest + lowest - score) // highest
