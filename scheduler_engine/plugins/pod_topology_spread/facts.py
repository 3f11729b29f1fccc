"""What Filter judged by, as facts: the skew of each constraint, who is counted, and which nodes are not.

Source: seed 002 §4; upstream ``podtopologyspread/filtering.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler_engine.api.taints import Taint
from scheduler_engine.framework.facts import Counts, Domain, Fact, Facts, Keys, Things, fact
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.plugins.pod_topology_spread.filtering import NO_DOMAIN, Domains, FilterState


def filter_facts(state: FilterState, node_info: NodeInfo, nodes: Sequence[NodeInfo]) -> Facts:
    """Of a pod before one node; ``nodes`` are those of the snapshot."""
    labels = node_info.node.labels if node_info.node is not None else {}
    shown: list[Fact] = []
    decided: Fact | None = None
    for domains in state.domains:
        value = labels.get(domains.constraint.topology_key)
        skew = _no_label(domains) if value is None else _skew(domains, value)
        shown.append(skew)
        if value is not None:
            shown += _whom(domains)
        if decided is None and not skew.ok:
            decided = _objection(state, domains, value, node_info.name)
    for domains in state.domains:
        shown += _left_out(state, domains, nodes)
    says = decided or fact("spread.stays-spread", True, pod=Keys((state.pod.key,)), node=node_info.name)
    return Facts(says, tuple(shown), state.check(labels))


def _no_label(domains: Domains) -> Fact:
    key = domains.constraint.topology_key
    return fact("spread.no-label", False, domain=Domain(key), key=key, most=domains.constraint.max_skew)


def _skew(domains: Domains, value: str) -> Fact:
    constraint, minimum = domains.constraint, domains.minimum
    known, skew = len(domains.numbers()), domains.skew(value)
    few = known < constraint.min_domains
    key = "spread.skew-with-few-domains" if few else "spread.skew-of-nothing" if minimum == NO_DOMAIN else "spread.skew"
    return fact(
        key,
        skew <= constraint.max_skew,
        domain=Domain(constraint.topology_key),
        name=value,
        there=domains.counts.get(value),
        itself=domains.self_match,
        fewest=minimum,
        skew=skew,
        most=constraint.max_skew,
        domains=Things("domain", known),
        least=constraint.min_domains,
        counts=Counts(domains.numbers(), minimum),
    )


def standing_facts(state: FilterState, when: str) -> Iterator[Fact]:
    """How the pods of each domain stand that the constraints count, the pod itself where it is there; ``when``: what
    is done about a constraint that is not kept.
    """
    for number, domains in enumerate(state.domains):
        constraint, counts = domains.constraint, Counts(domains.numbers(), domains.minimum)
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
                selector=str(constraint.selector),
            )


def _whom(domains: Domains) -> Iterator[Fact]:
    if not domains.self_match:
        yield fact("spread.not-itself")
    yield counts_fact(domains)


def counts_fact(domains: Domains) -> Fact:
    """Pods per domain, and whom the constraint counts."""
    selector = str(domains.constraint.selector)
    return fact(
        "spread.counts" if selector else "spread.counts-nobody",
        domain=Domain(domains.constraint.topology_key),
        counts=Counts(domains.numbers(), domains.minimum),
        selector=selector,
    )


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
        name=value,
        ahead=Things("pod", skew),
        skew=skew,
        count=constraint.max_skew,
        least=constraint.min_domains,
    )


def _left_out(state: FilterState, domains: Domains, nodes: Sequence[NodeInfo]) -> Iterator[Fact]:
    """Nodes that do not count for one constraint, by reason."""
    constraint, by_reason = domains.constraint, dict[tuple[str, str], list[str]]()
    for info in nodes:
        node = info.node
        if node is None:
            continue
        missing = next((item.topology_key for item in state.constraints if item.topology_key not in node.labels), "")
        if missing:
            by_reason.setdefault(("label", missing), []).append(node.name)
            continue
        what = constraint.honors_what(state.pod, node)
        if isinstance(what, Taint):
            by_reason.setdefault(("taint", what.text), []).append(node.name)
        elif what is not None:
            by_reason.setdefault((what, ""), []).append(node.name)
    for (reason, named), names in by_reason.items():
        yield fact(
            f"spread.left-out-by-{reason}",
            domain=Domain(constraint.topology_key),
            nodes=Keys(names),
            key=named,
            taint=named,
        )
