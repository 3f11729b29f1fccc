"""PodTopologySpread: spread matching pods evenly over topology domains.

Hard constraints (DoNotSchedule) filter nodes by skew, soft ones (ScheduleAnyway) score them.
Source: seed 002 §4; upstream ``plugins/podtopologyspread/plugin.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.framework.amounts import IntArray, Mask
from scheduler_engine.framework.boards import SpreadBoard
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent, taints_changed
from scheduler_engine.framework.facts import Fact, Facts, fact
from scheduler_engine.framework.interface import EventRegistration, Handle, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo, PodInfo, removed_pods
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.framework.status import SKIP, Status
from scheduler_engine.plugins.nominated import holds_place
from scheduler_engine.plugins.pod_topology_spread.board import filter_boards, score_boards
from scheduler_engine.plugins.pod_topology_spread.constraints import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    SYSTEM_DEFAULT_CONSTRAINTS,
    SpreadConstraint,
    constraints_of,
    default_selector,
    has_all_keys,
)
from scheduler_engine.plugins.pod_topology_spread.facts import (
    filter_facts,
    filter_left_out,
    left_out_in_dry_run,
    standing_facts,
)
from scheduler_engine.plugins.pod_topology_spread.filtering import FilterState, filter_state
from scheduler_engine.plugins.pod_topology_spread.score_facts import score_facts, score_left_out
from scheduler_engine.plugins.pod_topology_spread.scoring import ScoreState
from scheduler_engine.plugins.pod_topology_spread.together import (
    Counter,
    FilterCounts,
    ScoreCounts,
    score_counts,
)
from scheduler_engine.versions import Rules

FILTER_STATE = "PreFilterPodTopologySpread"
SCORE_STATE = "PreScorePodTopologySpread"
LEFT_OUT = "PodTopologySpread: nodes that do not count"


class PodTopologySpread(Plugin):
    """Arguments: ``defaultingType`` (System or List), ``defaultConstraints`` for pods without any."""

    name = "PodTopologySpread"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.system_defaulted = args.get("defaultingType", "System") == "System"
        self.default_constraints: Sequence[Mapping[str, Any]] = (
            SYSTEM_DEFAULT_CONSTRAINTS if self.system_defaulted else args.get("defaultConstraints") or ()
        )

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        pod_changes = (
            ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.UPDATE_POD_TOLERATION | ActionType.DELETE
        )
        node_changes = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
        return (
            EventRegistration(ClusterEvent("Pod", pod_changes), self.after_pod_change),
            EventRegistration(ClusterEvent("Node", node_changes), self.after_node_change),
        )

    def after_pod_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        for changed in (new, old):
            if isinstance(changed, Pod) and not _involved(changed, pod, self.handle.rules):
                return Hint.SKIP, "hints.pod-not-involved"
        constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        if old is not None and new is not None:
            return _after_pod_update(pod, old, new, constraints)
        changed = new if new is not None else old
        if changed is not None and any(item.selector.matches(changed.labels) for item in constraints):
            return Hint.QUEUE, "hints.counted-pod-came-or-went"
        return Hint.SKIP, "hints.pod-not-counted"

    def after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        took_part = old is not None and has_all_keys(old.labels, constraints)
        takes_part = new is not None and has_all_keys(new.labels, constraints)
        if isinstance(old, Node) and isinstance(new, Node):
            if took_part != takes_part:
                return Hint.QUEUE, "hints.node-topology-label-changed"
            moved = any(old.labels.get(c.topology_key) != new.labels.get(c.topology_key) for c in constraints)
            if takes_part and (moved or taints_changed(new, old)):
                return Hint.QUEUE, "hints.node-domain-or-taints-changed"
            return Hint.SKIP, "hints.node-topology-as-before" if takes_part else "hints.node-lacks-topology-label"
        if took_part or takes_part:
            return Hint.QUEUE, "hints.labelled-node-came-or-went"
        return Hint.SKIP, "hints.node-lacks-topology-label"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        if not constraints:
            return None, SKIP
        columns = self.handle.counts_together(nodes)
        if columns is None:
            state.write(FILTER_STATE, filter_state(pod, constraints, nodes))
        else:
            counter = Counter(columns, self.handle.snapshot, pod)
            state.write(FILTER_STATE, FilterCounts(counter, constraints, nodes))
        return None, None

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node_info: NodeInfo) -> None:
        _filter_state_of(state).update(added.pod, node_info.node, 1)

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node_info: NodeInfo) -> None:
        _filter_state_of(state).update(removed.pod, node_info.node, -1)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        return _filter_state_of(state).check(node_info.node.labels if node_info.node is not None else {})

    def filter_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> list[tuple[Status | None, Mask]] | None:
        held = state.read(FILTER_STATE)
        return held.judge(nodes) if isinstance(held, FilterCounts) else None

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        held = _filter_state_of(state)
        left_out = state.note_once(LEFT_OUT, FILTER_STATE, partial(filter_left_out, held, self.handle.snapshot.list()))
        removed = removed_pods(self.handle.snapshot.get(node_info.name), node_info)
        if removed:
            left_out = (*left_out_in_dry_run(left_out, removed),)
        return self._with_origin(filter_facts(held, node_info, left_out), pod)

    def _with_origin(self, facts: Facts, pod: Pod) -> Facts:
        """Add the origin of the constraints, if they are not the pod's own."""
        if pod.topology_spread_constraints:
            return facts
        origin = fact("spread.default-of-scheduler" if self.system_defaulted else "spread.default-of-profile")
        return replace(facts, shown=(*facts.shown, origin))

    def explain_standing(self, pod: Pod, nodes: Sequence[NodeInfo]) -> tuple[Fact, ...]:
        states = (
            (when, filter_state(pod, self._constraints(pod, when), nodes))
            for when in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
        )
        return tuple(item for when, state in states for item in standing_facts(state, when))

    def explain_spread(self, state: CycleState | None, pod: Pod, nodes: Sequence[NodeInfo]) -> tuple[SpreadBoard, ...]:
        default, boards = not pod.topology_spread_constraints, list[SpreadBoard]()
        if state is None:
            boards += filter_boards(filter_state(pod, self._constraints(pod, DO_NOT_SCHEDULE), nodes), nodes, default)
        elif state.read(FILTER_STATE) is not None:
            boards += filter_boards(_filter_state_of(state), nodes, default)
        if state is not None and state.read(SCORE_STATE) is not None:
            return (*boards, *score_boards(_score_state_of(state), nodes, default))
        soft = ScoreState(pod, self._constraints(pod, SCHEDULE_ANYWAY), nodes, self._needs_all_keys(pod))
        soft.count(nodes)
        return (*boards, *score_boards(soft, nodes, default, assumed=True))

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        everything = self.handle.snapshot.list()
        constraints = self._constraints(pod, SCHEDULE_ANYWAY)
        if not everything or not constraints:
            return SKIP
        all_keys = self._needs_all_keys(pod)
        columns, together = self.handle.counts_together(everything), None
        if columns is not None:
            counter = Counter(columns, self.handle.snapshot, pod)
            together = score_counts(counter, constraints, nodes, all_keys, everything)
        if together is not None:
            state.write(SCORE_STATE, together)
            return None
        held = ScoreState(pod, constraints, nodes, all_keys)
        held.count(everything)
        state.write(SCORE_STATE, held)
        return None

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        return _score_state_of(state).score(node_info)

    def score_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntArray | None:
        held = state.read(SCORE_STATE)
        return held.score() if isinstance(held, ScoreCounts) and held.nodes is nodes else None

    def normalize_all(self, state: CycleState, pod: Pod, scores: IntArray) -> IntArray | None:
        held = state.read(SCORE_STATE)
        return held.normalize(scores) if isinstance(held, ScoreCounts) else None

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: Mapping[str, int]) -> Facts:
        held = _score_state_of(state)
        left_out = state.note_once(LEFT_OUT, SCORE_STATE, partial(score_left_out, held, self.handle.snapshot.list()))
        return self._with_origin(score_facts(held, node_info, raw, left_out), pod)

    def normalize_score(self, state: CycleState, pod: Pod, scores: dict[str, int]) -> None:
        _score_state_of(state).normalize(scores)

    def _needs_all_keys(self, pod: Pod) -> bool:
        """Return True if a node must have all topology keys to count in Score.

        With the built-in defaults a cluster without zone labels still spreads over hosts.
        """
        return bool(pod.topology_spread_constraints) or not self.system_defaulted

    def _constraints(self, pod: Pod, action: str) -> tuple[SpreadConstraint, ...]:
        """Return the pod's own constraints of that kind, or the defaults if it has none and something selects it."""
        compares = self.handle.rules.tolerations_compare
        if pod.topology_spread_constraints:
            return constraints_of(pod.topology_spread_constraints, pod, action, compares)
        defaults = constraints_of(self.default_constraints, pod, action, compares)
        if not defaults:
            return ()
        selector = default_selector(pod, self.handle.objects)
        if selector.empty:
            return ()
        return tuple(replace(item, selector=selector) for item in defaults)


