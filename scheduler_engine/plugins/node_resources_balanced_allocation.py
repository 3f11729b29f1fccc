"""NodeResourcesBalancedAllocation: nodes whose resources the pod would bring to equal fractions score higher.

By the rule ``scores_change_of_balance`` the score is how much the pod changes the balance of the node.
Source: upstream ``plugins/noderesources/balanced_allocation.go``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import pod_requests, request_parts
from scheduler_engine.framework.amounts import IntArray
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.facts import Facts
from scheduler_engine.framework.interface import Handle, Plugin
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.framework.status import SKIP, Status
from scheduler_engine.plugins.allocation_facts import balance_change_facts, balance_facts, nothing_asked
from scheduler_engine.plugins.request_facts import request_facts
from scheduler_engine.plugins.resource_allocation import (
    Wish,
    balance_change,
    balance_change_all,
    balanced_allocation,
    balanced_allocation_all,
    columns_of,
    resource_specs,
    rows_on_node,
    wishes,
)

PRE_SCORE_KEY = "PreScoreNodeResourcesBalancedAllocation"


class NodeResourcesBalancedAllocation(Plugin):
    name = "NodeResourcesBalancedAllocation"

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.resources = resource_specs(args)

    def sign(self, pod: Pod) -> Hashable:
        return pod.requests_text

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None:
        """Skip Score if the pod requests none of the resources."""
        wanted = self._wishes(pod)
        if not any(wish for _, _, wish in wanted):
            return SKIP
        state.write(PRE_SCORE_KEY, wanted)
        return None

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        wanted = state.read(PRE_SCORE_KEY)
        if wanted is None:
            wanted = self._wishes(pod)
            if not any(wish for _, _, wish in wanted):
                return 0
        rows = rows_on_node(wanted, node_info, non_zero=False)
        if not self.handle.rules.scores_change_of_balance:
            return balanced_allocation(rows)
        return balance_change(rows, rows_on_node(wanted, node_info, non_zero=False, with_pod=False))

    def score_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntArray | None:
        wanted, amounts = state.read(PRE_SCORE_KEY), self.handle.snapshot.slots.amounts
        columns = columns_of(wanted, nodes, amounts, non_zero=False) if wanted else None
        if not columns or not all(column.capacity.all() for column in columns):
            return None
        if not self.handle.rules.scores_change_of_balance:
            return balanced_allocation_all(columns)
        return balance_change_all(columns, [column.without_pod() for column in columns])

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: Mapping[str, int]) -> Facts:
        wanted = state.read(PRE_SCORE_KEY) or self._wishes(pod)
        if not any(wish for _, _, wish in wanted):
            return nothing_asked(pod, node_info)
        beside = request_facts(request_parts(pod), [name for name, _, _ in wanted])
        facts = balance_change_facts if self.handle.rules.scores_change_of_balance else balance_facts
        return facts(wanted, pod, node_info, (*beside,))

    def _wishes(self, pod: Pod) -> tuple[Wish, ...]:
        return wishes(self.resources, pod_requests(pod))
