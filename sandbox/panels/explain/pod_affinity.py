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
    every = "every namespace" if term.namespace_selector.empty else names(term.namespaces)
    selector = (
        f"pods with {term.selector}" if str(term.selector) else "no pods" if term.selector.nothing else "all pods"
    )
    return selector if every == "default" else f"{selector} in {every}"


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
        return passes(f"No affinity rule concerns {case.name} on {case.node.name}.")
    return passes(f"{case.name} gets along with the pods around {case.node.name}.", found)


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
        where = f"no label {term.topology_key}" if value is None else place(term.topology_key, value)
        note = "" if near else "nobody to be near to"
        if value is None:
            keyless, note = True, "the node is in no domain"
        elif not near and first_of_group:
            note = "nobody anywhere matches, but the pod matches itself: as the first of its group it may go"
        lines.append(
            Line(f"Near {means(term)}", where if value is None else f"{names(near) or 'nobody'} {where}", note)
        )
        if not near and not failed:
            lack = f"{case.node.name} has {where}" if value is None else f"there are none {where}"
            failed = f"{case.name} must be near {means(term)}, and {lack}."
    if keyless or (failed and not first_of_group):
        return failed, AFFINITY, UNRESOLVABLE
    return None


def _in_domain(pods: Iterable[tuple[PodInfo, Node]], key: str, value: str | None) -> list[str]:
    """Those of ``pods`` whose node has ``value`` under ``key``."""
    return [info.pod.key for info, node in pods if value is not None and node.labels.get(key) == value]


def _anti(case: Case, terms: Sequence[AffinityTerm], lines: list[Line]) -> Problem | None:
    failed = ""
    for term in terms:
        value = case.node.labels.get(term.topology_key)
        meant = ((info, node) for info, node in existing_pods(case) if term.matches(info.pod, NO_LABELS))
        near, where = _in_domain(meant, term.topology_key, value), place(term.topology_key, value)
        said = f"no label {term.topology_key}" if value is None else f"{names(near) or 'nobody'} {where}"
        lines.append(Line(f"Not near {means(term)}", said, "in the way" if near else ""))
        if near and not failed:
            runs = "runs" if len(near) == 1 else "run"
            failed = f"{case.name} must not be near {means(term)}, and {names(near)} {runs} {where}."
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
        keeps, runs = ("keeps", "it runs") if len(keys) == 1 else ("keep", "they run")
        lines.append(Line(f"{names(keys)} {keeps} off {meant}", f"{runs} {where}", f"{case.name} is such a pod"))
    for (_, where), keys in holders.items():
        wants = "wants" if len(keys) == 1 else "want"
        said = f"{names(keys)} {where} {wants} no pod like {case.name} near: their anti-affinity counts, too."
        return said if len(keys) > 1 else said.replace(" their ", " its "), EXISTING, UNSCHEDULABLE
    return None
