"""InterPodAffinity's score in words and numbers.

Source: seed 002 §3; upstream ``plugins/interpodaffinity/scoring.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sandbox.panels.explain.model import Case, Explanation, Line, names, place, scored, signed
from sandbox.panels.explain.pod_affinity import NO_LABELS, existing_pods, means, namespace_labels, with_namespaces
from sandbox.panels.words.say import say
from scheduler_engine.framework.node_info import AffinityTerm, PodInfo, WeightedAffinityTerm

Wish = tuple[str, AffinityTerm, int]
"""(key of what the pods feel, term, weight with its sign)"""
LIKES, DISLIKES, NEEDS = "pod-affinity.likes", "pod-affinity.dislikes", "pod-affinity.needs"


def _own_wishes(case: Case) -> list[Wish]:
    own, objects = PodInfo(case.pod), case.seen.pre_score

    def ready(item: WeightedAffinityTerm) -> WeightedAffinityTerm:
        return replace(item, term=with_namespaces(item.term, objects))

    wishes = [(LIKES, item.term, item.weight) for item in map(ready, own.preferred_affinity_terms)]
    return wishes + [(DISLIKES, item.term, -item.weight) for item in map(ready, own.preferred_anti_affinity_terms)]


def _their_wishes(info: PodInfo, hard_weight: int) -> Iterator[Wish]:
    if hard_weight > 0:
        for term in info.required_affinity_terms:
            yield NEEDS, term, hard_weight
    for item in info.preferred_affinity_terms:
        yield LIKES, item.term, item.weight
    for item in info.preferred_anti_affinity_terms:
        yield DISLIKES, item.term, -item.weight


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
    for key, term, weight in wishes:
        near = [info.pod.key for info, where in _neighbours(case, term) if term.matches(info.pod, NO_LABELS)]
        raw += len(near) * weight
        lines.append(_line(say(key, count=1, names=case.name, pods=means(term)), case, term, near, weight))
    for (key, _, weight), (term, holders) in ({} if ignore else _theirs(case, hard_weight, labels)).items():
        raw += weight * len(holders)
        label = say(key, count=len(holders), names=names(holders), pods=means(term))
        lines.append(_line(label, case, term, holders, weight))
    lines.append(Line(say("explain.raw"), signed(raw), say("pod-affinity.raw-note")))
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
        for key, term, weight in _their_wishes(info, hard_weight):
            value = node.labels.get(term.topology_key)
            if (
                value is not None
                and case.node.labels.get(term.topology_key) == value
                and term.matches(case.pod, labels)
            ):
                same = f"{means(term)} by {term.topology_key}"
                found.setdefault((key, same, weight), (term, []))[1].append(info.pod.key)
    return found


def _line(label: str, case: Case, term: AffinityTerm, near: list[str], weight: int) -> Line:
    value = case.node.labels.get(term.topology_key)
    if value is None:
        return Line(label, "0", say("explain.no-label", key=term.topology_key))
    where = place(term.topology_key, value)
    if near:
        note = say("pod-affinity.who-is-there", where=where, names=names(near))
    else:
        note = say("pod-affinity.who-is-there-nobody", where=where)
    return Line(label, f"{len(near)} × {signed(weight)} = {signed(len(near) * weight)}", note)


def _normalized(case: Case, raw: int) -> tuple[int, Line]:
    lowest, highest = min(case.raws.values(), default=0), max(case.raws.values(), default=0)
    if highest <= lowest:
        return 0, Line(say("explain.normalized"), "0", say("pod-affinity.all-the-same"))
    normalized = int(100 * ((raw - lowest) / (highest - lowest)))
    low = signed(lowest) if lowest >= 0 else f"({signed(lowest)})"
    formula = f"100 × ({signed(raw)} − {low}) / ({signed(highest)} − {low}) = {normalized}"
    return normalized, Line(say("explain.normalized"), formula, say("pod-affinity.stretched"))


def _sentence(case: Case, raw: int) -> str:
    if raw > 0:
        return say("pod-affinity.speaks-for", node=case.node.name, pod=case.name)
    if raw < 0:
        return say("pod-affinity.speaks-against", node=case.node.name, pod=case.name)
    return say("pod-affinity.speaks-neither-way", node=case.node.name, pod=case.name)
