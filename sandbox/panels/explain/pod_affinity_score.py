"""InterPodAffinity's score in words and numbers.

Source: seed 002 §3; upstream ``plugins/interpodaffinity/scoring.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sandbox.panels.explain.model import Case, Explanation, Line, names, place, scored, signed
from sandbox.panels.explain.pod_affinity import NO_LABELS, existing_pods, means, namespace_labels, with_namespaces
from scheduler_engine.framework.node_info import AffinityTerm, PodInfo, WeightedAffinityTerm

Wish = tuple[str, AffinityTerm, int]
"""(title, term, weight with its sign)"""


def _own_wishes(case: Case) -> list[Wish]:
    own, objects = PodInfo(case.pod), case.seen.pre_score

    def ready(item: WeightedAffinityTerm) -> WeightedAffinityTerm:
        return replace(item, term=with_namespaces(item.term, objects))

    wishes = [("likes", item.term, item.weight) for item in map(ready, own.preferred_affinity_terms)]
    return wishes + [("dislikes", item.term, -item.weight) for item in map(ready, own.preferred_anti_affinity_terms)]


def _their_wishes(info: PodInfo, hard_weight: int) -> Iterator[Wish]:
    if hard_weight > 0:
        for term in info.required_affinity_terms:
            yield "needs", term, hard_weight
    for item in info.preferred_affinity_terms:
        yield "likes", item.term, item.weight
    for item in info.preferred_anti_affinity_terms:
        yield "dislikes", item.term, -item.weight


def pod_affinity_score(case: Case) -> Explanation:
    """Every existing pod in one of the node's domains adds the weight of each term that means it, or by which it means
    the pod.
    """
    wishes = _own_wishes(case)
    ignore = bool(case.args.get("ignorePreferredTermsOfExistingPods", False)) and not wishes
    hard_weight = int(case.args.get("hardPodAffinityWeight", 1))
    labels = namespace_labels(case.pod, case.seen.pre_score)
    lines: list[Line] = []
    raw = 0
    for title, term, weight in wishes:
        near = [info.pod.key for info, where in _neighbours(case, term) if term.matches(info.pod, NO_LABELS)]
        raw += len(near) * weight
        lines.append(_line(f"{case.name} {title} {means(term)}", case, term, near, weight))
    for (title, _, weight), (term, holders) in ({} if ignore else _theirs(case, hard_weight, labels)).items():
        raw += weight * len(holders)
        lines.append(_line(f"{names(holders)} {title} {means(term)}", case, term, holders, weight))
    lines.append(Line("Raw", signed(raw), "the sum; a negative one means that there are more reasons against than for"))
    normalized, line = _normalized(case, raw)
    return scored(_sentence(case, raw), [*lines, line], raw, normalized)


def _neighbours(case: Case, term: AffinityTerm) -> Iterator[tuple[PodInfo, str]]:
    """Pods in the node's domain of the term's topology key."""
    value = case.node.labels.get(term.topology_key)
    for info, node in existing_pods(case) if value is not None else ():
        if node.labels.get(term.topology_key) == value:
            yield info, str(value)


def _theirs(
    case: Case, hard_weight: int, labels: Mapping[str, str]
) -> dict[tuple[str, str, int], tuple[AffinityTerm, list[str]]]:
    """Terms by which pods in the node's domains mean the incoming pod, with the pods that have them."""
    found: dict[tuple[str, str, int], tuple[AffinityTerm, list[str]]] = {}
    for info, node in existing_pods(case):
        if not info.pod.has_pod_affinity:
            continue
        for title, term, weight in _their_wishes(info, hard_weight):
            value = node.labels.get(term.topology_key)
            if (
                value is not None
                and case.node.labels.get(term.topology_key) == value
                and term.matches(case.pod, labels)
            ):
                same = f"{means(term)} by {term.topology_key}"
                found.setdefault((title, same, weight), (term, []))[1].append(info.pod.key)
    return found


def _line(label: str, case: Case, term: AffinityTerm, near: list[str], weight: int) -> Line:
    value = case.node.labels.get(term.topology_key)
    if value is None:
        return Line(label, "0", f"no label {term.topology_key}")
    where = f"{place(term.topology_key, value)}: {names(near) or 'nobody'}"
    return Line(label, f"{len(near)} × {signed(weight)} = {signed(len(near) * weight)}", where)


def _normalized(case: Case, raw: int) -> tuple[int, Line]:
    lowest, highest = min(case.raws.values(), default=0), max(case.raws.values(), default=0)
    if highest <= lowest:
        return 0, Line("Normalized", "0", "every node has the same, so every node gets 0")
    normalized = int(100 * ((raw - lowest) / (highest - lowest)))
    low = signed(lowest) if lowest >= 0 else f"({signed(lowest)})"
    formula = f"100 × ({signed(raw)} − {low}) / ({signed(highest)} − {low}) = {normalized}"
    return normalized, Line("Normalized", formula, "stretched from the lowest raw score (0) to the highest (100)")


def _sentence(case: Case, raw: int) -> str:
    if raw > 0:
        return f"The pods around {case.node.name} speak for putting {case.name} there."
    if raw < 0:
        return f"The pods around {case.node.name} speak against putting {case.name} there."
    return f"The pods around {case.node.name} speak neither for nor against {case.name}."
