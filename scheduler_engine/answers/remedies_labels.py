"""Remedies for a node that a pod's nodeSelector or required node affinity does not select."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_engine.answers.changes import Change, Edit, change
from scheduler_engine.answers.seen import Seen
from scheduler_engine.api.node_affinity import node_selector_from
from scheduler_engine.api.topology import HOSTNAME

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
AFFINITY = ("spec", "affinity", "nodeAffinity", REQUIRED)


def of_node_affinity(seen: Seen) -> Iterator[tuple[Change, ...]]:
    """Yield an obstacle for each label of the nodeSelector that differs, and one for the required affinity."""
    labels = seen.node.labels
    for key, value in (seen.pod.spec.get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            yield tuple(_selector(seen, key, value))
    selector = seen.pod.required_node_affinity.node_selector
    if selector is not None and not selector.matches(seen.node.name, labels):
        yield tuple(_affinity(seen))


def _selector(seen: Seen, key: str, value: str) -> Iterator[Change]:
    path, held = ("spec", "nodeSelector", key), seen.node.labels.get(key)
    if held is not None:
        yield change("selector-value", [seen.edit("set", path, held)], key=key, held=held, value=value)
    yield change("unselect", [seen.edit("set", path)], key=key, value=value)
    yield from _labelled(seen, key, value)


def _labelled(seen: Seen, key: str, value: str) -> Iterator[Change]:
    """Yield the label for the node. Its hostname names it, so that stays."""
    if key != HOSTNAME:
        edit = Edit("Node", seen.node.name, "set", ("metadata", "labels", key), value)
        yield change("label", [edit], key in seen.node.labels, node=seen.node.name, key=key, value=value)


def _affinity(seen: Seen) -> Iterator[Change]:
    """Yield what drops one requirement of a term, if that is enough, then what drops all, then labels for the node."""
    required = seen.pod.affinity["nodeAffinity"][REQUIRED]
    terms = required.get("nodeSelectorTerms") or []
    selector = node_selector_from(required)
    name, labels = seen.node.name, seen.node.labels
    for number, (term, read) in enumerate(zip(terms, selector.terms, strict=True)):
        for field in ("matchExpressions", "matchFields"):
            for item in term.get(field) or ():
                rest = {**term, field: [other for other in term[field] if other is not item]}
                if node_selector_from({"nodeSelectorTerms": [rest]}).matches(name, labels):
                    kept = [rest if place == number else other for place, other in enumerate(terms)]
                    edit = seen.edit("set", AFFINITY, {**required, "nodeSelectorTerms": kept})
                    yield change("node-affinity", [edit], key=item["key"], operator=item["operator"])
        missed = [*read.missed_labels(labels)]
        if len(missed) == 1 and missed[0].operator == "In" and not any(read.missed_fields(name)):
            yield from _labelled(seen, missed[0].key, missed[0].values[0])
    yield change("no-node-affinity", [seen.edit("set", AFFINITY)])
