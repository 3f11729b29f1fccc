"""Facts behind Filter's verdict: each term, and the pods that it finds in the node's domain.

Source: seed 002 §3; upstream ``interpodaffinity/filtering.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.framework.facts import Fact, Facts, Keys, Place, Term, Value, fact, reads_alike
from scheduler_engine.framework.interface import NodeInfoLister
from scheduler_engine.framework.node_info import AffinityTerm, NodeInfo
from scheduler_engine.framework.status import Status
from scheduler_engine.plugins.inter_pod_affinity.filtering import (
    AFFINITY_FAILED,
    ANTI_AFFINITY_FAILED,
    FAR,
    KEEPS_OFF,
    NEAR,
    FilterState,
    there,
)
from scheduler_engine.plugins.inter_pod_affinity.terms import NO_LABELS
from scheduler_engine.plugins.inter_pod_affinity.who import Who

Values = dict[str, Value]


def filter_facts(state: FilterState, node_info: NodeInfo, snapshot: NodeInfoLister) -> Facts:
    """Explain the verdict on one node. Its pods may differ from the snapshot: the state has counted these."""
    assert node_info.node is not None
    who, was, labels = state.who(snapshot.list()), snapshot.get(node_info.name), node_info.node.labels
    if was is not node_info:
        who = who.changed(state.meet, node_info.node, was.pods if was is not None else (), node_info.pods)
    names: Values = {"pod": Keys((state.pod.key,)), "node": node_info.name, "terms": len(state.terms)}
    names["all"] = fact("pod-affinity.both" if len(state.terms) == 2 else "pod-affinity.all", terms=len(state.terms))
    near = [*_near(state, who, labels, names)]
    far = [*_far(state, who, labels, names)]
    kept = [*_kept_off(state, who, labels, names)]
    terms = [*every_namespace(state.terms), *every_namespace(state.anti_terms)]
    shown = (*near, *far, *kept, *terms, *leaving(who, (*near, *far, *kept)))
    status = state.check(labels)
    return Facts(_conclusion(status, near, far, kept) or _no_objection(shown, names), shown, status)


def term_value(term: AffinityTerm, number: int = 0) -> Term:
    """Return a term of an existing pod; its namespaceSelector sees the labels of the incoming pod's namespace."""
    spaces = term.namespace_selector
    return Term(
        None if term.selector.nothing else str(term.selector),
        term.namespaces,
        None if spaces.nothing else str(spaces),
        number,
    )


def own_term(term: AffinityTerm, number: int, of: int) -> Term:
    """Return a term of the incoming pod, whose namespaces are listed; it has a number if there are several."""
    everywhere = term.namespace_selector.matches(NO_LABELS)
    number = number if of > 1 else 0
    return term_value(term, number)._replace(namespace_selector="" if everywhere else None)


def counted(term: AffinityTerm, labels: Mapping[str, str], pods: Keys, names: Values, keys: Sequence[str]) -> Values:
    """Return the pods that a term counts in the domain of a node with these labels, each once.

    ``keys``: the topology keys of all terms that are shown.
    """
    pods, key = Keys(dict.fromkeys(pods)), term.topology_key
    return {
        **names,
        "key": key,
        "where": Place(key, labels.get(key), reads_alike(key, keys)),
        "pods": pods,
        "first": Keys(pods[:1]),
        "count": len(pods),
    }


def _near(state: FilterState, who: Who, labels: Mapping[str, str], names: Values) -> Iterator[Fact]:
    for number, term in enumerate(state.terms, 1):
        key = term.topology_key
        if key not in labels:
            row, ok = "near-no-label", False
        elif there(state.affinity, key, labels) > 0:
            row, ok = "near", True
        else:
            nobody = "near-nobody" if len(state.terms) == 1 else "near-nobody-of-all"
            row, ok = ("near-first-of-group", True) if state.first_of_group else (nobody, False)
        means = own_term(term, number, len(state.terms))
        values = counted(term, labels, who.pods((NEAR, term, 0), labels), names, _keys(state))
        yield fact(f"pod-affinity.{row}", ok, term=means, **values)
    if len(state.terms) > 1:
        yield fact("pod-affinity.near-all-terms", all=names["all"])


