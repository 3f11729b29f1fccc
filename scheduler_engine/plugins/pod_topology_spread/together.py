"""The counts of a cycle as arrays by domain, kept from cycle to cycle: only nodes that have changed are counted again.

They decide as ``filtering.py`` and ``scoring.py`` do. Whoever asks about a single node, tries a dry run or wants facts
gets their state, counted anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.framework.amounts import IntArray, Mask
from scheduler_engine.framework.columns import Columns
from scheduler_engine.framework.interface import MAX_NODE_SCORE, NodeInfoLister
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes, Topology
from scheduler_engine.framework.status import Status
from scheduler_engine.plugins.pod_topology_spread.constraints import SpreadConstraint, count_matching
from scheduler_engine.plugins.pod_topology_spread.filtering import (
    LABEL_MISSING,
    NO_DOMAIN,
    SKEWED,
    FilterState,
    filter_state,
)
from scheduler_engine.plugins.pod_topology_spread.scoring import ScoreState


class Counter:
    """Counts matching pods on the nodes of a snapshot, for one incoming pod."""

    __slots__ = ("columns", "everything", "pod", "snapshot")

    def __init__(self, columns: Columns, snapshot: NodeInfoLister, pod: Pod) -> None:
        self.columns = columns
        self.snapshot = snapshot
        self.pod = pod
        self.everything = Nodes(snapshot.slots.infos, snapshot.order)

    def topology(self, constraint: SpreadConstraint) -> Topology:
        return self.snapshot.slots.topology(constraint.topology_key)

    def matching(self, constraint: SpreadConstraint, nodes: Nodes) -> IntArray:
        """Return the number of matching pods on each of the nodes."""
        namespace, selector = self.pod.namespace, constraint.selector
        ask = partial(_matching, selector=selector, namespace=namespace)
        return self.columns.numbers(("spread", namespace, selector), nodes, self.snapshot.slots, ask)

    def included(self, constraint: SpreadConstraint) -> Mask:
        """Return which nodes of the cluster the inclusion policies include."""
        pod = self.pod
        affinity = (
            (pod.spec.get("nodeSelector"), pod.affinity.get("nodeAffinity")) if constraint.honors_affinity else ()
        )
        tolerations = (pod.tolerations, constraint.compares) if constraint.honors_taints else None
        if not any(affinity) and tolerations is None:
            return np.ones(len(self.everything), dtype=bool)
        sign = "included", repr(affinity), tolerations
        ask = partial(_included, constraint=constraint, pod=pod)
        return self.columns.numbers(sign, self.everything, self.snapshot.slots, ask, reads_pods=False) > 0

    def with_all_keys(self, constraints: Sequence[SpreadConstraint]) -> Mask:
        """Return which nodes of the cluster have every topology key."""
        has = np.ones(len(self.everything), dtype=bool)
        for constraint in constraints:
            has &= self.topology(constraint).codes[self.everything.slots] >= 0
        return has


def _matching(info: NodeInfo, selector: Any, namespace: str) -> int:
    return count_matching(info.pods, selector, namespace) if info.pods else 0


def _included(info: NodeInfo, constraint: SpreadConstraint, pod: Pod) -> int:
    return int(info.node is not None and constraint.counts_node(pod, info.node))


class FilterCounts:
    """Stands for a ``FilterState``. ``judged``: per constraint its topology, the matching pods by domain, and the most
    that a domain may have.
    """

    __slots__ = ("constraints", "judged", "nodes", "pod", "state")

    def __init__(self, counter: Counter, constraints: tuple[SpreadConstraint, ...], nodes: Sequence[NodeInfo]) -> None:
        self.pod = counter.pod
        self.constraints = constraints
        self.nodes = nodes
        self.state: FilterState | None = None
        has_all = counter.with_all_keys(constraints)
        self.judged = [self._judged(counter, constraint, has_all) for constraint in constraints]

    def _judged(self, counter: Counter, constraint: SpreadConstraint, has_all: Mask) -> tuple[Topology, IntArray, int]:
        topology = counter.topology(constraint)
        counted = Nodes(counter.everything.infos, counter.everything.slots[has_all & counter.included(constraint)])
        places, size = topology.codes[counted.slots], len(topology.values)
        # One more for nodes without the label, whose place is -1.
        counts = np.bincount(places, counter.matching(constraint, counted), size + 1).astype(np.int64)
        present = np.bincount(places, minlength=size) > 0
        lowest = int(counts[:size][present].min(initial=NO_DOMAIN))
        minimum = 0 if np.count_nonzero(present) < constraint.min_domains else lowest
        self_match = 1 if constraint.selector.matches(counter.pod.labels) else 0
        return topology, counts, constraint.max_skew + minimum - self_match

    def judge(self, nodes: Nodes) -> list[tuple[Status | None, Mask]]:
        passing, missing, skewed = (np.full(len(nodes), start) for start in (True, False, False))
        for topology, counts, most in self.judged:
            places = topology.codes[nodes.slots]
            missing |= passing & (places < 0)
            passing &= places >= 0
            skewed |= passing & (counts[places] > most)
            passing &= ~skewed
        return [(None, passing), (LABEL_MISSING, missing), (SKEWED, skewed)]

    def plain(self) -> FilterState:
        if self.state is None:
            self.state = filter_state(self.pod, self.constraints, self.nodes)
        return self.state

    def clone(self) -> FilterState:
        return self.plain().clone()


class ScoreCounts:
    """Stands for a ``ScoreState`` of the feasible ``nodes``. ``judged``: per constraint which nodes are in a domain,
    the matching pods in it, and the weight of a pod.
    """

    __slots__ = ("all_keys", "constraints", "everything", "ignored", "judged", "nodes", "pod", "state")

    def __init__(
        self,
        counter: Counter,
        constraints: tuple[SpreadConstraint, ...],
        nodes: Nodes,
        all_keys: bool,
        everything: Sequence[NodeInfo],
    ) -> None:
        self.pod = counter.pod
        self.constraints = constraints
        self.nodes = nodes
        self.all_keys = all_keys
        self.everything = everything
        self.state: ScoreState | None = None
        self.ignored = np.zeros(len(nodes), dtype=bool)
        if all_keys:
            for constraint in constraints:
                self.ignored |= counter.topology(constraint).codes[nodes.slots] < 0
        has_all = counter.with_all_keys(constraints) if all_keys else np.ones(len(counter.everything), dtype=bool)
        self.judged = [self._judged(counter, constraint, has_all) for constraint in constraints]

    def _judged(
        self, counter: Counter, constraint: SpreadConstraint, has_all: Mask
    ) -> tuple[Mask, IntArray, float, SpreadConstraint]:
        topology, kept = counter.topology(constraint), ~self.ignored
        # Place 0 is for nodes without the label.
        places = topology.codes[self.nodes.slots] + 1
        if constraint.topology_key == HOSTNAME:
            size, matching = int(np.count_nonzero(kept)), counter.matching(constraint, self.nodes)
        else:
            present = np.zeros(len(topology.values) + 1, dtype=bool)
            present[places[kept]] = True
            size = int(np.count_nonzero(present))
            everywhere = topology.codes[counter.everything.slots] + 1
            counts = has_all & present[everywhere] & counter.included(constraint)
            counted = Nodes(counter.everything.infos, counter.everything.slots[counts])
            numbers = counter.matching(constraint, counted)
            matching = np.bincount(everywhere[counts], numbers, len(present)).astype(np.int64)[places]
        return places > 0, matching, math.log(size + 2), constraint

    def score(self) -> IntArray:
        total = np.zeros(len(self.nodes))
        for there, matching, weight, constraint in self.judged:
            total = total + np.where(there, matching * weight + (constraint.max_skew - 1), 0.0)
        whole = np.floor(total)
        rounded = np.where(total - whole >= 0.5, whole + 1, whole).astype(np.int64)
        return np.where(self.ignored, 0, rounded)

    def normalize(self, scores: IntArray) -> IntArray:
        kept = scores[~self.ignored]
        highest, lowest = (int(kept.max()), int(kept.min())) if len(kept) else (0, 0)
        if highest == 0:
            return np.where(self.ignored, 0, MAX_NODE_SCORE)
        return np.where(self.ignored, 0, MAX_NODE_SCORE * (highest + lowest - scores) // highest)

    def plain(self) -> ScoreState:
        if self.state is None:
            self.state = ScoreState(self.pod, self.constraints, self.nodes, self.all_keys)
            self.state.count(self.everything)
        return self.state


def score_counts(
    counter: Counter,
    constraints: tuple[SpreadConstraint, ...],
    nodes: Sequence[NodeInfo],
    all_keys: bool,
    everything: Sequence[NodeInfo],
) -> ScoreCounts | None:
    """Return the counts for the feasible nodes. None: an empty label value cannot be told from a missing label."""
    if not isinstance(nodes, Nodes) or nodes.infos is not counter.everything.infos:
        return None
    if not all_keys and any("" in counter.topology(constraint).places for constraint in constraints):
        return None
    return ScoreCounts(counter, constraints, nodes, all_keys, everything)
