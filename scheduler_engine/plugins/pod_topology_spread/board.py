"""All domains of each constraint: how many pods count there, which, and what does not count.

Source: seed 002 §4; upstream ``podtopologyspread/filtering.go`` and ``scoring.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.framework.boards import SpreadBoard, SpreadDomain
from scheduler_engine.framework.facts import Domain, Fact, Keys, fact
from scheduler_engine.framework.node_info import NodeInfo, PodInfo
from scheduler_engine.plugins.pod_topology_spread.constraints import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    SpreadConstraint,
    count_matching,
)
from scheduler_engine.plugins.pod_topology_spread.facts import (
    Reason,
    domain_names,
    filter_reasons,
    left_out_facts,
    once,
    places,
)
from scheduler_engine.plugins.pod_topology_spread.filtering import Domains, FilterState
from scheduler_engine.plugins.pod_topology_spread.score_facts import score_reasons
from scheduler_engine.plugins.pod_topology_spread.scoring import ScoreState

Reasons = list[tuple[NodeInfo, Reason | None]]
"""(node, why it does not count), None: it counts."""


@dataclass(slots=True)
class Place:
    """What the nodes of one domain hold."""

    nodes: list[str] = field(default_factory=list)
    pods: list[str] = field(default_factory=list)
    counted: bool = False


def filter_boards(state: FilterState, nodes: Sequence[NodeInfo], default: bool) -> Iterator[SpreadBoard]:
    """Yield the hard constraints as Filter judges them."""
    names = domain_names(state.constraints, state.pod, DO_NOT_SCHEDULE)
    numbers = places(state.constraints, state.pod, DO_NOT_SCHEDULE)
    for domains, domain, number in zip(state.domains, names, numbers, strict=True):
        constraint = domains.constraint
        reasons = [*filter_reasons(state, constraint, nodes)]
        rows = (_judged(domains, name, place) for name, place in _by_domain(state, constraint, reasons, False).items())
        board = _board(state, constraint, domain, reasons, [*rows])
        yield replace(board, number=number, minimum=domains.minimum, default=default)


def score_boards(
    state: ScoreState, nodes: Sequence[NodeInfo], default: bool, *, assumed: bool = False
) -> Iterator[SpreadBoard]:
    """Yield the soft constraints as Score counts for them. ``assumed``: as if every node passed Filter."""
    names = domain_names(state.constraints, state.pod, SCHEDULE_ANYWAY)
    numbers = places(state.constraints, state.pod, SCHEDULE_ANYWAY)
    for (constraint, counts, weight), domain, number in zip(state.judged, names, numbers, strict=True):
        reasons = [*score_reasons(state, constraint, counts, nodes)]
        rows = []
        nameless = constraint.topology_key != HOSTNAME and not state.all_keys
        for name, place in _by_domain(state, constraint, reasons, nameless).items():
            # Pods per host are counted when the node is scored.
            there = len(place.pods) if counts is None else counts.get(name or "", 0)
            added = there * weight + (constraint.max_skew - 1) if place.counted and name is not None else None
            pods, on = Keys(place.pods), Keys(place.nodes)
            rows.append(SpreadDomain(name, there, pods, on, place.counted, added=added))
        board = _board(state, constraint, domain, reasons, rows)
        yield replace(board, number=number, when=SCHEDULE_ANYWAY, default=default, assumed=assumed)


def _judged(domains: Domains, name: str | None, place: Place) -> SpreadDomain:
    value = name or ""
    skew = domains.skew(value)
    allowed = skew <= domains.constraint.max_skew
    pods, on = Keys(place.pods), Keys(place.nodes)
    return SpreadDomain(name, domains.counts.get(value), pods, on, place.counted, skew, allowed)


def _board(
    state: FilterState | ScoreState,
    constraint: SpreadConstraint,
    domain: Domain,
    reasons: Reasons,
    rows: Sequence[SpreadDomain],
) -> SpreadBoard:
    left_out = (*left_out_facts(constraint, domain, state.pod, reasons), *_others(constraint, domain, state, reasons))
    return SpreadBoard(
        domain,
        constraint.max_skew,
        constraint.min_domains,
        once(constraint.selector),
        constraint.honors_affinity,
        constraint.honors_taints,
        1 if constraint.selector.matches(state.pod.labels) else 0,
        tuple(rows),
        left_out,
    )


def _by_domain(
    state: FilterState | ScoreState, constraint: SpreadConstraint, reasons: Reasons, nameless: bool
) -> dict[str | None, Place]:
    """Return domain → its nodes and the pods that count; ``nameless``: nodes without the label are one, None."""
    found: dict[str | None, Place] = {}
    for info, reason in reasons:
        name = info.node.labels.get(constraint.topology_key) if info.node is not None else None
        if name is None and not nameless:
            continue
        place = found.setdefault(name, Place())
        place.nodes.append(info.name)
        if reason is None:
            place.counted = True
            place.pods += [held.pod.key for held in info.pods if _counts(constraint, state, held)]
    return found


def _counts(constraint: SpreadConstraint, state: FilterState | ScoreState, held: PodInfo) -> bool:
    return count_matching((held,), constraint.selector, state.pod.namespace) > 0


def _others(
    constraint: SpreadConstraint, domain: Domain, state: FilterState | ScoreState, reasons: Reasons
) -> Iterator[Fact]:
    """Yield the pods that do not count by their node, then by their labels. An empty selector counts nobody anyway."""
    if constraint.selector.empty:
        return
    on_others = [
        held.pod.key
        for info, reason in reasons
        if reason is not None
        for held in info.pods
        if _counts(constraint, state, held)
    ]
    unlike = [
        held.pod.key
        for info, reason in reasons
        if reason is None
        for held in info.pods
        if held.pod.namespace == state.pod.namespace and not constraint.selector.matches(held.pod.labels)
    ]
    for row, keys in (("spread.uncounted-by-node", on_others), ("spread.uncounted-by-labels", unlike)):
        if keys:
            yield fact(row, domain=domain, pods=Keys(keys), count=len(keys))