def _far(state: FilterState, who: Who, labels: Mapping[str, str], names: Values) -> Iterator[Fact]:
    """Explain the anti-affinity. Terms of one topology key share a count: the pods found show which one refuses."""
    for number, term in enumerate(state.anti_terms, 1):
        key, pods = term.topology_key, who.pods((FAR, term, 0), labels)
        in_the_way = there(state.anti_affinity, key, labels) > 0 and bool(pods)
        row = "not-near" if in_the_way else "not-near-nobody" if key in labels else "not-near-no-label"
        means = own_term(term, number, len(state.anti_terms))
        values = counted(term, labels, pods, names, _keys(state))
        yield fact(f"pod-affinity.{row}", not in_the_way, term=means, **values)


def _kept_off(state: FilterState, who: Who, labels: Mapping[str, str], names: Values) -> Iterator[Fact]:
    """Explain the symmetry: the required anti-affinity of existing pods."""
    for key in state.existing_keys:
        for (_, term, _), pods in who.wishes((KEEPS_OFF,), key, labels):
            values = counted(term, labels, pods, names, _keys(state))
            yield fact(
                "pod-affinity.keeps-off", there(state.existing, key, labels) <= 0, term=term_value(term), **values
            )


def _keys(state: FilterState) -> list[str]:
    return [*(term.topology_key for term in (*state.terms, *state.anti_terms)), *state.existing_keys]


def every_namespace(terms: Sequence[AffinityTerm]) -> Iterator[Fact]:
    """Name terms whose namespaceSelector matches every namespace without looking like it."""
    for number, term in enumerate(terms, 1):
        spaces = term.namespace_selector
        if not spaces.empty and spaces.matches(NO_LABELS):
            means = own_term(term, number, len(terms))
            yield fact("pod-affinity.every-namespace", term=means, selector=str(spaces))


def leaving(who: Who, facts: Sequence[Fact]) -> Iterator[Fact]:
    """Return which pods named in ``facts`` are being deleted."""
    named = dict.fromkeys(key for item in facts if isinstance(pods := item.values.get("pods"), Keys) for key in pods)
    pods = Keys(key for key in who.leaving if key in named)
    if pods:
        yield fact("pod-affinity.leaving", pods=pods, count=len(pods))


def _conclusion(status: Status | None, near: Sequence[Fact], far: Sequence[Fact], kept: Sequence[Fact]) -> Fact | None:
    """Return the conclusion from the first fact that refused the node; None if the node passes."""
    if status is None:
        return None
    against = near if status is AFFINITY_FAILED else far if status is ANTI_AFFINITY_FAILED else kept
    first = next(item for item in against if item.ok is False)
    if status is AFFINITY_FAILED:
        nobody = "must-be-near-but-none-of-all" if first.values["terms"] != 1 else "must-be-near-but-none"
        if any(isinstance(means := item.values.get("term"), Term) and means.selector is None for item in near):
            nobody = "must-be-near-but-selects-none"
        row = "must-be-near-but-no-label" if first.key == "pod-affinity.near-no-label" else nobody
        return Fact(f"pod-affinity.{row}", first.values, False)
    if status is ANTI_AFFINITY_FAILED:
        row = "must-not-be-near-here" if first.values["key"] == HOSTNAME else "must-not-be-near"
        return Fact(f"pod-affinity.{row}", first.values, False)
    return Fact("pod-affinity.wants-no-such-pod", first.values, False)


def _no_objection(shown: Sequence[Fact], names: Values) -> Fact:
    return fact("pod-affinity.gets-along" if shown else "pod-affinity.no-rule", True, **names)
