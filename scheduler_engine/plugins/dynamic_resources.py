"""DynamicResources: devices by ResourceClaim.

A pod without claims passes unchanged; PostFilter still adds its message, as in Kubernetes. Claims are not
simulated: a pod with claims is rejected with a plain reason. Source: seed 002 §6; upstream
``plugins/dynamicresources``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.amounts import IntArray
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Facts, Keys, fact
from scheduler_engine.framework.interface import (
    EventRegistration,
    Hint,
    NodeToStatus,
    Plugin,
    PluginError,
    PostFilterResult,
    PreFilterResult,
)
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.framework.status import SKIP, Status, unresolvable, unschedulable
from scheduler_engine.plugins.normalize_score import default_normalize_all, default_normalize_score
from scheduler_engine.plugins.score_facts import scaled

STATE = "DynamicResources"
NOT_SIMULATED = unresolvable("pod has resource claims, which this scheduler does not simulate")
NOTHING_TO_DEALLOCATE = unschedulable("no new claims to deallocate")


class DynamicResources(Plugin):
    name = "DynamicResources"

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        node_changes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        changes = ActionType.ADD | ActionType.UPDATE
        generated = ClusterEvent("Pod", ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
        return (
            EventRegistration(ClusterEvent("Node", node_changes)),
            EventRegistration(ClusterEvent("resource.k8s.io/ResourceClaim", changes), self.after_claim_change),
            EventRegistration(generated, self.after_pod_change),
            EventRegistration(ClusterEvent("resource.k8s.io/DeviceClass", changes)),
            EventRegistration(ClusterEvent("resource.k8s.io/ResourceSlice", changes)),
        )

    def after_claim_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        held = old is not None and old.status.get("allocation") is not None
        if held and new is not None and new.status.get("allocation") is None:
            return Hint.QUEUE, "hints.resource-claim-deallocated"
        return Hint.SKIP, "hints.resource-claim-does-not-matter"

    def after_pod_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is None or new.uid != pod.uid:
            return Hint.SKIP, "hints.another-pod-changed"
        return Hint.QUEUE, "hints.resource-claims-generated"

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Hold back no pod: one with claims should fail visibly, not wait."""
        return None

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        has_claims = bool(pod.spec.get("resourceClaims"))
        state.write(STATE, has_claims)
        return None, NOT_SIMULATED if has_claims else SKIP

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        _require_pre_filter(state)
        return NOT_SIMULATED if pod.spec.get("resourceClaims") else None

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        status = self.filter(state, pod, node_info)
        claims = Keys(str(item.get("name")) for item in pod.spec.get("resourceClaims") or ())
        shown = fact("node-rules.no-claims" if status is None else "node-rules.claims", status is None, claims=claims)
        key = "node-rules.no-devices" if status is None else "node-rules.claims-devices"
        return Facts(fact(key, status is None, pod=Keys((pod.key,))), (shown,), status)

    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeToStatus
    ) -> tuple[PostFilterResult | None, Status]:
        """Fail if PreFilter ended before this plugin's turn: Kubernetes v1.34.1 misses its state there, too."""
        _require_pre_filter(state)
        return None, NOTHING_TO_DEALLOCATE

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        _require_pre_filter(state)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        return None

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return None


class ScoringDynamicResources(DynamicResources):
    """With a score per node, by the rule ``dynamic_resources_weight``: a request that lists alternatives prefers the
    first. Without claims every node gets 0, and no pod with claims gets as far as Score.
    """

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        return 0

    def score_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntArray:
        return np.zeros(len(nodes), dtype=np.int64)

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: Mapping[str, int]) -> Facts:
        says = fact("node-rules.no-devices-to-score", node=node_info.name, pod=Keys((pod.key,)))
        return scaled(says, (), 0, node_info.name, raw, reverse=False)

    def normalize_score(self, state: CycleState, pod: Pod, scores: dict[str, int]) -> None:
        default_normalize_score(scores, reverse=False)

    def normalize_all(self, state: CycleState, pod: Pod, scores: IntArray) -> IntArray:
        return default_normalize_all(scores, reverse=False)


def _require_pre_filter(state: CycleState) -> None:
    """Raise PluginError without PreFilter's state, even for pods without claims."""
    if state.read(STATE) is None:
        raise PluginError("not found")
