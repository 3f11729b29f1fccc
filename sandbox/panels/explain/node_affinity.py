"""NodeAffinity in words and numbers: node selector, required terms, preferred weights, the profile's addedAffinity.

Source: seed 002 §2; upstream ``plugins/nodeaffinity``.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.panels.explain.model import (
    UNRESOLVABLE,
    Case,
    Explanation,
    Line,
    all_of,
    any_of,
    label_of,
    passes,
    refuses,
    scaled,
)
from sandbox.panels.words.say import say
from scheduler_engine.api.labels import Requirement
from scheduler_engine.api.node_affinity import NodeSelector, NodeSelectorTerm, node_selector_from, preferred_terms
from scheduler_engine.api.objects import Node

ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
NOT_MATCHED = "node(s) didn't match Pod's node affinity/selector"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def wanted(requirement: Requirement) -> str:
    """``disktype In [ssd]``."""
    values = f" [{', '.join(requirement.values)}]" if requirement.values else ""
    return f"{requirement.key} {requirement.operator}{values}"


PLAIN = {
    "In": "node-affinity.wants-in",
    "NotIn": "node-affinity.wants-not-in",
    "Exists": "node-affinity.wants-exists",
    "DoesNotExist": "node-affinity.wants-does-not-exist",
    "Gt": "node-affinity.wants-above",
    "Lt": "node-affinity.wants-below",
}


def plain(requirement: Requirement) -> str:
    """``zone eu-a or eu-b``: for sentences."""
    key = requirement.key.rpartition("/")[2]
    return say(PLAIN[requirement.operator], key=key, values=any_of(requirement.values))


def _lacks(requirement: Requirement, node: Node) -> str:
    """``zone eu-a; node-1 has zone eu-b``."""
    key, short = requirement.key, requirement.key.rpartition("/")[2]
    if key not in node.labels:
        return say("node-affinity.node-has-no", wanted=plain(requirement), node=node.name, key=short)
    return say("node-affinity.node-has", wanted=plain(requirement), node=node.name, key=short, value=node.labels[key])


def _misses(term: NodeSelectorTerm, node: Node) -> list[tuple[str, str]]:
    """What of ``term`` the node does not fulfil: (in plain words, precisely)."""
    fields = {"metadata.name": node.name}
    missed = [
        (
            _lacks(item, node),
            say("node-affinity.node-has-label", wanted=wanted(item), label=label_of(node.labels, item.key)),
        )
        for item in term.expressions
        if not item.matches(node.labels)
    ]
    missed += [
        (
            say("node-affinity.this-is", wanted=plain(item), node=node.name),
            say("node-affinity.node-is", wanted=wanted(item), node=node.name),
        )
        for item in term.fields
        if not item.matches(fields)
    ]
    if not term.expressions and not term.fields:
        missed.append((say("node-affinity.what-no-node-has"), say("node-affinity.empty-term-matches-nothing")))
    return missed


def _precisely(missed: list[tuple[str, str]]) -> str:
    return "; ".join(precise for _, precise in missed)


def _term(term: NodeSelectorTerm) -> str:
    return all_of([wanted(item) for item in (*term.expressions, *term.fields)]) or say("node-affinity.empty-term")


def _selector(title: str, selector: NodeSelector, node: Node) -> tuple[bool, list[Line], str]:
    """Whether any term matches, a line per term, and what the first one misses, in plain words."""
    lines, first = [], say("node-affinity.what-no-node-has")
    for number, term in enumerate(selector.terms, 1):
        missed = _misses(term, node)
        label = title if len(selector.terms) == 1 else say("node-affinity.term", title=title, number=number)
        note = say("node-affinity.fails", missed=_precisely(missed)) if missed else say("node-affinity.matches")
        lines.append(Line(label, _term(term), note))
        if number == 1 and missed:
            first = missed[0][0]
    return selector.matches(node.name, node.labels), lines, first


def _label_selector(requirements: Iterable[Requirement], node: Node) -> tuple[list[Line], str]:
    """A line per label that is asked for, and the first that is missed, in plain words."""
    lines, problem = [], ""
    for item in requirements:
        matches = item.matches(node.labels)
        if matches:
            note = say("node-affinity.matches")
        else:
            note = say("node-affinity.selector-fails", label=label_of(node.labels, item.key))
        lines.append(Line("nodeSelector", f"{item.key}={item.values[0]}", note))
        if not matches and not problem:
            problem = _lacks(item, node)
    return lines, problem


def affinity_filter(case: Case) -> Explanation:
    node, lines = case.node, list[Line]()
    added = (case.args.get("addedAffinity") or {}).get(REQUIRED)
    if added is not None:
        matched, said, why = _selector(say("node-affinity.added"), node_selector_from(added), node)
        lines += said
        if not matched:
            text = say("node-affinity.profile-wants", node=node.name, missed=why)
            return refuses(text, lines, ENFORCED, code=UNRESOLVABLE)
    affinity = case.pod.required_node_affinity
    said, problem = _label_selector(affinity.label_selector.requirements, node)
    lines += said
    if affinity.node_selector is not None:
        matched, said, why = _selector(say("node-affinity.required"), affinity.node_selector, node)
        lines += said
        if not matched and not problem:
            problem = why if len(said) < 2 else say("node-affinity.no-term-matches", number=len(said))
    if problem:
        text = say("node-affinity.pod-needs", pod=case.name, missed=problem)
        return refuses(text, lines, NOT_MATCHED, code=UNRESOLVABLE)
    if not lines:
        return passes(say("node-affinity.asks-nothing", pod=case.name))
    return passes(say("node-affinity.has-the-labels", node=node.name, pod=case.name), lines)


def affinity_score(case: Case) -> Explanation:
    node, lines, weights = case.node, list[Line](), list[int]()
    sources = (
        ("node-affinity.added-weight", preferred_terms(case.args.get("addedAffinity"))),
        ("node-affinity.own-weight", case.pod.preferred_node_terms),
    )
    for key, terms in sources:
        for item in terms:
            matches = item.term.matches(node.name, node.labels)
            weights += [item.weight] if matches else []
            if matches:
                note = say("node-affinity.matches")
            else:
                note = say("node-affinity.does-not-match", missed=_precisely(_misses(item.term, node)))
            formula = f"{_term(item.term)}: {item.weight if matches else 0}"
            lines.append(Line(say(key, weight=item.weight), formula, note))
    raw = sum(weights)
    total = f"{' + '.join(map(str, weights))} = {raw}" if len(weights) > 1 else str(raw)
    lines.append(Line(say("explain.raw"), total, say("node-affinity.raw-note")))
    if weights:
        liked, wishes = len(weights), len(lines) - 1
        text = say("node-affinity.likes-some", node=node.name, liked=liked, wishes=wishes, pod=case.name)
    else:
        text = say("node-affinity.likes-nothing", node=node.name, pod=case.name)
    return scaled(case, text, lines, raw, reverse=False)
