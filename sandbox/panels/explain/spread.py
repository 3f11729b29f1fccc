"""PodTopologySpread in words and numbers: the skew per constraint, and the score of soft constraints.

Source: seed 002 §4; upstream ``plugins/podtopologyspread/{filtering,scoring}.go``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sandbox.panels.explain.model import (
    UNRESOLVABLE,
    Case,
    Explanation,
    Line,
    domain,
    names,
    passes,
    refuses,
    scored,
)
from sandbox.panels.explain.spread_rules import (
    Constraint,
    constraints_of,
    counted,
    lacks_a_key,
    left_out,
    system_defaulted,
)
from sandbox.panels.words.phrases import plural
from sandbox.panels.words.say import say
from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.framework.node_info import PodInfo

NOT_MATCHED = "node(s) didn't match pod topology spread constraints"
NO_DOMAIN = 2**31 - 1


def spread_filter(case: Case) -> Explanation:
    constraints, origin = constraints_of(case, "DoNotSchedule", case.seen.pre_filter)
    if not constraints:
        return passes(say("spread.no-constraint", pod=case.name))
    lines, problem, missing = list[Line](), "", ""
    for constraint in constraints:
        value = case.node.labels.get(constraint.key)
        if value is None:
            label = say("spread.at-most", domain=domain(constraint.key), most=constraint.max_skew)
            lines.append(Line(label, say("explain.no-label", key=constraint.key), say("explain.in-no-domain")))
            if not problem:
                problem = missing = say("spread.belongs-nowhere", node=case.node.name, key=constraint.key)
            continue
        said, objection = _skew(case, constraint, constraints, value)
        lines += said
        problem = problem or objection
    lines += _excluded(case, constraints)
    lines += [Line(say("spread.constraints"), origin)] if origin else []
    if missing:
        return refuses(problem, lines, f"{NOT_MATCHED} (missing required label)", code=UNRESOLVABLE)
    if problem:
        return refuses(problem, lines, NOT_MATCHED)
    return passes(say("spread.stays-spread", node=case.node.name, pod=case.name), lines)


def domains_of(case: Case, constraint: Constraint, constraints: Sequence[Constraint]) -> dict[str, int]:
    """Matching pods per domain, over the nodes that have all topology keys and are not excluded."""
    counts: dict[str, int] = {}
    for node in case.seen.nodes.values():
        if lacks_a_key(node, constraints) or constraint.excludes(case.pod, node):
            continue
        value = node.labels[constraint.key]
        number = constraint.number(case.seen.pods_on.get(node.name, ()), case.pod.namespace)
        counts[value] = counts.get(value, 0) + number
    if case.nominated and not lacks_a_key(case.node, constraints) and not constraint.excludes(case.pod, case.node):
        value = case.node.labels[constraint.key]
        for info in case.nominated:
            if info.pod.namespace == case.pod.namespace and constraint.selector.matches(info.pod.labels):
                counts[value] = counts.get(value, 0) + 1
    return counts


def _skew(case: Case, constraint: Constraint, constraints: Sequence[Constraint], value: str) -> tuple[list[Line], str]:
    """The arithmetic of one constraint, and the objection to the node, "" = none."""
    domains, most = domains_of(case, constraint, constraints), constraint.max_skew
    key, itself = domain(constraint.key), 1 if constraint.selector.matches(case.pod.labels) else 0
    too_few = len(domains) < constraint.min_domains
    lowest = 0 if too_few else min(domains.values(), default=NO_DOMAIN)
    there = domains.get(value, 0)
    skew = there + itself - lowest
    fewest, result = ("∞", "−∞") if lowest == NO_DOMAIN else (str(lowest), str(skew))
    formula = say(
        "spread.skew",
        there=there,
        name=value,
        itself=itself,
        fewest=fewest,
        skew=result,
        sign=">" if skew > most else "≤",
        most=most,
    )
    note = _skew_note(len(domains), constraint.min_domains)
    if not itself:
        note = say("spread.itself-not-matched", note=note)
    lines = [
        Line(say("spread.at-most", domain=key, most=most), formula, note),
        Line(say("spread.pods-per", domain=key), counted(domains, lowest), _whom(constraint)),
    ]
    if skew <= most:
        return lines, ""
    pods = plural(skew, "pod")
    if too_few:
        least = constraint.min_domains
        return lines, say(
            "spread.ahead-of-empty", count=most, pod=case.name, domain=key, name=value, pods=pods, least=least
        )
    return lines, say("spread.ahead-of-emptiest", count=most, pod=case.name, domain=key, name=value, pods=pods)


def _skew_note(domains: int, least: int) -> str:
    if domains < least:
        return say("spread.fewest-counts-as-0", domains=plural(domains, "domain"), least=least)
    return say("spread.skew-note") if domains else say("spread.no-node-counts")


def _whom(constraint: Constraint) -> str:
    if str(constraint.selector):
        return say("spread.counts-pods", selector=constraint.selector)
    return say("spread.counts-nobody")


def _excluded(case: Case, constraints: Sequence[Constraint]) -> list[Line]:
    reasons: dict[str, str] = {}
    for node in case.seen.nodes.values():
        missing = lacks_a_key(node, constraints)
        why = (
            say("explain.no-label", key=missing)
            if missing
            else next(filter(None, (item.excludes(case.pod, node) for item in constraints)), "")
        )
        if why:
            reasons[node.name] = why
    return left_out(reasons)


def spread_score(case: Case) -> Explanation:
    """High raw scores mean crowded; normalization turns them round."""
    constraints, origin = constraints_of(case, "ScheduleAnyway", case.seen.pre_score)
    strict = bool(case.pod.topology_spread_constraints) or not system_defaulted(case)
    ignored = [name for name in case.feasible if strict and lacks_a_key(case.seen.nodes[name], constraints)]
    if case.node.name in ignored:
        key = lacks_a_key(case.node, constraints)
        lines = [
            Line(say("explain.raw"), "0", say("explain.no-label", key=key)),
            Line(say("explain.normalized"), "0", say("explain.left-out")),
        ]
        return scored(say("spread.nothing-for-spreading", node=case.node.name, key=key), lines, 0, 0)
    total, parts, lines = 0.0, list[str](), []
    for constraint in constraints:
        value = case.node.labels.get(constraint.key)
        if value is None:
            lines.append(Line(domain(constraint.key), "0", say("explain.no-label", key=constraint.key)))
            continue
        number, size, said = _crowd(case, constraint, constraints, ignored, strict, value)
        weight = math.log(size + 2)
        total += number * weight + (constraint.max_skew - 1)
        parts.append(f"{number * weight + constraint.max_skew - 1:.3f}")
        formula = f"{plural(number, 'pod')} × ln({size} + 2) + ({constraint.max_skew} − 1) = {parts[-1]}"
        lines.append(Line(f"{domain(constraint.key)} {value}", formula, said))
    whole = int(total)
    raw = whole + 1 if total - whole >= 0.5 else whole
    lines.append(Line(say("explain.raw"), f"{' + '.join(parts) or '0'} → {raw}", say("spread.raw-note")))
    line, normalized = _normalized(case, raw, ignored)
    lines += [line, *left_out(dict.fromkeys(ignored, say("spread.key-missing")))]
    lines += [Line(say("spread.constraints"), origin)] if origin else []
    return scored(_score_text(case, raw, ignored), lines, raw, normalized)


def _crowd(
    case: Case,
    constraint: Constraint,
    constraints: Sequence[Constraint],
    ignored: Sequence[str],
    strict: bool,
    value: str,
) -> tuple[int, int, str]:
    """Matching pods in the node's domain, how many domains hold a feasible node, and a remark."""
    seen, key, namespace = case.seen, constraint.key, case.pod.namespace
    kept = [seen.nodes[name] for name in case.feasible if name not in ignored]
    if key == HOSTNAME:
        return (
            constraint.number(case.here, namespace),
            len(kept),
            say("spread.crowd-on-node", names=_who(case, constraint)),
        )
    domains = dict.fromkeys((node.labels.get(key, "") for node in kept), 0)
    for node in seen.nodes.values():
        where = node.labels.get(key, "")
        out = (strict and lacks_a_key(node, constraints)) or where not in domains or constraint.excludes(case.pod, node)
        if not out:
            domains[where] += constraint.number(seen.pods_on.get(node.name, ()), namespace)
    return domains[value], len(domains), say("spread.crowd-in-domains", domains=counted(domains))


