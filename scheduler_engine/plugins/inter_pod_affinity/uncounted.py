"""Facts on pods that a term's labelSelector matches, and that do not count: by their namespace, or by their node; and
on rules of existing pods without effect, because their nodes lack the topology key.

Source: seed 002 §3; upstream ``interpodaffinity/filtering.go`` and ``scoring.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.facts import Fact, Keys, Term, fact
from scheduler_engine.framework.node_info import AffinityTerm, NodeInfo, PodInfo
from scheduler_engine.plugins.inter_pod_affinity.facts import own_term, term_value
from scheduler_engine.plugins.inter_pod_affinity.filtering import KEEPS_OFF, FilterState
from scheduler_engine.plugins.inter_pod_affinity.scoring import (
    DISLIKES,
    LIKES,
    THEY_DISLIKE,
    THEY_LIKE,
    THEY_NEED,
    ScoreState,
)
from scheduler_engine.plugins.inter_pod_affinity.terms import NO_LABELS


def filter_uncounted(state: FilterState, nodes: Sequence[NodeInfo]) -> tuple[Fact, ...]:
    """Return these pods for the incoming pod's required terms; the same for every node."""
    return tuple(_of_several((state.terms, state.anti_terms), nodes))


def score_uncounted(state: ScoreState, nodes: Sequence[NodeInfo]) -> tuple[Fact, ...]:
    """Return these pods for the incoming pod's preferred terms; the same for every node."""
    kinds = ([term for kind, term, _ in state.preferred if kind == wanted] for wanted in (LIKES, DISLIKES))
    return tuple(_of_several(kinds, nodes))


def _of_several(lists: Iterable[Sequence[AffinityTerm]], nodes: Sequence[NodeInfo]) -> Iterator[Fact]:
    for terms in lists:
        for number, term in enumerate(terms, 1):
            # A term for every pod would name every pod of the other namespaces.
            if not term.selector.empty:
                yield from _of_one(term, own_term(term, number, len(terms)), nodes)


def _of_one(term: AffinityTerm, means: Term, nodes: Sequence[NodeInfo]) -> Iterator[Fact]:
    elsewhere: list[str] = []
    in_no_domain: list[str] = []
    for info in nodes:
        for held in info.pods if info.node is not None else ():
            if not term.matches(held.pod, NO_LABELS):
                if term.selector.matches(held.pod.labels):
                    elsewhere.append(held.pod.key)
            elif info.node is not None and term.topology_key not in info.node.labels:
                in_no_domain.append(held.pod.key)
    rows = {"uncounted-by-label": in_no_domain, "uncounted-by-namespace": elsewhere}
    for row, keys in rows.items():
        if keys:
            pods = Keys(keys)
            yield fact(f"pod-affinity.{row}", term=means, pods=pods, count=len(pods), key=term.topology_key)


def without_effect(
    pod: Pod, namespace_labels: Mapping[str, str], kinds: Sequence[str], nodes: Sequence[NodeInfo]
) -> Iterator[Fact]:
    """Yield the rules of existing pods that select ``pod``, and whose nodes lack the topology key, by kind."""
    found: dict[tuple[str, AffinityTerm], tuple[dict[str, None], dict[str, None]]] = {}
    for info in nodes:
        labels = info.node.labels if info.node is not None else {}
        for held in info.pods_with_affinity if info.node is not None else ():
            for kind, term in _rules_of(held):
                if kind in kinds and term.topology_key not in labels and term.matches(pod, namespace_labels):
                    pods, lacking = found.setdefault((kind, term), ({}, {}))
                    pods[held.pod.key], lacking[info.name] = None, None
    for kind, term in sorted(found, key=lambda rule: kinds.index(rule[0])):
        pods, lacking = found[kind, term]
        yield fact(
            f"pod-affinity.{kind}-without-effect",
            term=term_value(term),
            pods=Keys(sorted(pods)),
            nodes=Keys(sorted(lacking)),
            count=len(lacking),
            key=term.topology_key,
        )


def _rules_of(held: PodInfo) -> Iterator[tuple[str, AffinityTerm]]:
    yield from ((KEEPS_OFF, term) for term in held.required_anti_affinity_terms)
    yield from ((THEY_NEED, term) for term in held.required_affinity_terms)
    yield from ((THEY_LIKE, item.term) for item in held.preferred_affinity_terms)
    yield from ((THEY_DISLIKE, item.term) for item in held.preferred_anti_affinity_terms)
