"""NodeUnschedulable: no pod goes to a cordoned node unless it tolerates ``node.kubernetes.io/unschedulable``.

Source: seed 002 §5; upstream ``plugins/nodeunschedulable/node_unschedulable.go``.
"""

from __future__ import annotations

from collections.abc import Hashable

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.api.taints import Taint, tolerated
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Facts, Keys, fact
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Status, unresolvable
from scheduler_engine.plugins.taint_facts import tolerance_fact

REASON = "node(s) were unschedulable"
UNSCHEDULABLE_TAINT = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


class NodeUnschedulable(Plugin):
    name = "NodeUnschedulable"
    reads_pods = False

    def sign(self, pod: Pod) -> Hashable:
        return pod.tolerations

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        node_event = ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        pod_event = ClusterEvent("Pod", ActionType.UPDATE_POD_TOLERATION)
        return (
            EventRegistration(node_event, self.after_node_change),
            EventRegistration(pod_event, self.after_pod_toleration_change),
        )

    def after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        usable = isinstance(new, Node) and not new.unschedulable
        if usable and old is None:
            return Hint.QUEUE, "hints.schedulable-node-added"
        if usable and isinstance(old, Node) and old.unschedulable:
            return Hint.QUEUE, "hints.node-uncordoned"
        return Hint.SKIP, "hints.node-cordoned" if not usable else "hints.node-schedulable-before"

    def after_pod_toleration_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if not isinstance(new, Pod) or new.uid != pod.uid:
            return Hint.SKIP, "hints.tolerations-of-another-pod"
        if self._tolerates(new):
            return Hint.QUEUE, "hints.cordon-tolerated"
        return Hint.SKIP, "hints.toleration-for-something-else"

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        node = node_info.node
        if node is None or not node.unschedulable or self._tolerates(pod):
            return None
        return unresolvable(REASON)

    def _tolerates(self, pod: Pod) -> bool:
        return tolerated(UNSCHEDULABLE_TAINT, pod.tolerations, self.handle.rules.tolerations_compare)

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        node, status = node_info.node, self.filter(state, pod, node_info)
        if node is None or not node.unschedulable:
            says = fact("taints.not-cordoned", True, node=node_info.name)
            return Facts(says, (fact("taints.schedulable", True),), status)
        compares, text = self.handle.rules.tolerations_compare, UNSCHEDULABLE_TAINT.text
        verdict = tolerance_fact(UNSCHEDULABLE_TAINT, pod.tolerations, compares)
        shown = fact("taints.unschedulable", taint=text), fact("taints.judged", verdict.ok, taint=text, verdict=verdict)
        key = "taints.cordon-tolerated" if status is None else "taints.cordoned"
        return Facts(fact(key, status is None, node=node.name, pod=Keys((pod.key,))), shown, status)