def _who(case: Case, constraint: Constraint) -> str:
    found: list[PodInfo] = [info for info in case.here if constraint.counts(info.pod, case.pod.namespace)]
    return names(info.pod.key for info in found) or say("spread.nobody")


def _normalized(case: Case, raw: int, ignored: Sequence[str]) -> tuple[Line, int]:
    kept = [score for name, score in case.raws.items() if name not in ignored]
    highest, lowest = max(kept, default=0), min(kept, default=0)
    if highest == 0:
        return Line(say("explain.normalized"), "100", say("spread.equally-good")), 100
    normalized = 100 * (highest + lowest - raw) // highest
    formula = f"100 × ({highest} + {lowest} − {raw}) / {highest} = {normalized}"
    note = say("spread.highest-and-lowest", highest=highest, lowest=lowest)
    return Line(say("explain.normalized"), formula, note), normalized


def _score_text(case: Case, raw: int, ignored: Sequence[str]) -> str:
    kept = [score for name, score in case.raws.items() if name not in ignored]
    if not kept or min(kept) == max(kept):
        return say("spread.as-good-as-others", node=case.node.name)
    if raw == min(kept):
        return say("spread.has-fewest", node=case.node.name, pod=case.name)
    if raw == max(kept):
        return say("spread.has-most", node=case.node.name, pod=case.name)
    return say("spread.has-more", node=case.node.name, pod=case.name)
