"""Facts behind NodeAffinity's verdict: each term, the requirements that the node does not meet, and its labels.

Source: seed 002 §2; upstream ``plugins/nodeaffinity/node_affinity.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scheduler_engine.api.labels import Requirement
from scheduler_engine.api.node_affinity import NodeSelector, NodeSelectorTerm, PreferredSchedulingTerm
from scheduler_engine.framework.facts import AllOf, AnyOf, Fact, Label, LabelKey, Parts, Value, fact

OPERATORS = {
    "In": "node-affinity.wants-in",
    "NotIn": "node-affinity.wants-not-in",
    "Exists": "node-affinity.wants-exists",
    "DoesNotExist": "node-affinity.wants-does-not-exist",
    "Gt": "node-affinity.wants-above",
    "Lt": "node-affinity.wants-below",
}
NAMES = {"In": "node-affinity.wants-node", "NotIn": "node-affinity.wants-other-node"}
"""Operator of a requirement on ``metadata.name`` → its row."""
NOTHING = fact("node-affinity.what-no-node-has", False)


def label_facts(requirements: Iterable[Requirement], labels: Mapping[str, str]) -> Iterator[Fact]:
    """Explain how a node with ``labels`` meets a pod's ``nodeSelector``."""
    for item in requirements:
        met = item.matches(labels)
        yield fact(
            "node-affinity.selector-matches" if met else "node-affinity.selector-fails",
            met,
            wanted=Label(item.key, item.values[0]),
            label=Label(item.key, labels.get(item.key)),
        )


def selector_facts(
    row: str, selector: NodeSelector, node: str, labels: Mapping[str, str], **of: Value
) -> Iterator[Fact]:
    """Explain how the node meets each term; ``row`` is the title of a single term, ``<row>-term`` of one among several,
    both with the values ``of`` the selector's owner.
    """
    if not selector.terms:
        yield fact("node-affinity.no-terms", False, title=fact(row, **of))
    for number, term in enumerate(selector.terms, 1):
        title = fact(row, **of) if len(selector.terms) == 1 else fact(f"{row}-term", number=number, **of)
        met = term.matches(node, labels)
        yield fact(
            "node-affinity.term-matches" if met else "node-affinity.term-fails",
            met,
            title=title,
            term=_text(term),
            missed=Parts(_missed(term, node, labels)),
        )


def preferred_facts(
    row: str, terms: Sequence[PreferredSchedulingTerm], node: str, labels: Mapping[str, str]
) -> Iterator[Fact]:
    """Explain what each preferred term adds to the node's score; ``row``: its title."""
    for item in terms:
        met = item.term.matches(node, labels)
        yield fact(
            "node-affinity.preferred-matches" if met else "node-affinity.preferred-fails",
            met,
            title=fact(row, weight=item.weight),
            term=_text(item.term),
            points=item.weight if met else 0,
            missed=Parts(_missed(item.term, node, labels)),
        )


def label_objection(requirements: Iterable[Requirement], node: str, labels: Mapping[str, str]) -> Fact | None:
    """Return the first ``nodeSelector`` label that differs."""
    return next((_lacks(item, node, labels) for item in requirements if not item.matches(labels)), None)


def selector_objection(selector: NodeSelector, node: str, labels: Mapping[str, str]) -> Fact:
    """Explain why no term matches the node: what the only one misses, or what all of them miss first."""
    first = [_objection(term, node, labels) for term in selector.terms]
    if len(first) < 2:
        return first[0] if first else NOTHING
    number, key = len(first), first[0].values.get("key")
    if key is None or any(item.values.get("key") != key for item in first):
        return fact("node-affinity.no-term", False, number=number)
    row = first[0].key.partition(".")[2]
    return fact(f"node-affinity.no-term-{row}", False, **{**first[0].values, "number": number})


def names_one_term(objection: Fact) -> bool:
    """Return False if ``objection`` says that none of several terms matches."""
    return not objection.key.startswith("node-affinity.no-term")


def _objection(term: NodeSelectorTerm, node: str, labels: Mapping[str, str]) -> Fact:
    broken = next((item for item in term.expressions if item.broken), None)
    if broken is not None:
        return fact("node-affinity.nothing-meets", False, wanted=broken.text)
    expression = next(term.missed_labels(labels), None)
    if expression is not None:
        return _lacks(expression, node, labels)
    field = next(term.missed_fields(node), None)
    return NOTHING if field is None else fact("node-affinity.this-is", False, need=_need(field), node=node)


def _lacks(item: Requirement, node: str, labels: Mapping[str, str]) -> Fact:
    row = "node-affinity.has" if item.key in labels else "node-affinity.has-no"
    value, key = AnyOf((labels.get(item.key, ""),)), LabelKey(item.key)
    if any(other != item.key and LabelKey(other).name == key.name for other in labels):
        key = key._replace(whole=True)
    return fact(row, False, need=_need(item, key), node=node, key=key, value=value)


def _need(item: Requirement, key: LabelKey | None = None) -> Fact:
    """Return the requirement as part of a sentence."""
    row = NAMES[item.operator] if item.key == "metadata.name" else OPERATORS[item.operator]
    return fact(row, key=key or LabelKey(item.key), values=AnyOf(item.values))


def _missed(term: NodeSelectorTerm, node: str, labels: Mapping[str, str]) -> Iterator[Fact]:
    """Yield each requirement that the node does not meet."""
    for item in term.expressions:
        if item.broken:
            yield fact("node-affinity.invalid", False, wanted=item.text)
    for item in term.missed_labels(labels):
        if not item.broken:
            yield fact("node-affinity.label", False, wanted=item.text, label=Label(item.key, labels.get(item.key)))
    for item in term.missed_fields(node):
        yield fact("node-affinity.field", False, wanted=item.text, node=node)
    if not (term.expressions or term.fields):
        yield fact("node-affinity.empty-term", False)


def _text(term: NodeSelectorTerm) -> AllOf:
    return AllOf(item.text for item in (*term.expressions, *term.fields))