def _filter_state_of(state: CycleState) -> FilterState:
    held = state.read(FILTER_STATE)
    if isinstance(held, FilterCounts):
        held = held.plain()
    if not isinstance(held, FilterState):
        raise PluginError(f'reading "{FILTER_STATE}" from cycleState: not found')
    return held


def _score_state_of(state: CycleState) -> ScoreState:
    held = state.read(SCORE_STATE)
    if isinstance(held, ScoreCounts):
        held = held.plain()
    if not isinstance(held, ScoreState):
        raise PluginError(f'error reading "{SCORE_STATE}" from cycleState: not found')
    return held


def _involved(changed: Pod, pod: Pod, rules: Rules) -> bool:
    return changed.uid == pod.uid or (holds_place(changed, rules) and changed.namespace == pod.namespace)


def _after_pod_update(
    pod: Pod, old: KubeObject, new: KubeObject, constraints: tuple[SpreadConstraint, ...]
) -> tuple[Hint, str]:
    tolerates_more = isinstance(old, Pod) and isinstance(new, Pod) and old.tolerations != new.tolerations
    if pod.uid == new.uid and tolerates_more and any(item.honors_taints for item in constraints):
        return Hint.QUEUE, "hints.tolerations-matter-to-constraint"
    for item in constraints:
        if item.selector.matches(old.labels) != item.selector.matches(new.labels):
            return Hint.QUEUE, "hints.pod-counted-now-or-no-longer"
    return Hint.SKIP, "hints.constraints-not-affected"
