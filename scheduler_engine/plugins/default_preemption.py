"""DefaultPreemption: when nothing fits, evict lower-priority pods from one node and nominate the pod to it.

The work is done in ``preemption/``.
Source: seed 002 §9; upstream ``plugins/defaultpreemption/default_preemption.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import DryRunFacts, DryRunRoom, Facts, RungFacts
from scheduler_engine.framework.interface import (
    EventRegistration,
    Handle,
    Hint,
    NodeToStatus,
    Plugin,
    PostFilterResult,
)
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Status
from scheduler_engine.preemption.facts import (
    choice_facts,
    dry_run_facts,
    ineligible_facts,
    not_tried_facts,
    room_on,
    violated_budgets,
)
from scheduler_engine.preemption.preemption import Evaluator, evaluation_of, ineligibility_of


class DefaultPreemption(Plugin):
    """Arguments: ``minCandidateNodesPercentage`` (10) and ``minCandidateNodesAbsolute`` (100)."""

    name = "DefaultPreemption"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.evaluator = Evaluator(
            handle, args.get("minCandidateNodesPercentage", 10), args.get("minCandidateNodesAbsolute", 100)
        )

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        return (EventRegistration(ClusterEvent("Pod", ActionType.DELETE), self.after_pod_deleted),)

    def after_pod_deleted(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        return Hint.SKIP, "hints.rejecting-plugins-decide"

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Hold back no pod. Upstream holds pods while it deletes their victims; here that is done by then."""
        return None

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeToStatus
    ) -> tuple[PostFilterResult | None, Status]:
        result, status = self.evaluator.preempt(state, pod, statuses)
        if not status.reasons:
            return result, status
        return result, Status(status.code, (f"preemption: {status.message}",))

    def explain_dry_run(self, state: CycleState, node_info: NodeInfo) -> DryRunFacts:
        """Raises PluginError if preemption has not run in this cycle."""
        ineligible = ineligibility_of(state)
        if ineligible is not None:
            return DryRunFacts(ineligible_facts(ineligible))
        evaluation = evaluation_of(state)
        if node_info.name not in evaluation.tried:
            return not_tried_facts(node_info.name, evaluation)
        return dry_run_facts(self.evaluator.framework(), state, node_info, evaluation)

    def explain_ineligible(self, state: CycleState) -> Facts | None:
        """Return None if the pod may preempt others."""
        ineligible = ineligibility_of(state)
        return None if ineligible is None else ineligible_facts(ineligible)

    def explain_room(self, state: CycleState, pod: Pod, node_info: NodeInfo, resource: str) -> DryRunRoom:
        return room_on(pod, node_info, resource, evaluation_of(state))

    def explain_violations(self, state: CycleState, node_info: NodeInfo) -> Mapping[str, tuple[str, ...]]:
        return violated_budgets(node_info, evaluation_of(state))

    def explain_choice(self, state: CycleState) -> tuple[RungFacts, ...]:
        return choice_facts(evaluation_of(state))
