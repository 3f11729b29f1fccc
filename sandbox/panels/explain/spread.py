"""PodTopologySpread in words and numbers: the skew per constraint, and the score of soft constraints.

Source: seed 002 §4; upstream ``plugins/podtopologyspread/{filtering,scoring}.go``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sandbox.panels.explain.model import (
    HOSTNAME,
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
from scheduler_engine.framework.node_info import PodInfo

NOT_MATCHED = "node(s) didn't match pod topology spread constraints"
NO_DOMAIN = 2**31 - 1


def spread_filter(case: Case) -> Explanation:
    constraints, origin = constraints_of(case, "DoNotSchedule", case.seen.pre_filter)
    if not constraints:
        return passes(f"{case.name} has no spread constraint that must be kept.")
    lines, problem, missing = list[Line](), "", ""
    for constraint in constraints:
        value = case.node.labels.get(constraint.key)
        if value is None:
            label = f"{domain(constraint.key)}, at most {constraint.max_skew}"
            lines.append(Line(label, f"no label {constraint.key}", "the node is in no domain"))
            if not problem:
                problem = missing = (
                    f"{case.node.name} has no label {constraint.key}, so it belongs nowhere to count in."
                )
            continue
        said, objection = _skew(case, constraint, constraints, value)
        lines += said
        problem = problem or objection
    lines += _excluded(case, constraints)
    lines += [Line("Constraints", origin)] if origin else []
    if missing:
        return refuses(problem, lines, f"{NOT_MATCHED} (missing required label)", code=UNRESOLVABLE)
    if problem:
        return refuses(problem, lines, NOT_MATCHED)
    return passes(f"On {case.node.name}, {case.name} stays evenly enough spread.", lines)


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
    lowest, note = min(domains.values(), default=NO_DOMAIN), "count + itself − fewest must not be more than maxSkew"
    against = f"the emptiest {key}"
    if len(domains) < constraint.min_domains:
        lowest = 0
        note = f"the fewest counts as 0: {plural(len(domains), 'domain')}, and minDomains is {constraint.min_domains}"
        against = f"an empty {key}, as there are fewer than {constraint.min_domains}"
    elif not domains:
        note = "no node counts, so nothing is too many"
    there = domains.get(value, 0)
    skew = there + itself - lowest
    least, result = ("∞", "−∞") if lowest == NO_DOMAIN else (str(lowest), str(skew))
    own = "" if itself else "; the pod itself does not match the selector"
    formula = f"{there} in {value} + {itself} itself − {least} fewest = {result} {'>' if skew > most else '≤'} {most}"
    selector = f"counts pods with {constraint.selector}" if str(constraint.selector) else "the selector counts nobody"
    lines = [
        Line(f"{key}, at most {most}", formula, note + own),
        Line(f"Pods per {key}", counted(domains, lowest), selector),
    ]
    if skew <= most:
        return lines, ""
    ahead = f"With {case.name}, {key} {value} would be {plural(skew, 'pod')} ahead of {against}; at most {most}"
    return lines, f"{ahead} {'is' if most == 1 else 'are'} allowed."


def _excluded(case: Case, constraints: Sequence[Constraint]) -> list[Line]:
    reasons: dict[str, str] = {}
    for node in case.seen.nodes.values():
        missing = lacks_a_key(node, constraints)
        why = (
            f"no label {missing}"
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
        text = f"{case.node.name} has no label {key}, so it gets nothing for spreading."
        return scored(text, [Line("Raw", "0", f"no label {key}"), Line("Normalized", "0", "left out")], 0, 0)
    total, parts, lines = 0.0, list[str](), list[Line]()
    for constraint in constraints:
        value = case.node.labels.get(constraint.key)
        if value is None:
            lines.append(Line(domain(constraint.key), "0", f"no label {constraint.key}"))
            continue
        number, size, said = _crowd(case, constraint, constraints, ignored, strict, value)
        weight = math.log(size + 2)
        total += number * weight + (constraint.max_skew - 1)
        parts.append(f"{number * weight + constraint.max_skew - 1:.3f}")
        formula = f"{plural(number, 'pod')} × ln({size} + 2) + ({constraint.max_skew} − 1) = {parts[-1]}"
        lines.append(Line(f"{domain(constraint.key)} {value}", formula, said))
    whole = int(total)
    raw = whole + 1 if total - whole >= 0.5 else whole
    lines.append(Line("Raw", f"{' + '.join(parts) or '0'} → {raw}", "rounded; the more matching pods, the higher"))
    line, normalized = _normalized(case, raw, ignored)
    lines += [line, *left_out(dict.fromkeys(ignored, "a topology label is missing, so it gets 0"))]
    lines += [Line("Constraints", origin)] if origin else []
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
            f"ln of the number of feasible nodes + 2; on this node: {_who(case, constraint)}",
        )
    domains = dict.fromkeys((node.labels.get(key, "") for node in kept), 0)
    for node in seen.nodes.values():
        where = node.labels.get(key, "")
        out = (strict and lacks_a_key(node, constraints)) or where not in domains or constraint.excludes(case.pod, node)
        if not out:
            domains[where] += constraint.number(seen.pods_on.get(node.name, ()), namespace)
    return domains[value], len(domains), f"ln of the number of domains + 2; pods per domain: {counted(domains)}"


def _who(case: Case, constraint: Constraint) -> str:
    found: list[PodInfo] = [info for info in case.here if constraint.counts(info.pod, case.pod.namespace)]
    return names(info.pod.key for info in found) or "nobody"


def _normalized(case: Case, raw: int, ignored: Sequence[str]) -> tuple[Line, int]:
    kept = [score for name, score in case.raws.items() if name not in ignored]
    highest, lowest = max(kept, default=0), min(kept, default=0)
    if highest == 0:
        return Line("Normalized", "100", "no node has matching pods, so all are equally good"), 100
    normalized = 100 * (highest + lowest - raw) // highest
    formula = f"100 × ({highest} + {lowest} − {raw}) / {highest} = {normalized}"
    return Line("Normalized", formula, f"highest raw score {highest}, lowest {lowest}"), normalized


def _score_text(case: Case, raw: int, ignored: Sequence[str]) -> str:
    kept = [score for name, score in case.raws.items() if name not in ignored]
    if not kept or min(kept) == max(kept):
        return f"For spreading, {case.node.name} is as good as every other node."
    if raw == min(kept):
        return f"{case.node.name} has the fewest pods like {case.name} around it, which is best for spreading."
    how = "the most" if raw == max(kept) else "more than the fewest"
    return f"{case.node.name} has {how} pods like {case.name} around it; fewer is better."
