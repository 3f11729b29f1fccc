"""The counts of a cycle by domain, kept from cycle to cycle: only nodes that have changed are counted again.

They decide as ``filtering.py`` and ``scoring.py`` do. Whoever asks about a single node, tries a dry run or wants facts
gets their state, counted anew.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.amounts import IntArray, Mask
from scheduler_engine.framework.columns import Columns, Part, Tally
from scheduler_engine.framework.interface import MAX_NODE_SCORE, NodeInfoLister
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes, Slots
from scheduler_engine.framework.status import Status
from scheduler_engine.plugins.inter_pod_affinity.filtering import (
    AFFINITY_FAILED,
    ANTI_AFFINITY_FAILED,
    EXISTING_ANTI_AFFINITY_FAILED,
    FilterState,
)
from scheduler_engine.plugins.inter_pod_affinity.scoring import ScoreState


def _sign(pod: Pod, namespace_labels: Any) -> Hashable:
    """Return what existing pods' terms read of the incoming pod."""
    return pod.namespace, tuple(sorted(pod.labels.items())), tuple(sorted(namespace_labels.items()))


class FilterCounts:
    """Stands for ``state``, a FilterState that has not counted yet."""

    __slots__ = ("affinity", "anti_affinity", "counted", "existing", "slots", "snapshot", "state")

    def __init__(self, columns: Columns, snapshot: NodeInfoLister, state: FilterState) -> None:
        self.state = state
        self.snapshot = snapshot
        self.counted = False
        self.slots = slots = snapshot.slots
        keepers = snapshot.have_pods_with_required_anti_affinity()
        sign = _sign(state.pod, state.namespace_labels)
        self.existing = columns.tally(("keepers", sign), slots, self._keepers, keepers) if keepers else Tally()
        everything = snapshot.list()
        self.affinity = columns.tally(("near", state.terms), slots, self._near, everything) if state.terms else Tally()
        self.anti_affinity = (
            columns.tally(("far", state.anti_terms), slots, self._far, everything) if state.anti_terms else Tally()
        )

    def _keepers(self, info: NodeInfo) -> list[Part]:
        node, held = info.node, info.pods_with_required_anti_affinity
        if node is None or not held:
            return []
        return self._parts(pair for existing in held for _, pair in self.state.keepers(existing, node))

    def _near(self, info: NodeInfo) -> list[Part]:
        node = info.node
        if node is None or not info.pods:
            return []
        return self._parts(pair for existing in info.pods for _, pair in self.state.near(existing.pod, node))

    def _far(self, info: NodeInfo) -> list[Part]:
        node = info.node
        if node is None or not info.pods:
            return []
        return self._parts(pair for existing in info.pods for _, pair in self.state.far(existing.pod, node))

    def _parts(self, pairs: Any) -> list[Part]:
        return [(key, self.slots.topology(key).place_of(value), 1) for key, value in pairs]

    @property
    def says_nothing(self) -> bool:
        return not self.existing.count and not self.state.terms and not self.state.anti_terms

    def judge(self, nodes: Nodes) -> list[tuple[Status | None, Mask]]:
        near = self._near_enough(nodes)
        away, kept_off = np.zeros(len(nodes), dtype=bool), np.zeros(len(nodes), dtype=bool)
        for key in dict.fromkeys(term.topology_key for term in self.state.anti_terms):
            away |= self._there(self.anti_affinity, key, nodes) > 0
        for key in self.existing.sums:
            kept_off |= self._there(self.existing, key, nodes) > 0
        return [
            (None, near & ~away & ~kept_off),
            (AFFINITY_FAILED, ~near),
            (ANTI_AFFINITY_FAILED, near & away),
            (EXISTING_ANTI_AFFINITY_FAILED, near & ~away & kept_off),
        ]

    def _near_enough(self, nodes: Nodes) -> Mask:
        has_keys, satisfied = np.ones(len(nodes), dtype=bool), np.ones(len(nodes), dtype=bool)
        for term in self.state.terms:
            has_keys &= self.slots.topology(term.topology_key).codes[nodes.slots] >= 0
            satisfied &= self._there(self.affinity, term.topology_key, nodes) > 0
        first_of_group = self.state.matches_itself and not self.affinity.count
        return has_keys if first_of_group else has_keys & satisfied

    def _there(self, tally: Tally, key: str, nodes: Nodes) -> IntArray:
        """Return the count in each node's domain; 0 if it is in none."""
        return there(tally, key, nodes, self.slots)

    def plain(self) -> FilterState:
        if not self.counted:
            self.counted = True
            self.state.count(self.snapshot.list(), self.snapshot.have_pods_with_required_anti_affinity())
        return self.state

    def clone(self) -> FilterState:
        return self.plain().clone()


class ScoreCounts:
    """Stands for ``state``, a ScoreState that has not counted yet. ``prefers``: the incoming pod has preferences."""

    __slots__ = ("counted", "prefers", "slots", "snapshot", "state", "tally")

    def __init__(self, columns: Columns, snapshot: NodeInfoLister, state: ScoreState, prefers: bool) -> None:
        self.state = state
        self.snapshot = snapshot
        self.prefers = prefers
        self.counted = False
        self.slots = snapshot.slots
        key = "wishes", prefers, _sign(state.pod, state.namespace_labels), state.preferred, state.hard_weight
        self.tally = columns.tally(key, snapshot.slots, self._wishes, self._nodes())

    def _nodes(self) -> Sequence[NodeInfo]:
        return self.snapshot.list() if self.prefers else self.snapshot.have_pods_with_affinity()

    def _wishes(self, info: NodeInfo) -> list[Part]:
        node, pods = info.node, info.pods if self.prefers else info.pods_with_affinity
        if node is None or not pods:
            return []
        return [
            (key, self.slots.topology(key).place_of(value), weight)
            for existing in pods
            for (_, _, weight), (key, value) in self.state.meet(existing, node)
        ]

    def score(self, nodes: Nodes) -> IntArray:
        total = np.zeros(len(nodes), dtype=np.int64)
        for key in self.tally.sums:
            total = total + there(self.tally, key, nodes, self.slots)
        return total

    def normalize(self, scores: IntArray) -> IntArray:
        lowest, highest = int(scores.min(initial=2**62)), int(scores.max(initial=-(2**62)))
        if highest <= lowest:
            return np.zeros_like(scores)
        return (MAX_NODE_SCORE * ((scores - lowest) / (highest - lowest))).astype(np.int64)

    def plain(self) -> ScoreState:
        if not self.counted:
            self.counted = True
            (self.state.count_all if self.prefers else self.state.count_existing)(self._nodes())
        return self.state


def there(tally: Tally, key: str, nodes: Nodes, slots: Slots) -> IntArray:
    """Return the sum in each node's domain of ``key``; 0 if it is in none."""
    topology = slots.topology(key)
    places = topology.codes[nodes.slots]
    sums = tally.by_domain(topology)
    if not len(sums):
        return np.zeros(len(nodes), dtype=np.int64)
    return np.where(places >= 0, sums[places], 0)
