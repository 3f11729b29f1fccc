"""Facts behind Filter's verdict: the skew of each constraint, the pods that count, and the nodes that do not.

Source: seed 002 §4; upstream ``podtopologyspread/filtering.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from scheduler_engine.api.labels import Selector
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.taints import Taint
from scheduler_engine.framework.facts import AnyOf, Counts, Domain, Fact, Facts, Keys, Things, constraint_domains, fact
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.plugins.pod_topology_spread.constraints import DO_NOT_SCHEDULE, SpreadConstraint, has_all_keys
from scheduler_engine.plugins.pod_topology_spread.filtering import Domains, FilterState

WHILE_LEAVING = "spread.uncounted-while-leaving"
Reason = tuple[str, str]
"""Why a node does not count, and the label or taint that causes it."""


def filter_facts(state: FilterState, node_info: NodeInfo, left_out: Sequence[Fact]) -> Facts:
    """Explain the verdict on one node; ``left_out`` is from ``filter_left_out``."""
    labels = node_info.node.labels if node_info.node is not None else {}
    shown: list[Fact] = []
    decided: Fact | None = None
    for domains, domain in zip(state.domains, _names(state), strict=True):
        value = labels.get(domain.key)
        skew = _no_label(domains, domain) if value is None else _skew(domains, domain, value, state.pod)
        shown.append(skew)
        if value is not None:
            shown += _whom(domains, domain, value, state.pod)
        if decided is None and not skew.ok:
            decided = _objection(state, domains, domain, value, node_info.name)
    says = decided or fact("spread.stays-spread", True, pod=Keys((state.pod.key,)), node=node_info.name)
    return Facts(says, (*shown, *left_out), state.check(labels))


def filter_left_out(state: FilterState, nodes: Sequence[NodeInfo]) -> tuple[Fact, ...]:
    """Return the nodes and pods of the snapshot that do not count; the same for every node."""
    facts: list[Fact] = []
    for constraint, domain in zip(state.constraints, _names(state), strict=True):
        reasons = [*filter_reasons(state, constraint, nodes)]
        facts += left_out_facts(constraint, domain, state.pod, reasons)
    return tuple(facts)


def left_out_in_dry_run(left_out: Iterable[Fact], removed: Iterable[Pod]) -> Iterator[Fact]:
    """Yield the facts without the pods that a dry run removed, and what their removal did to the counts.

    ``FilterState.update`` subtracts a terminating pod although it was never added.
    """
    gone = {pod.key for pod in removed}
    for item in left_out:
        pods = item.values.get("pods")
        if not isinstance(pods, Keys):
            yield item
            continue
        subtracted = Keys(key for key in pods if key in gone)
        staying = Keys(key for key in pods if key not in gone)
        if staying:
            yield replace(item, values={**item.values, "pods": staying, "count": len(staying)})
        if subtracted and item.key == WHILE_LEAVING:
            yield fact(
                "spread.removed-while-leaving",
                domain=item.values["domain"],
                pods=subtracted,
                count=len(subtracted),
            )


def _names(state: FilterState) -> tuple[Domain, ...]:
    return domain_names(state.constraints, state.pod, DO_NOT_SCHEDULE)


def domain_names(constraints: Sequence[SpreadConstraint], pod: Pod, when: str) -> tuple[Domain, ...]:
    """Return what to call each of the constraints that are shown together: those of ``pod`` with this action."""
    numbered = zip(constraints, places(constraints, pod, when), strict=True)
    return constraint_domains([(item.topology_key, once(item.selector), number) for item, number in numbered])


def places(constraints: Sequence[SpreadConstraint], pod: Pod, when: str) -> list[int]:
    """Return the place of each constraint in the pod's list, from 1; of defaults, among those with this action."""
    manifests = enumerate(pod.topology_spread_constraints, 1)
    own = [number for number, manifest in manifests if manifest.get("whenUnsatisfiable") == when]
    return own or [*range(1, len(constraints) + 1)]


def _no_label(domains: Domains, domain: Domain) -> Fact:
    return fact("spread.no-label", False, domain=domain, key=domain.key, most=domains.constraint.max_skew)


