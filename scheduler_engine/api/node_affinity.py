"""Node selectors and node affinity. Source: upstream ``component-helpers/scheduling/corev1/nodeaffinity``.

A term without expressions and fields matches nothing; a selector's terms are ORed, a term's parts are ANDed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_engine.api.labels import Requirement, Selector, requirements_from, selector_from_set
from scheduler_engine.records import record


@record(frozen=True, slots=True)
class NodeSelectorTerm:
    """``broken``: one of ``expressions`` is, see ``Requirement.broken``; such a term matches nothing."""

    expressions: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]
    broken: bool = False

    def matches(self, node_name: str, labels: Mapping[str, str]) -> bool:
        if self.broken or not (self.expressions or self.fields):
            return False
        return not any(self.missed_labels(labels)) and not any(self.missed_fields(node_name))

    def missed_labels(self, labels: Mapping[str, str]) -> Iterator[Requirement]:
        """Yield the expressions that labels do not meet."""
        return (item for item in self.expressions if not item.matches(labels))

    def missed_fields(self, node_name: str) -> Iterator[Requirement]:
        """Yield the fields that differ in the node; an unknown field is the empty text in every node."""
        fields = self.fields if node_name else ()
        return (item for item in fields if not item.matches({item.key: "", "metadata.name": node_name}))


@record(frozen=True, slots=True)
class NodeSelector:
    terms: tuple[NodeSelectorTerm, ...]

    def matches(self, node_name: str, labels: Mapping[str, str]) -> bool:
        return any(term.matches(node_name, labels) for term in self.terms)


@record(frozen=True, slots=True)
class RequiredNodeAffinity:
    """``spec.nodeSelector`` combined with the required part of ``spec.affinity.nodeAffinity``."""

    label_selector: Selector
    node_selector: NodeSelector | None

    def matches(self, node_name: str, labels: Mapping[str, str]) -> bool:
        if not self.label_selector.matches(labels):
            return False
        return self.node_selector is None or self.node_selector.matches(node_name, labels)

    def broken_for(self, labels: Mapping[str, str]) -> bool:
        """Return True if the result for a node that does not match is an error because some term cannot be evaluated.

        Filter treats such an error as a no, queueing hints do not.
        """
        if self.node_selector is None or not self.label_selector.matches(labels):
            return False
        return any(term.broken for term in self.node_selector.terms)


@record(frozen=True, slots=True)
class PreferredSchedulingTerm:
    weight: int
    term: NodeSelectorTerm


def term_from(manifest: Mapping[str, Any]) -> NodeSelectorTerm:
    expressions = requirements_from(manifest.get("matchExpressions") or ())
    fields = requirements_from(manifest.get("matchFields") or ())
    return NodeSelectorTerm(expressions, fields, any(item.broken for item in expressions))


def node_selector_from(manifest: Mapping[str, Any]) -> NodeSelector:
    return NodeSelector(tuple(term_from(term) for term in manifest.get("nodeSelectorTerms") or ()))


def required_node_affinity(spec: Mapping[str, Any]) -> RequiredNodeAffinity:
    """Read a pod's ``spec``."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return RequiredNodeAffinity(
        selector_from_set(spec.get("nodeSelector")), None if required is None else node_selector_from(required)
    )


def preferred_terms(node_affinity: Mapping[str, Any] | None) -> tuple[PreferredSchedulingTerm, ...]:
    """Return the preferred terms of a ``nodeAffinity`` mapping; weight 0 and empty terms never match."""
    listed: Sequence[Mapping[str, Any]] = (node_affinity or {}).get(
        "preferredDuringSchedulingIgnoredDuringExecution"
    ) or ()
    return tuple(
        PreferredSchedulingTerm(item.get("weight", 0), term_from(item.get("preference") or {}))
        for item in listed
        if item.get("weight", 0) != 0
    )
