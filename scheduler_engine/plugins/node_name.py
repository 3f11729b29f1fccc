"""NodeName: a pod with ``spec.nodeName`` may only run on that node.

Source: seed 002 §2; upstream ``plugins/nodename/node_name.go``.
"""

from __future__ import annotations

from collections.abc import Hashable

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Facts, Keys, Value, fact
from scheduler_engine.framework.interface import EventRegistration, Plugin
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Status, unresolvable

REASON = "node(s) didn't match the requested node name"


class NodeName(Plugin):
    name = "NodeName"
    reads_pods = False

    def sign(self, pod: Pod) -> Hashable:
        return pod.node_name

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        return (EventRegistration(ClusterEvent("Node", ActionType.ADD)),)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        if not pod.node_name or pod.node_name == node_info.name:
            return None
        return unresolvable(REASON)

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        status = self.filter(state, pod, node_info)
        case = "any-name" if not pod.node_name else "right-name" if status is None else "wrong-name"
        values: dict[str, Value] = {"pod": Keys((pod.key,)), "wanted": pod.node_name, "node": node_info.name}
        shown = fact(f"node-rules.{case}-compared", status is None, **values)
        return Facts(fact(f"node-rules.{case}", status is None, **values), (shown,), status)