def _skew(domains: Domains, domain: Domain, value: str, pod: Pod) -> Fact:
    constraint, minimum = domains.constraint, domains.minimum
    known, skew = len(domains.numbers()), domains.skew(value)
    few = "spread.skew-with-few-domains" if known else "spread.skew-without-domains"
    key = few if known < constraint.min_domains else "spread.skew"
    return fact(
        key,
        skew <= constraint.max_skew,
        domain=domain,
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
    names = domain_names(state.constraints, state.pod, when)
    numbers = places(state.constraints, state.pod, when)
    for domains, domain, number in zip(state.domains, names, numbers, strict=True):
        constraint, counts = domains.constraint, Counts(domains.numbers(), domains.minimum)
        selector = once(constraint.selector)
        for value, there in counts.numbers:
            yield fact(
                "spread.standing",
                there - domains.minimum <= constraint.max_skew,
                number=number,
                when=when,
                domain=domain,
                name=value,
                there=there,
                skew=there - domains.minimum,
                most=constraint.max_skew,
                least=constraint.min_domains,
                counts=counts,
                selector=selector,
            )


def _whom(domains: Domains, domain: Domain, value: str, pod: Pod) -> Iterator[Fact]:
    if not domains.self_match:
        yield fact("spread.not-itself", pod=Keys((pod.key,)))
    yield counts_fact(domains.constraint, domain, Counts(domains.numbers(), domains.minimum, value))


def counts_fact(constraint: SpreadConstraint, domain: Domain, counts: Counts) -> Fact:
    """Return the pods per domain, and which pods the constraint counts."""
    selector = once(constraint.selector)
    key = "spread.counts" if selector else "spread.counts-nobody"
    return fact(key, domain=domain, counts=counts, selector=selector)


def once(selector: Selector) -> str:
    """Format a selector without the duplicates that ``matchLabelKeys`` adds to the labelSelector."""
    return str(replace(selector, requirements=tuple(dict.fromkeys(selector.requirements))))


def _objection(state: FilterState, domains: Domains, domain: Domain, value: str | None, node: str) -> Fact:
    constraint, pod = domains.constraint, Keys((state.pod.key,))
    if value is None:
        return fact("spread.belongs-nowhere", False, node=node, key=domain.key)
    few, skew = len(domains.numbers()) < constraint.min_domains, domains.skew(value)
    row = "spread.ahead-of-empty" if few else "spread.ahead-of-emptiest"
    return fact(
        row if len(state.constraints) == 1 else f"{row}-of-several",
        False,
        pod=pod,
        domain=domain,
        place=AnyOf((value,)),
        ahead=Things("pod", skew),
        skew=skew,
        count=constraint.max_skew,
        least=constraint.min_domains,
    )


def left_out_facts(
    constraint: SpreadConstraint, domain: Domain, pod: Pod, reasons: Sequence[tuple[NodeInfo, Reason | None]]
) -> Iterator[Fact]:
    """Return the nodes that one constraint excludes, by reason, and the pods on other nodes that match its selector and
    do not count. ``reasons`` are (node, reason or None).
    """
    by_reason: dict[Reason, list[str]] = {}
    for info, reason in reasons:
        if reason is not None:
            by_reason.setdefault(reason, []).append(info.name)
    for (kind, named), names in by_reason.items():
        yield fact(
            f"spread.left-out-by-{kind}",
            domain=domain,
            nodes=Keys(names),
            key=named,
            taint=named,
        )

    yield from _uncounted(constraint, domain, pod, [info for info, reason in reasons if reason is None])


def _uncounted(constraint: SpreadConstraint, domain: Domain, pod: Pod, nodes: Iterable[NodeInfo]) -> Iterator[Fact]:
    """Return the pods that match the selector and do not count. An empty selector counts nobody anyway."""
    matching = (
        held.pod
        for info in (() if constraint.selector.empty else nodes)
        for held in info.pods
        if constraint.selector.matches(held.pod.labels)
    )
    leaving: list[str] = []
    elsewhere: list[str] = []
    for held in matching:
        if held.namespace != pod.namespace:
            elsewhere.append(held.key)
        elif held.terminating:
            leaving.append(held.key)
    for row, keys in ((WHILE_LEAVING, leaving), ("spread.uncounted-by-namespace", elsewhere)):
        if keys:
            yield fact(row, domain=domain, pods=Keys(keys), count=len(keys))


def filter_reasons(
    state: FilterState, constraint: SpreadConstraint, nodes: Sequence[NodeInfo]
) -> Iterator[tuple[NodeInfo, Reason | None]]:
    """Yield (node, why Filter does not count it); None: it counts."""
    for info in nodes:
        if info.node is not None:
            yield info, by_label(state.constraints, info.node) or by_policy(constraint, state.pod, info.node)


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
