"""Facts behind Score's number: the matching pods in each of a node's domains, what they add, and what is not counted.

Source: seed 002 §4; upstream ``podtopologyspread/scoring.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scheduler_engine.api.objects import Node
from scheduler_engine.framework.facts import AnyOf, Counts, Domain, Fact, Facts, Keys, Sum, Things, Value, cut, fact
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.plugins.pod_topology_spread.constraints import SCHEDULE_ANYWAY, SpreadConstraint, count_matching
from scheduler_engine.plugins.pod_topology_spread.facts import (
    Reason,
    by_label,
    by_policy,
    counts_fact,
    domain_names,
    left_out_facts,
)
from scheduler_engine.plugins.pod_topology_spread.scoring import ScoreState


def score_facts(state: ScoreState, info: NodeInfo, raws: Mapping[str, int], left_out: Sequence[Fact]) -> Facts:
    """Explain one node's score; ``raws``: the scores of all scored nodes, ``left_out``: from ``score_left_out``."""
    scores = dict(raws)
    state.normalize(scores)
    raw, normalized = state.score(info), scores[info.name]
    if info.name in state.ignored:
        says, shown = _ignored(state, info, raw, normalized)
    else:
        says, shown = _judged(state, info, raw, normalized, state.extremes(raws))
    return Facts(says, (*shown, *left_out), None, raw, normalized)


def score_left_out(state: ScoreState, nodes: Sequence[NodeInfo]) -> tuple[Fact, ...]:
    """Return the nodes and pods of the snapshot that do not count; the same for every node."""
    facts: list[Fact] = []
    for (constraint, counts, _), domain in zip(state.judged, _names(state), strict=True):
        reasons = [*score_reasons(state, constraint, counts, nodes)]
        facts += left_out_facts(constraint, domain, state.pod, reasons)
    return tuple(facts)


def _names(state: ScoreState) -> tuple[Domain, ...]:
    return domain_names(state.constraints, state.pod, SCHEDULE_ANYWAY)


def _ignored(state: ScoreState, info: NodeInfo, raw: int, normalized: int) -> tuple[Fact, list[Fact]]:
    reason = by_label(state.constraints, info.node) if info.node is not None else None
    key = reason[1] if reason else ""
    shown = [fact("spread.raw-left-out", raw=raw, key=key), fact("spread.normalized-left-out", normalized=normalized)]
    return fact("spread.gets-nothing", node=info.name, key=key), shown


def _judged(
    state: ScoreState, info: NodeInfo, raw: int, normalized: int, extremes: tuple[int, int]
) -> tuple[Fact, list[Fact]]:
    highest, lowest = extremes
    crowds, names = state.crowds(info), _names(state)
    shown: list[Fact] = []
    for index, (number, added) in enumerate(crowds):
        shown += _crowd(state, index, names[index], info, number, added)
    terms = Sum(tuple((added,) for number, added in crowds if number is not None))
    (remark,) = cut(100 * (highest + lowest - raw) % highest if highest else 0)
    numbers: dict[str, Value] = {
        "raw": raw,
        "normalized": normalized,
        "highest": highest,
        "lowest": lowest,
        "cut": remark,
    }
    shown.append(fact("spread.raw", added=terms, raw=raw))
    shown.append(fact("spread.normalized" if highest else "spread.normalized-equal", **numbers))
    if highest == lowest:
        key = "as-good-as-labelled" if state.ignored else "as-good-as-others"
    elif len(state.judged) > 1:
        key = {lowest: "scores-best", highest: "scores-worst"}.get(raw, "scores-lower")
    else:
        key = {lowest: "has-fewest", highest: "has-most"}.get(raw, "has-more")
    return fact(f"spread.{key}", node=info.name, pod=Keys((state.pod.key,))), shown


def _crowd(
    state: ScoreState, index: int, domain: Domain, info: NodeInfo, number: int | None, added: float
) -> Iterator[Fact]:
    """Explain what one constraint adds, and its count."""
    constraint, counts, _ = state.judged[index]
    key = domain.key
    if number is None or info.node is None:
        yield fact("spread.in-no-domain", domain=domain, key=key)
        return
    here = Keys(held.pod.key for held in info.pods if count_matching((held,), constraint.selector, state.pod.namespace))
    row = "crowd" if counts is not None else "crowd-on-node" if here else "crowd-of-nobody"
    yield fact(
        f"spread.{row}",
        domain=domain,
        place=AnyOf((info.node.labels[key],)),
        crowd=Things("pod", number),
        size=state.sizes[index],
        most=constraint.max_skew,
        added=added,
        pods=here,
        labelled=fact("spread.have-the-labels") if state.all_keys else "",
    )
    if counts is not None:
        nameless = "empty" if state.all_keys else "nameless"
        yield counts_fact(constraint, domain, Counts(tuple(counts.items()), None, info.node.labels[key], nameless))


def score_reasons(
    state: ScoreState, constraint: SpreadConstraint, counts: Mapping[str, int] | None, nodes: Sequence[NodeInfo]
) -> Iterator[tuple[NodeInfo, Reason | None]]:
    """Yield (node, why Score does not count its pods); None: it does. ``counts`` is None if each host is a domain."""
    for info in nodes:
        if info.node is not None:
            yield info, _reason(state, constraint, counts, info.node)


def _reason(
    state: ScoreState, constraint: SpreadConstraint, counts: Mapping[str, int] | None, node: Node
) -> Reason | None:
    """Return why pods on ``node`` do not count. If each host is a domain, the policies do not matter."""
    missing = by_label(state.constraints if state.all_keys else (), node)
    if missing is not None or counts is None:
        return missing
    if node.labels.get(constraint.topology_key, "") not in counts:
        return by_label((constraint,), node) or ("domain", "")
    return by_policy(constraint, state.pod, node)
