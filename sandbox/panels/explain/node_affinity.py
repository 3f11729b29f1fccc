"""NodeAffinity in words and numbers: node selector, required terms, preferred weights, the profile's addedAffinity.

Source: seed 002 §2; upstream ``plugins/nodeaffinity``.
"""

from __future__ import annotations

from sandbox.panels.explain.model import UNRESOLVABLE, Case, Explanation, Line, label_of, passes, refuses, scaled
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
    "In": "{key} {values}",
    "NotIn": "{key} other than {values}",
    "Exists": "a label {key}",
    "DoesNotExist": "no label {key}",
    "Gt": "{key} above {values}",
    "Lt": "{key} below {values}",
}


def plain(requirement: Requirement) -> str:
    """``zone eu-a or eu-b``: for sentences."""
    key, values = requirement.key.rpartition("/")[2], " or ".join(requirement.values)
    return PLAIN[requirement.operator].format(key=key, values=values)


def _lacks(requirement: Requirement, node: Node) -> str:
    """``zone eu-a; node-1 has zone eu-b``."""
    key, short = requirement.key, requirement.key.rpartition("/")[2]
    has = f"{short} {node.labels[key]}" if key in node.labels else f"no {short}"
    return f"{plain(requirement)}; {node.name} has {has}"


def _misses(term: NodeSelectorTerm, node: Node) -> list[tuple[str, str]]:
    """What of ``term`` the node does not fulfil: (in plain words, precisely)."""
    fields = {"metadata.name": node.name}
    missed = [
        (_lacks(item, node), f"{wanted(item)}, node has {label_of(node.labels, item.key)}")
        for item in term.expressions
        if not item.matches(node.labels)
    ]
    missed += [
        (f"{plain(item)}; this is {node.name}", f"{wanted(item)}, node is {node.name}")
        for item in term.fields
        if not item.matches(fields)
    ]
    if not term.expressions and not term.fields:
        missed.append(("something that no node has", "an empty term matches nothing"))
    return missed


def _precisely(missed: list[tuple[str, str]]) -> str:
    return "; ".join(precise for _, precise in missed)


def _term(term: NodeSelectorTerm) -> str:
    return " and ".join(wanted(item) for item in (*term.expressions, *term.fields)) or "(empty)"


def _selector(title: str, selector: NodeSelector, node: Node) -> tuple[bool, list[Line], str]:
    """Whether any term matches, a line per term, and what the first one misses, in plain words."""
    lines, first = [], "something that no node has"
    for number, term in enumerate(selector.terms, 1):
        missed = _misses(term, node)
        label = title if len(selector.terms) == 1 else f"{title}, term {number}"
        lines.append(Line(label, _term(term), f"fails: {_precisely(missed)}" if missed else "matches"))
        if number == 1 and missed:
            first = missed[0][0]
    return selector.matches(node.name, node.labels), lines, first


def affinity_filter(case: Case) -> Explanation:
    node, lines = case.node, list[Line]()
    added = (case.args.get("addedAffinity") or {}).get(REQUIRED)
    if added is not None:
        matched, said, why = _selector("addedAffinity of the profile", node_selector_from(added), node)
        lines += said
        if not matched:
            text = f"The scheduler's profile keeps all its pods off {node.name}: it wants {why}."
            return refuses(text, lines, ENFORCED, code=UNRESOLVABLE)
    affinity = case.pod.required_node_affinity
    problem = ""
    for item in affinity.label_selector.requirements:
        matches = item.matches(node.labels)
        asked = f"{item.key}={item.values[0]}"
        lines.append(
            Line("nodeSelector", asked, "matches" if matches else f"fails: node has {label_of(node.labels, item.key)}")
        )
        if not matches and not problem:
            problem = _lacks(item, node)
    if affinity.node_selector is not None:
        matched, said, why = _selector("required", affinity.node_selector, node)
        lines += said
        if not matched and not problem:
            problem = why if len(said) < 2 else f"one of {len(said)} terms, and none matches"
    if problem:
        return refuses(f"{case.name} needs {problem}.", lines, NOT_MATCHED, code=UNRESOLVABLE)
    if not lines:
        return passes(f"{case.name} asks nothing of a node's labels.")
    return passes(f"{node.name} has the labels that {case.name} needs.", lines)


def affinity_score(case: Case) -> Explanation:
    node, lines, weights = case.node, list[Line](), list[int]()
    sources = (
        ("addedAffinity, weight", preferred_terms(case.args.get("addedAffinity"))),
        ("weight", case.pod.preferred_node_terms),
    )
    for title, terms in sources:
        for item in terms:
            matches = item.term.matches(node.name, node.labels)
            weights += [item.weight] if matches else []
            note = "matches" if matches else f"does not match: {_precisely(_misses(item.term, node))}"
            lines.append(Line(f"{title} {item.weight}", f"{_term(item.term)}: {item.weight if matches else 0}", note))
    raw = sum(weights)
    total = f"{' + '.join(map(str, weights))} = {raw}" if len(weights) > 1 else str(raw)
    lines.append(Line("Raw", total, "the weights of the preferred terms that match"))
    if weights:
        text = f"{node.name} has {len(weights)} of {len(lines) - 1} things that {case.name} would like in a node."
    else:
        text = f"{node.name} has nothing that {case.name} would like in a node."
    return scaled(case, text, lines, raw, reverse=False)
