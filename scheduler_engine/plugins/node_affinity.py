"""NodeAffinity: nodeSelector and required node affinity must match; each matching preferred term adds its weight.

``addedAffinity`` in the plugin's arguments applies to all pods of the profile.
Source: seed 002 §2; upstream ``plugins/nodeaffinity/node_affinity.go``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from scheduler_engine.api.node_affinity import NodeSelectorTerm, node_selector_from, preferred_terms
from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.api.validation.selector_text import preferred_terms_problem
from scheduler_engine.framework.amounts import IntArray
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Fact, Facts, Keys, fact
from scheduler_engine.framework.interface import EventRegistration, Handle, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import SKIP, Status, unresolvable
from scheduler_engine.plugins.node_affinity_facts import (
    label_facts,
    label_objection,
    names_one_term,
    preferred_facts,
    selector_facts,
    selector_objection,
)
from scheduler_engine.plugins.normalize_score import default_normalize_all, default_normalize_score
from scheduler_engine.plugins.score_facts import scaled

REASON_POD = "node(s) didn't match Pod's node affinity/selector"
REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class NodeAffinity(Plugin):
    name = "NodeAffinity"
    reads_pods = False

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        added = args.get("addedAffinity") or {}
        required = added.get(REQUIRED)
        self.added_selector = None if required is None else node_selector_from(required)
        self.prefers = bool(added.get(PREFERRED))
        self.added_terms = preferred_terms(added)

    def sign(self, pod: Pod) -> Hashable:
        return repr(pod.spec.get("nodeSelector")), repr(_node_affinity(pod))

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        node_event = ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        return (EventRegistration(node_event, self.after_node_change),)

    def after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if not isinstance(new, Node):
            return Hint.QUEUE, "hints.not-a-node"
        if self.added_selector is not None and not self.added_selector.matches(new.name, new.labels):
            return Hint.SKIP, "hints.node-misses-added-affinity"
        if not pod.required_node_affinity.matches(new.name, new.labels):
            if pod.required_node_affinity.broken_for(new.labels):
                raise PluginError("a term of the pod's node affinity cannot be carried out")
            return Hint.SKIP, "hints.node-misses-affinity"
        if old is not None and pod.required_node_affinity.matches(old.name, old.labels):
            return Hint.SKIP, "hints.node-matched-before"
        return Hint.QUEUE, "hints.node-matches-now"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        required = _node_affinity(pod).get(REQUIRED)
        if required is None and self.added_selector is None and pod.spec.get("nodeSelector") is None:
            return None, SKIP
        names = _node_names(pod)
        if names is None:
            return None, None
        if not names:
            return None, unresolvable(REASON_CONFLICT)
        return PreFilterResult(names), None

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        node = node_info.node
        labels = node.labels if node is not None else {}
        if self.added_selector is not None and not self.added_selector.matches(node_info.name, labels):
            return unresolvable(REASON_ENFORCED)
        if not pod.required_node_affinity.matches(node_info.name, labels):
            return unresolvable(REASON_POD)
        return None

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        name, labels, affinity = node_info.name, _labels(node_info), pod.required_node_affinity
        shown: list[Fact] = []
        if self.added_selector is not None:
            shown += selector_facts("node-affinity.added", self.added_selector, name, labels)
        shown += label_facts(affinity.label_selector.requirements, labels)
        if affinity.node_selector is not None:
            shown += selector_facts("node-affinity.required", affinity.node_selector, name, labels)
        status = self.filter(state, pod, node_info)
        if status is None:
            key = "node-affinity.has-the-labels" if shown else "node-affinity.asks-nothing"
            return Facts(fact(key, True, node=name, pod=Keys((pod.key,))), tuple(shown))
        return Facts(self._objection(pod, node_info, status), tuple(shown), status)

    def _objection(self, pod: Pod, node_info: NodeInfo, status: Status) -> Fact:
        name, labels, affinity = node_info.name, _labels(node_info), pod.required_node_affinity
        if REASON_ENFORCED in status.reasons and self.added_selector is not None:
            missed = selector_objection(self.added_selector, name, labels)
            row = "node-affinity.profile-wants" if names_one_term(missed) else "node-affinity.profile-wants-a-term"
            return fact(row, False, node=name, missed=missed, number=len(self.added_selector.terms))
        why = label_objection(affinity.label_selector.requirements, name, labels)
        if why is None and affinity.node_selector is not None:
            why = selector_objection(affinity.node_selector, name, labels)
        assert why is not None, "Filter refuses a node for a label or for a term."
        row = "node-affinity.pod-needs" if names_one_term(why) else "node-affinity.pod-needs-a-term"
        number = len(affinity.node_selector.terms) if affinity.node_selector is not None else 0
        return fact(row, False, pod=Keys((pod.key,)), missed=why, number=number)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        preferred = _node_affinity(pod).get(PREFERRED)
        if any(item.term.broken for item in pod.preferred_node_terms):
            raise PluginError(preferred_terms_problem(preferred or (), self.handle.rules))
        return SKIP if preferred is None and not self.prefers else None

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Return the sum of the weights of all matching terms."""
        node = node_info.node
        labels = node.labels if node is not None else {}
        return sum(
            preferred.weight
            for preferred in (*self.added_terms, *pod.preferred_node_terms)
            if preferred.term.matches(node_info.name, labels)
        )

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: dict[str, int]) -> Facts:
        name, labels = node_info.name, _labels(node_info)
        shown = [
            *preferred_facts("node-affinity.added-weight", self.added_terms, name, labels),
            *preferred_facts("node-affinity.own-weight", pod.preferred_node_terms, name, labels),
        ]
        liked, score = [item for item in shown if item.ok], self.score(state, pod, node_info)
        weights = " + ".join(str(item.values["points"]) for item in liked)
        total = f"{weights} = {score}" if len(liked) > 1 else str(score)
        key = "node-affinity.likes-some" if liked else "node-affinity.likes-nothing"
        says = fact(key, bool(liked), node=name, whose=self._whose(pod), liked=len(liked), count=len(shown))
        shown.append(fact("node-affinity.raw", total=total))
        return scaled(says, shown, score, name, raw, reverse=False)

    def _whose(self, pod: Pod) -> Fact:
        both = "of-pod-and-profile" if self.added_terms else "of-pod"
        return fact(f"node-affinity.{both if pod.preferred_node_terms else 'of-profile'}", pod=Keys((pod.key,)))

    def normalize_score(self, state: CycleState, pod: Pod, scores: dict[str, int]) -> None:
        default_normalize_score(scores, reverse=False)

    def normalize_all(self, state: CycleState, pod: Pod, scores: IntArray) -> IntArray:
        return default_normalize_all(scores, reverse=False)


def _labels(node_info: NodeInfo) -> Mapping[str, str]:
    return node_info.node.labels if node_info.node is not None else {}


def _node_affinity(pod: Pod) -> dict[str, Any]:
    return pod.affinity.get("nodeAffinity") or {}


def _node_names(pod: Pod) -> tuple[str, ...] | None:
    """Return the only nodes that the pod's required terms name, sorted; None if some term names none."""
    selector = pod.required_node_affinity.node_selector
    if selector is None or not selector.terms:
        return None
    names: set[str] = set()
    for term in selector.terms:
        named = _names_of(term)
        if named is None:
            return None
        names |= named
    return tuple(sorted(names))


def _names_of(term: NodeSelectorTerm) -> set[str] | None:
    """Return the nodes in all requirements of a term, because these are ANDed."""
    named: set[str] | None = None
    for requirement in term.fields:
        if requirement.key == "metadata.name" and requirement.operator == "In":
            values = set(requirement.values)
            named = values if named is None else named & values
    return named
