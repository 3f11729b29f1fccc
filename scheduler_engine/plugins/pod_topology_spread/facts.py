"""Facts behind Filter's verdict: the skew of each constraint, the pods that count, and the nodes that do not.

Source: seed 002 §4; upstream ``podtopologyspread/filtering.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from scheduler_engine.api.labels import Selector
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.taints import Taint
from scheduler_engine.framework.facts import AnyOf, Counts, Domain, Fact, Facts, Keys, Things, fact
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.plugins.pod_topology_spread.constraints import SpreadConstraint, has_all_keys
from scheduler_engine.plugins.pod_topology_spread.filtering import Domains, FilterState

Reason = tuple[str, str]
"""Why a node does not count, and the label or taint that causes it."""


def filter_facts(state: FilterState, node_info: NodeInfo, left_out: Sequence[Fact]) -> Facts:
    """Explain the verdict on one node; ``left_out`` is from ``filter_left_out``."""
    labels = node_info.node.labels if node_info.node is not None else {}
    shown: list[Fact] = []
    decided: Fact | None = None
    for domains in state.domains:
        value = labels.get(domains.constraint.topology_key)
        skew = _no_label(domains) if value is None else _skew(domains, value, state.pod)
        shown.append(skew)
        if value is not None:
            shown += _whom(domains, value, state.pod)
        if decided is None and not skew.ok:
            decided = _objection(state, domains, value, node_info.name)
    says = decided or fact("spread.stays-spread", True, pod=Keys((state.pod.key,)), node=node_info.name)
    return Facts(says, (*shown, *left_out), state.check(labels))


def filter_left_out(state: FilterState, nodes: Sequence[NodeInfo]) -> tuple[Fact, ...]:
    """Return the nodes of the snapshot that do not count; the same for every node."""
    of_each = ((item.constraint, _reasons(state, item.constraint, nodes)) for item in state.domains)
    return tuple(item for constraint, reasons in of_each for item in left_out_facts(constraint, reasons))


def _no_label(domains: Domains) -> Fact:
    key = domains.constraint.topology_key
    return fact("spread.no-label", False, domain=Domain(key), key=key, most=domains.constraint.max_skew)


def _skew(domains: Domains, value: str, pod: Pod) -> Fact:
    constraint, minimum = domains.constraint, domains.minimum
    known, skew = len(domains.numbers()), domains.skew(value)
    few = "spread.skew-with-few-domains" if known else "spread.skew-without-domains"
    key = few if known < constraint.min_domains else "spread.skew"
    return fact(
        key,
        skew <= constraint.max_skew,
        domain=Domain(constraint.topology_key),
        name=value,
        place=AnyOf((value,)),
        there=domains.counts.get(value),
        itself=domains.self_match,
        pod=Keys((pod.key,)),
        fewest=minimum,
        skew=skew,
        most=constraint.max_skew,
        domains=Things("domain", known),
        least=constraint.min_domains,
        counts=Counts(domains.numbers(), minimum),
    )


def standing_facts(state: FilterState, when: str) -> Iterator[Fact]:
    """Explain the spread of the counted pods per domain, including the pod itself if it is there; ``when``: what
    happens if a constraint is violated.
    """
    for number, domains in enumerate(state.domains):
        constraint, counts = domains.constraint, Counts(domains.numbers(), domains.minimum)
        selector = _once(constraint.selector)
        for value, there in counts.numbers:
            yield fact(
                "spread.standing",
                there - domains.minimum <= constraint.max_skew,
                number=number,
                when=when,
                domain=Domain(constraint.topology_key),
                name=value,
                there=there,
                skew=there - domains.minimum,
                most=constraint.max_skew,
                least=constraint.min_domains,
                counts=counts,
                selector=selector,
            )


def _whom(domains: Domains, value: str, pod: Pod) -> Iterator[Fact]:
    if not domains.self_match:
        yield fact("spread.not-itself", pod=Keys((pod.key,)))
    yield counts_fact(domains.constraint, Counts(domains.numbers(), domains.minimum, value))


def counts_fact(constraint: SpreadConstraint, counts: Counts) -> Fact:
    """Return the pods per domain, and which pods the constraint counts."""
    selector = _once(constraint.selector)
    key = "spread.counts" if selector else "spread.counts-nobody"
    return fact(key, domain=Domain(constraint.topology_key), counts=counts, selector=selector)


def _once(selector: Selector) -> str:
    """Format a selector without the duplicates that ``matchLabelKeys`` adds to the labelSelector."""
    return str(replace(selector, requirements=tuple(dict.fromkeys(selector.requirements))))


def _objection(state: FilterState, domains: Domains, value: str | None, node: str) -> Fact:
    constraint = domains.constraint
    key, pod = constraint.topology_key, Keys((state.pod.key,))
    if value is None:
        return fact("spread.belongs-nowhere", False, node=node, key=key)
    few, skew = len(domains.numbers()) < constraint.min_domains, domains.skew(value)
    return fact(
        "spread.ahead-of-empty" if few else "spread.ahead-of-emptiest",
        False,
        pod=pod,
        domain=Domain(key),
        place=AnyOf((value,)),
        ahead=Things("pod", skew),
        skew=skew,
        count=constraint.max_skew,
        least=constraint.min_domains,
    )


def left_out_facts(constraint: SpreadConstraint, reasons: Iterable[tuple[str, Reason | None]]) -> Iterator[Fact]:
    """Return the nodes that one constraint excludes, by reason; ``reasons`` are (node, reason or None)."""
    by_reason: dict[Reason, list[str]] = {}
    for name, reason in reasons:
        if reason is not None:
            by_reason.setdefault(reason, []).append(name)
    for (kind, named), names in by_reason.items():
        yield fact(
            f"spread.left-out-by-{kind}",
            domain=Domain(constraint.topology_key),
            nodes=Keys(names),
            key=named,
            taint=named,
        )


def _reasons(
    state: FilterState, constraint: SpreadConstraint, nodes: Sequence[NodeInfo]
) -> Iterator[tuple[str, Reason | None]]:
    for info in nodes:
        if info.node is not None:
            yield info.name, by_label(state.constraints, info.node) or by_policy(constraint, state.pod, info.node)


def by_label(constraints: Iterable[SpreadConstraint], node: Node) -> Reason | None:
    """Return the first topology key that ``node`` lacks a label for."""
    for constraint in constraints:
        if not has_all_keys(node.labels, (constraint,)):
            return "label", constraint.topology_key
    return None


def by_policy(constraint: SpreadConstraint, pod: Pod, node: Node) -> Reason | None:
    what = constraint.honors_what(pod, node)
    if what is None:
        return None
    return ("taint", what.text) if isinstance(what, Taint) else (what, "")
