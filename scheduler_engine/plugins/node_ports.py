"""NodePorts: the host ports a pod asks for must be free on the node; 0.0.0.0 takes the port on every address.

Source: upstream ``plugins/nodeports/node_ports.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin, PluginError, PreFilterResult
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import SKIP, Status, unschedulable

REASON = "node(s) didn't have free ports for the requested pod ports"
PRE_FILTER_KEY = "PreFilterNodePorts"
ANY_ADDRESS = "0.0.0.0"

HostPort = tuple[str, str, int]
"""(host IP, protocol, port)"""


class NodePorts(Plugin):
    name = "NodePorts"

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        return (
            EventRegistration(ClusterEvent("Pod", ActionType.DELETE), self.after_pod_deleted),
            EventRegistration(ClusterEvent("Node", ActionType.ADD)),
        )

    def after_pod_deleted(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if not isinstance(old, Pod) or not (old.node_name or old.nominated_node_name):
            return Hint.SKIP, "the deleted pod had no node"
        if not ports_conflict(pod.host_ports, dict.fromkeys(old.host_ports)):
            return Hint.SKIP, "the deleted pod had none of the pod's host ports"
        return Hint.QUEUE, "a host port became free"

    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]
    ) -> tuple[PreFilterResult | None, Status | None]:
        if not pod.host_ports:
            return None, SKIP
        state.write(PRE_FILTER_KEY, pod.host_ports)
        return None, None

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None:
        wanted = state.read(PRE_FILTER_KEY)
        if wanted is None:
            raise PluginError(f'reading "{PRE_FILTER_KEY}" from cycleState: not found')
        return unschedulable(REASON) if ports_conflict(wanted, node_info.used_ports) else None


def ports_conflict(wanted: Sequence[HostPort], used: Mapping[HostPort, None]) -> bool:
    """Whether one of the host ports is taken."""
    return any(_taken(*port, used) for port in wanted)


def _taken(address: str, protocol: str, port: int, used: Mapping[HostPort, None]) -> bool:
    if address == ANY_ADDRESS:
        return any(item[1:] == (protocol, port) for item in used)
    return (address, protocol, port) in used or (ANY_ADDRESS, protocol, port) in used
