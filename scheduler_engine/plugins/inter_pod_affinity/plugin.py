"""InterPodAffinity: near the pods that affinity terms select, away from those that anti-affinity terms select.

Works both ways: required anti-affinity and the preferences of existing pods count as much as the incoming pod's own
terms. Source: seed 002 §3; upstream ``plugins/interpodaffinity/plugin.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.framework.amounts import IntArray, Mask
from scheduler_engine.framework.boards import AffinityBoard
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Facts
from scheduler_engine.framework.interface import EventRegistration, Handle, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import AffinityTerm, NodeInfo, PodInfo, WeightedAffinityTerm
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.framework.status import SKIP, Status
from scheduler_engine.plugins.inter_pod_affinity.board import affinity_board
from scheduler_engine.plugins.inter_pod_affinity.facts import filter_facts
from scheduler_engine.plugins.inter_pod_affinity.filtering import KEEPS_OFF, FilterState
from scheduler_engine.plugins.inter_pod_affinity.score_facts import score_facts
from scheduler_engine.plugins.inter_pod_affinity.scoring import THEIRS, THEY_DISLIKE, THEY_LIKE, ScoreState
from scheduler_engine.plugins.inter_pod_affinity.terms import matches_all, namespace_labels, with_namespaces
from scheduler_engine.plugins.inter_pod_affinity.together import FilterCounts, ScoreCounts
from scheduler_engine.plugins.inter_pod_affinity.uncounted import filter_uncounted, score_uncounted, without_effect
from scheduler_engine.plugins.nominated import holds_place

FILTER_STATE = "PreFilterInterPodAffinity"
SCORE_STATE = "PreScoreInterPodAffinity"
UNCOUNTED = "InterPodAffinity: pods that do not count"


class InterPodAffinity(Plugin):
    """Arguments: ``hardPodAffinityWeight`` (1) and ``ignorePreferredTermsOfExistingPods`` (false)."""

    name = "InterPodAffinity"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.hard_pod_affinity_weight: int = args.get("hardPodAffinityWeight", 1)
        self.ignore_existing_preferences: bool = args.get("ignorePreferredTermsOfExistingPods", False)

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        pod_changes = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
        node_changes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL
        return (
            EventRegistration(ClusterEvent("Pod", pod_changes), self.after_pod_change),
            EventRegistration(ClusterEvent("Node", node_changes), self.after_node_change),
        )

    def after_pod_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        rules = self.handle.rules
        if rules.own_labels_help and old is not None and new is not None and new.uid == pod.uid:
            return Hint.QUEUE, "hints.own-labels-changed"
        for changed in (new, old):
            if isinstance(changed, Pod) and not holds_place(changed, rules):
                return Hint.SKIP, "hints.own-change" if changed.uid == pod.uid else "hints.pod-on-no-node"
        info = PodInfo(pod)
        meant = isinstance(old, Pod) and matches_all(info.required_affinity_terms, old)
        means = isinstance(new, Pod) and matches_all(info.required_affinity_terms, new)
        hated = isinstance(old, Pod) and matches_all(info.required_anti_affinity_terms, old)
        hates = isinstance(new, Pod) and matches_all(info.required_anti_affinity_terms, new)
        if means and not meant:
            return Hint.QUEUE, "hints.affinity-pod-came"
        if hated and not hates:
            return Hint.QUEUE, "hints.anti-affinity-pod-left"
        if rules.leaving_anti_affinity_helps and isinstance(old, Pod) and new is None and _keeps_away(old, pod):
            return Hint.QUEUE, "hints.anti-affinity-of-pod-gone"
        if not _has_terms(info):
            looked = rules.leaving_anti_affinity_helps and new is None
            return Hint.SKIP, "hints.not-kept-away" if looked else "hints.no-terms"
        return Hint.SKIP, "hints.terms-not-helped"

    def after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if not isinstance(new, Node):
            return Hint.QUEUE, "hints.node-changed"
        info = PodInfo(pod)
        before = old.labels if old is not None else {}
        for term in info.required_affinity_terms:
            value = new.labels.get(term.topology_key)
            if value is not None and before.get(term.topology_key) != value:
                return Hint.QUEUE, "hints.node-joined-domain"
        for term in info.required_anti_affinity_terms:
            if old is None:
                return Hint.QUEUE, "hints.new-node-may-be-free"
            value = before.get(term.topology_key)
            if value is not None and new.labels.get(term.topology_key) != value:
                return Hint.QUEUE, "hints.node-left-domain"
        return Hint.SKIP, "hints.domains-not-helped" if _has_terms(info) else "hints.no-terms"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        with_anti_affinity = self.handle.snapshot.have_pods_with_required_anti_affinity()
        if not with_anti_affinity and not pod.has_pod_affinity:
            return None, SKIP
        held = self._filter_state(pod)
        columns = self.handle.counts_together(nodes)
        if columns is not None:
            together = FilterCounts(columns, self.handle.snapshot, held)
            if together.says_nothing:
                return None, SKIP
            state.write(FILTER_STATE, together)
            return None, None
        held.count(nodes, with_anti_affinity)
        if not held.existing.nonzero and not held.terms and not held.anti_terms:
            return None, SKIP
        state.write(FILTER_STATE, held)
        return None, None

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node_info: NodeInfo) -> None:
        _filter_state_of(state).update(added, node_info.node, 1)

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node_info: NodeInfo) -> None:
        _filter_state_of(state).update(removed, node_info.node, -1)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        return _filter_state_of(state).check(node_info.node.labels if node_info.node is not None else {})

    def filter_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> list[tuple[Status | None, Mask]] | None:
        held = state.read(FILTER_STATE)
        return held.judge(nodes) if isinstance(held, FilterCounts) else None

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        held = _filter_state_of(state)
        facts = filter_facts(held, node_info, self.handle.snapshot)
        uncounted = state.note_once(
            UNCOUNTED, FILTER_STATE, partial(filter_uncounted, held, self.handle.snapshot.list())
        )
        return replace(facts, shown=(*facts.shown, *uncounted))

    def explain_affinity(self, state: CycleState | None, pod: Pod, nodes: Sequence[NodeInfo]) -> AffinityBoard:
        required: FilterState | None = None
        if state is None:
            required = self._filter_state(pod)
            required.count(nodes, nodes)
        elif state.read(FILTER_STATE) is not None:
            required = _filter_state_of(state)
        labels, prefers = namespace_labels(pod, self.handle.objects), _prefers(pod)
        theirs = THEIRS if self.hard_pod_affinity_weight > 0 else (THEY_LIKE, THEY_DISLIKE)
        kinds = (KEEPS_OFF,) if self.ignore_existing_preferences and not prefers else (KEEPS_OFF, *theirs)
        idle = tuple(without_effect(pod, labels, kinds, nodes))
        if state is not None and state.read(SCORE_STATE) is not None:
            return affinity_board(required, _score_state_of(state), nodes, idle)
        if not prefers and self.ignore_existing_preferences:
            return affinity_board(required, None, nodes, idle)
        preferred = self._score_state(pod)
        preferred.count_all(nodes) if prefers else preferred.count_existing(nodes)
        return affinity_board(required, preferred, nodes, idle)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        prefers = _prefers(pod)
        with_affinity = self.handle.snapshot.have_pods_with_affinity()
        if not prefers and (self.ignore_existing_preferences or not with_affinity):
            return SKIP
        held = self._score_state(pod)
        columns = self.handle.counts_together(self.handle.snapshot.list())
        if columns is not None:
            together = ScoreCounts(columns, self.handle.snapshot, held, prefers)
            if not together.tally.count:
                return SKIP
            state.write(SCORE_STATE, together)
            return None
        if prefers:
            held.count_all(self.handle.snapshot.list())
        else:
            held.count_existing(with_affinity)
        if not held.weights:
            return SKIP
        state.write(SCORE_STATE, held)
        return None

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        return _score_state_of(state).score(node_info.node.labels if node_info.node is not None else {})

    def score_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntArray | None:
        held = state.read(SCORE_STATE)
        return held.score(nodes) if isinstance(held, ScoreCounts) else None

    def normalize_all(self, state: CycleState, pod: Pod, scores: IntArray) -> IntArray | None:
        held = state.read(SCORE_STATE)
        return held.normalize(scores) if isinstance(held, ScoreCounts) else None

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: Mapping[str, int]) -> Facts:
        held, nodes = _score_state_of(state), self.handle.snapshot.list()
        facts = score_facts(held, node_info, nodes, raw, ignore_others=self.ignore_existing_preferences)
        uncounted = state.note_once(UNCOUNTED, SCORE_STATE, partial(score_uncounted, held, nodes))
        return replace(facts, shown=(*facts.shown, *uncounted))

    def normalize_score(self, state: CycleState, pod: Pod, scores: dict[str, int]) -> None:
        _score_state_of(state).normalize(scores)

    def _filter_state(self, pod: Pod) -> FilterState:
        """Return the state of PreFilter before it counts."""
        info = PodInfo(pod)
        return FilterState(
            pod,
            self._terms(info.required_affinity_terms),
            self._terms(info.required_anti_affinity_terms),
            namespace_labels(pod, self.handle.objects),
        )

    def _score_state(self, pod: Pod) -> ScoreState:
        """Return the state of PreScore before it counts."""
        info = PodInfo(pod)
        return ScoreState(
            pod,
            self._weighted(info.preferred_affinity_terms),
            self._weighted(info.preferred_anti_affinity_terms),
            namespace_labels(pod, self.handle.objects),
            self.hard_pod_affinity_weight,
        )

    def _terms(self, terms: tuple[AffinityTerm, ...]) -> tuple[AffinityTerm, ...]:
        return tuple(with_namespaces(term, self.handle.objects) for term in terms)

    def _weighted(self, terms: tuple[WeightedAffinityTerm, ...]) -> tuple[WeightedAffinityTerm, ...]:
        return tuple(replace(item, term=with_namespaces(item.term, self.handle.objects)) for item in terms)


def _keeps_away(other: Pod, pod: Pod) -> bool:
    return matches_all(PodInfo(other).required_anti_affinity_terms, pod)


def _prefers(pod: Pod) -> bool:
    info = PodInfo(pod)
    return bool(info.preferred_affinity_terms or info.preferred_anti_affinity_terms)


def _has_terms(info: PodInfo) -> bool:
    return bool(info.required_affinity_terms or info.required_anti_affinity_terms)


def _filter_state_of(state: CycleState) -> FilterState:
    held = state.read(FILTER_STATE)
    if isinstance(held, FilterCounts):
        held = held.plain()
    if not isinstance(held, FilterState):
        raise PluginError(f'error reading "{FILTER_STATE}" from cycleState: not found')
    return held


def _score_state_of(state: CycleState) -> ScoreState:
    held = state.read(SCORE_STATE)
    if isinstance(held, ScoreCounts):
        held = held.plain()
    if not isinstance(held, ScoreState):
        raise PluginError(f'failed to read "{SCORE_STATE}" from cycleState: not found')
    return held
