"""All rules of pod affinity that concern the incoming pod, and whom they find in each domain.

Source: seed 002 §3; upstream ``interpodaffinity/filtering.go`` and ``scoring.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler_engine.framework.boards import AffinityBoard, AffinityDomain, AffinityRule
from scheduler_engine.framework.facts import Fact, Keys
from scheduler_engine.framework.node_info import AffinityTerm, NodeInfo
from scheduler_engine.plugins.inter_pod_affinity.facts import own_term, term_value
from scheduler_engine.plugins.inter_pod_affinity.filtering import FAR, KEEPS_OFF, NEAR, FilterState
from scheduler_engine.plugins.inter_pod_affinity.scoring import DISLIKES, LIKES, THEIRS, ScoreState
from scheduler_engine.plugins.inter_pod_affinity.uncounted import filter_uncounted, score_uncounted
from scheduler_engine.plugins.inter_pod_affinity.who import NOBODY, Who, Wish


def affinity_board(
    required: FilterState | None, preferred: ScoreState | None, nodes: Sequence[NodeInfo], idle: Sequence[Fact] = ()
) -> AffinityBoard:
    """Return the rules of both states. None: PreFilter or PreScore found nothing to do.

    ``idle``: the rules of existing pods without effect.
    """
    rules: list[AffinityRule] = []
    left_out: list[Fact] = []
    if required is not None:
        rules += _required(required, nodes)
        left_out += filter_uncounted(required, nodes)
    if preferred is not None:
        rules += _preferred(preferred, nodes)
        left_out += score_uncounted(preferred, nodes)
    return AffinityBoard(tuple(rules), (*left_out, *idle))


def _required(state: FilterState, nodes: Sequence[NodeInfo]) -> Iterator[AffinityRule]:
    who = state.who(nodes)
    for number, term in enumerate(state.terms, 1):
        domains = [
            AffinityDomain(name, pods, state.first_of_group or state.affinity.get((term.topology_key, name)) > 0)
            for name, pods in _in_domains(who, (NEAR, term, 0), nodes)
        ]
        lacking = Keys(info.name for info in nodes if info.node and term.topology_key not in info.node.labels)
        means = own_term(term, number, len(state.terms))
        yield AffinityRule(NEAR, term.topology_key, means, 0, tuple(domains), lacking, state.first_of_group)
    for number, term in enumerate(state.anti_terms, 1):
        found = [
            AffinityDomain(name, pods, state.anti_affinity.get((term.topology_key, name)) <= 0)
            for name, pods in _in_domains(who, (FAR, term, 0), nodes)
            if pods
        ]
        yield AffinityRule(FAR, term.topology_key, own_term(term, number, len(state.anti_terms)), 0, tuple(found))
    for _, term, _ in _theirs(who, (KEEPS_OFF,)):
        kept = [
            AffinityDomain(name, pods, state.existing.get((term.topology_key, name)) <= 0)
            for name, pods in _in_domains(who, (KEEPS_OFF, term, 0), nodes)
            if pods
        ]
        yield AffinityRule(KEEPS_OFF, term.topology_key, term_value(term), 0, tuple(kept))


def _preferred(state: ScoreState, nodes: Sequence[NodeInfo]) -> Iterator[AffinityRule]:
    """Yield the preferences of both sides. The shares of a domain add up to its weight in the state."""
    who = state.who(nodes)
    for kind in (LIKES, DISLIKES):
        wishes = [wish for wish in state.preferred if wish[0] == kind]
        for number, wish in enumerate(wishes, 1):
            _, term, weight = wish
            domains = [
                AffinityDomain(name, pods, None, len(pods) * weight)
                for name, pods in _in_domains(who, wish, nodes)
                if pods
            ]
            means = own_term(term, number, len(wishes))
            yield AffinityRule(kind, term.topology_key, means, weight, tuple(domains))
    for wish in _theirs(who, THEIRS):
        kind, term, weight = wish
        yield AffinityRule(kind, term.topology_key, term_value(term), weight, (*_shares(who, wish, nodes),))


def _shares(who: Who, wish: Wish, nodes: Sequence[NodeInfo]) -> Iterator[AffinityDomain]:
    """Yield what existing pods' preferences add; a pod with two equal terms counts twice."""
    _, term, weight = wish
    for name in _names(term, nodes):
        pods = who.by_domain.get((term.topology_key, name), {}).get(wish, NOBODY)
        if pods:
            yield AffinityDomain(name, pods, None, len(pods) * weight)


def _theirs(who: Who, kinds: Sequence[str]) -> list[Wish]:
    """Return the wishes of existing pods, each once, by kind and topology key."""
    wishes = dict.fromkeys(wish for wishes in who.by_domain.values() for wish in wishes if wish[0] in kinds)
    return sorted(wishes, key=lambda wish: (kinds.index(wish[0]), wish[1].topology_key, str(wish[1].selector), wish[2]))


def _in_domains(who: Who, wish: Wish, nodes: Sequence[NodeInfo]) -> Iterator[tuple[str, Keys]]:
    """Yield each domain of the wish's topology key with the pods that count there, each once."""
    key = wish[1].topology_key
    for name in _names(wish[1], nodes):
        yield name, Keys(dict.fromkeys(who.by_domain.get((key, name), {}).get(wish, NOBODY)))


def _names(term: AffinityTerm, nodes: Sequence[NodeInfo]) -> list[str]:
    labels = (info.node.labels for info in nodes if info.node is not None)
    return [*dict.fromkeys(held[term.topology_key] for held in labels if term.topology_key in held)]
