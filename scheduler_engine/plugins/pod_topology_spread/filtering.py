"""The counts of PreFilter per topology domain, and Filter's check of the skew.

Source: seed 002 §4; upstream ``podtopologyspread/filtering.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Status, unresolvable, unschedulable
from scheduler_engine.plugins.overlay_counts import OverlayCounts
from scheduler_engine.plugins.pod_topology_spread.constraints import SpreadConstraint, count_matching, has_all_keys

NOT_MATCHED = "node(s) didn't match pod topology spread constraints"
SKEWED = unschedulable(NOT_MATCHED)
LABEL_MISSING = unresolvable(f"{NOT_MATCHED} (missing required label)")
NO_DOMAIN = 2**31 - 1
"""The global minimum without an eligible domain: nothing exceeds any skew then."""


class Domains:
    """Matching pods per value of one constraint's topology key, over the nodes that count.

    ``minimum`` is the global minimum: 0 while there are fewer domains than ``minDomains``. ``self_match`` is 1 if
    the incoming pod would count itself.
    """

    __slots__ = ("ascending", "constraint", "counts", "minimum", "self_match")

    def __init__(self, constraint: SpreadConstraint, counts: dict[str, int], pod: Pod) -> None:
        self.constraint = constraint
        self.counts = OverlayCounts(counts)
        self.ascending = sorted(counts, key=counts.__getitem__)
        self.self_match = 1 if constraint.selector.matches(pod.labels) else 0
        self.minimum = self._minimum()

    def _minimum(self) -> int:
        base, changed = self.counts.base, self.counts.changed
        domains = len(base) + sum(1 for value in changed if value not in base)
        if domains < self.constraint.min_domains:
            return 0
        lowest = NO_DOMAIN
        for value in self.ascending:
            if value not in changed:
                lowest = base[value]
                break
        return min(lowest, *changed.values()) if changed else lowest

    def add(self, value: str, delta: int) -> None:
        self.counts.add(value, delta)
        self.minimum = self._minimum()

    def skew(self, value: str) -> int:
        """Return the skew of the domain ``value`` with the incoming pod in it."""
        return self.counts.get(value) + self.self_match - self.minimum

    def numbers(self) -> tuple[tuple[str, int], ...]:
        """Return (domain, matching pods) of each domain that counts."""
        return tuple({**self.counts.base, **self.counts.changed}.items())

    def clone(self) -> Domains:
        copied = Domains.__new__(Domains)
        copied.constraint, copied.ascending = self.constraint, self.ascending
        copied.self_match, copied.minimum = self.self_match, self.minimum
        copied.counts = self.counts.clone()
        return copied


class FilterState:
    """One ``Domains`` per constraint; ``pod`` is the incoming one."""

    __slots__ = ("constraints", "domains", "pod")

    def __init__(self, pod: Pod, constraints: tuple[SpreadConstraint, ...], domains: list[Domains]) -> None:
        self.pod = pod
        self.constraints = constraints
        self.domains = domains

    def clone(self) -> FilterState:
        return FilterState(self.pod, self.constraints, [domain.clone() for domain in self.domains])

    def update(self, changed: Pod, node: Node | None, delta: int) -> None:
        """Count ``changed``, which came to (+1) or left (-1) ``node``. As upstream, terminating pods count here."""
        if node is None or changed.namespace != self.pod.namespace or not has_all_keys(node.labels, self.constraints):
            return
        for domains in self.domains:
            constraint = domains.constraint
            if constraint.selector.matches(changed.labels) and constraint.counts_node(self.pod, node):
                domains.add(node.labels[constraint.topology_key], delta)

    def check(self, labels: Mapping[str, str]) -> Status | None:
        """Return the first constraint's objection to a node with these labels."""
        for domains in self.domains:
            constraint = domains.constraint
            value = labels.get(constraint.topology_key)
            if value is None:
                return LABEL_MISSING
            if domains.skew(value) > constraint.max_skew:
                return SKEWED
        return None


def filter_state(pod: Pod, constraints: tuple[SpreadConstraint, ...], nodes: Sequence[NodeInfo]) -> FilterState:
    """Count matching pods once over all nodes that carry every topology key."""
    counts: list[dict[str, int]] = [{} for _ in constraints]
    for info in nodes:
        node = info.node
        if node is None or not has_all_keys(node.labels, constraints):
            continue
        for constraint, held in zip(constraints, counts, strict=True):
            if constraint.counts_node(pod, node):
                value = node.labels[constraint.topology_key]
                matching = count_matching(info.pods, constraint.selector, pod.namespace) if info.pods else 0
                held[value] = held.get(value, 0) + matching
    domains = [Domains(constraint, held, pod) for constraint, held in zip(constraints, counts, strict=True)]
    return FilterState(pod, constraints, domains)
