"""InterPodAffinity's filter in words and numbers: which existing pods attract or block.

Source: seed 002 §3; upstream ``plugins/interpodaffinity/filtering.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sandbox.panels.explain.model import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Case,
    Explanation,
    Line,
    names,
    passes,
    place,
    refuses,
)
from sandbox.panels.model.seen import Objects
from sandbox.panels.words.say import say
from scheduler_engine.api.labels import NOTHING
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.node_info import AffinityTerm, PodInfo

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
NO_LABELS: Mapping[str, str] = {}


def with_namespaces(term: AffinityTerm, objects: Objects) -> AffinityTerm:
    """``term`` with the namespaces that its selector finds listed by name; an empty selector means every namespace."""
    if term.namespace_selector.empty:
        return term
    found = [item.name for item in objects.list("Namespace") if term.namespace_selector.matches(item.labels)]
    return replace(term, namespaces=tuple(dict.fromkeys((*term.namespaces, *found))), namespace_selector=NOTHING)


def namespace_labels(pod: Pod, objects: Objects) -> Mapping[str, str]:
    namespace = objects.get("Namespace", pod.namespace)
    return namespace.labels if namespace is not None else NO_LABELS


def means(term: AffinityTerm) -> str:
    """``pods with app in (web)``; other namespaces are named."""
    if str(term.selector):
        pods = say("pod-affinity.pods-with", selector=term.selector)
    else:
        pods = say("pod-affinity.no-pods") if term.selector.nothing else say("pod-affinity.all-pods")
    if term.namespace_selector.empty:
        return say("pod-affinity.in-every-namespace", pods=pods)
    namespaces = names(term.namespaces)
    return pods if namespaces == "default" else say("pod-affinity.in-namespaces", pods=pods, namespaces=namespaces)


def existing_pods(case: Case) -> Iterator[tuple[PodInfo, Node]]:
    """Every pod of the snapshot with its node, then the nominated ones on this node."""
    for node in case.seen.nodes.values():
        for info in case.seen.pods_on.get(node.name, ()):
            yield info, node
    for info in case.nominated:
        yield info, case.node


def matches_all(terms: Sequence[AffinityTerm], pod: Pod) -> bool:
    return bool(terms) and all(term.matches(pod, NO_LABELS) for term in terms)


def pod_affinity_filter(case: Case) -> Explanation:
    own, objects = PodInfo(case.pod), case.seen.pre_filter
    terms = [with_namespaces(term, objects) for term in own.required_affinity_terms]
    anti_terms = [with_namespaces(term, objects) for term in own.required_anti_affinity_terms]
    found: list[Line] = []
    problems = [
        problem
        for problem in (_affinity(case, terms, found), _anti(case, anti_terms, found), _existing(case, found))
        if problem
    ]
    if problems:
        sentence, reason, code = problems[0]
        return refuses(sentence, found, reason, code=code)
    if not found:
        return passes(say("pod-affinity.no-rule", pod=case.name, node=case.node.name))
    return passes(say("pod-affinity.gets-along", pod=case.name, node=case.node.name), found)


Problem = tuple[str, str, str]
"""(sentence, reason, code)"""


def _affinity(case: Case, terms: Sequence[AffinityTerm], lines: list[Line]) -> Problem | None:
    """Pods that match ALL terms count, per topology key of each term."""
    if not terms:
        return None
    matching = [(info, node) for info, node in existing_pods(case) if matches_all(terms, info.pod)]
    countable = any(term.topology_key in node.labels for _, node in matching for term in terms)
    first_of_group = matches_all(terms, case.pod) and not countable
    failed, keyless = "", False
    for term in terms:
        value = case.node.labels.get(term.topology_key)
        near = _in_domain(matching, term.topology_key, value)
        if value is None:
            keyless, note = True, say("explain.in-no-domain")
        elif near:
            note = ""
        else:
            note = say("pod-affinity.first-of-its-group" if first_of_group else "pod-affinity.nobody-to-be-near-to")
        lines.append(Line(say("pod-affinity.near", pods=means(term)), _there(term.topology_key, value, near), note))
        if not near and not failed:
            failed = _lonely(case, term, value)
    if keyless or (failed and not first_of_group):
        return failed, AFFINITY, UNRESOLVABLE
    return None


def _there(key: str, value: str | None, near: list[str]) -> str:
    """Who is in the node's domain: ``web-1 and web-2 in zone eu-a``."""
    if value is None:
        return say("explain.no-label", key=key)
    if near:
        return say("pod-affinity.somebody-there", names=names(near), where=place(key, value))
    return say("pod-affinity.nobody-there", where=place(key, value))


def _lonely(case: Case, term: AffinityTerm, value: str | None) -> str:
    pods, key = means(term), term.topology_key
    if value is None:
        return say("pod-affinity.must-be-near-but-no-label", pod=case.name, pods=pods, node=case.node.name, key=key)
    return say("pod-affinity.must-be-near-but-none", pod=case.name, pods=pods, where=place(key, value))


def _in_domain(pods: Iterable[tuple[PodInfo, Node]], key: str, value: str | None) -> list[str]:
    """Those of ``pods`` whose node has ``value`` under ``key``."""
    return [info.pod.key for info, node in pods if value is not None and node.labels.get(key) == value]


def _anti(case: Case, terms: Sequence[AffinityTerm], lines: list[Line]) -> Problem | None:
    failed = ""
    for term in terms:
        value = case.node.labels.get(term.topology_key)
        meant = ((info, node) for info, node in existing_pods(case) if term.matches(info.pod, NO_LABELS))
        near, where = _in_domain(meant, term.topology_key, value), place(term.topology_key, value)
        pods, note = means(term), say("pod-affinity.in-the-way") if near else ""
        lines.append(Line(say("pod-affinity.not-near", pods=pods), _there(term.topology_key, value, near), note))
        if near and not failed:
            failed = say(
                "pod-affinity.must-not-be-near",
                count=len(near),
                pod=case.name,
                pods=pods,
                names=names(near),
                where=where,
            )
    return (failed, ANTI_AFFINITY, UNSCHEDULABLE) if failed else None


def _existing(case: Case, lines: list[Line]) -> Problem | None:
    """Symmetry: the required anti-affinity of pods that are there already."""
    labels = namespace_labels(case.pod, case.seen.pre_filter)
    holders: dict[tuple[str, str], list[str]] = {}
    for info, node in existing_pods(case):
        for term in info.required_anti_affinity_terms:
            value = node.labels.get(term.topology_key)
            if (
                value is not None
                and case.node.labels.get(term.topology_key) == value
                and term.matches(case.pod, labels)
            ):
                holders.setdefault((means(term), place(term.topology_key, value)), []).append(info.pod.key)
    for (meant, where), keys in holders.items():
        lines.append(
            Line(
                say("pod-affinity.keeps-off", count=len(keys), names=names(keys), pods=meant),
                say("pod-affinity.keeper-runs", count=len(keys), where=where),
                say("pod-affinity.such-a-pod", pod=case.name),
            )
        )
    for (_, where), keys in holders.items():
        text = say("pod-affinity.wants-no-such-pod", count=len(keys), names=names(keys), where=where, pod=case.name)
        return text, EXISTING, UNSCHEDULABLE
    return None
