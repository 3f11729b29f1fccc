"""Affinity terms of the incoming pod, and the labels of its namespace.

Source: upstream ``interpodaffinity/plugin.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.interface import ObjectReader
from scheduler_engine.framework.node_info import AffinityTerm

NO_LABELS: Mapping[str, str] = {}
"""Placeholder for the namespace labels of existing pods, which are not looked up: see ``with_namespaces``."""


def with_namespaces(term: AffinityTerm, objects: ObjectReader) -> AffinityTerm:
    """Return ``term`` with the namespaces that its selector matches now listed by name.

    Existing pods' namespaces then need no lookup. The selector stays, as in v1.34.1, and sees those pods with no
    labels at all: one that no label satisfies (NotIn, DoesNotExist, or an empty selector) means every namespace.
    """
    if term.namespace_selector.empty or term.namespace_selector.nothing:
        return term
    selected = {
        namespace.name: None
        for namespace in objects.list("Namespace")
        if term.namespace_selector.matches(namespace.labels)
    }
    return replace(term, namespaces=tuple({**dict.fromkeys(term.namespaces), **selected}))


def namespace_labels(pod: Pod, objects: ObjectReader) -> Mapping[str, str]:
    """Return the labels of the pod's namespace; a missing namespace has none."""
    namespace = objects.get("Namespace", pod.namespace)
    return namespace.labels if namespace is not None else NO_LABELS


def matches_all(terms: Iterable[AffinityTerm], pod: Pod) -> bool:
    """Return True if ``pod`` matches every term; no terms match nothing."""
    matched = False
    for term in terms:
        if not term.matches(pod, NO_LABELS):
            return False
        matched = True
    return matched
