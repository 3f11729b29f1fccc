"""NodePorts: the host ports that a pod requests must be free on the node; 0.0.0.0 takes the port on every address.

Source: upstream ``plugins/nodeports/node_ports.go``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.facts import Fact, Facts, Keys, fact
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

    def sign(self, pod: Pod) -> Hashable:
        return pod.host_ports

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        return (
            EventRegistration(ClusterEvent("Pod", ActionType.DELETE), self.after_pod_deleted),
            EventRegistration(ClusterEvent("Node", ActionType.ADD)),
        )

    def after_pod_deleted(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if not isinstance(old, Pod) or not (old.node_name or old.nominated_node_name):
            return Hint.SKIP, "hints.pod-had-no-node"
        if not ports_conflict(pod.host_ports, dict.fromkeys(old.host_ports)):
            return Hint.SKIP, "hints.pod-used-no-port"
        return Hint.QUEUE, "hints.port-free"

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

    def explain_filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Facts:
        status = self.filter(state, pod, node_info)
        wanted: Sequence[HostPort] = state.data[PRE_FILTER_KEY]
        shown = [item for port in wanted for item in _port_facts(port, pod, node_info)]
        taken = [port for port in wanted if _taken(port, node_info.used_ports)]
        says = fact(
            "node-rules.ports-taken" if taken else "node-rules.ports-free",
            not taken,
            count=len(taken),
            ports=Keys(_text(port) for port in taken),
            number=taken[0][2] if taken else 0,
            node=node_info.name,
            pod=Keys((pod.key,)),
        )
        return Facts(says, tuple(shown), status)


def ports_conflict(wanted: Sequence[HostPort], used: Mapping[HostPort, None]) -> bool:
    """Return True if one of the host ports is taken."""
    return any(_taken(port, used) for port in wanted)


def _taken(port: HostPort, used: Mapping[HostPort, None]) -> list[HostPort]:
    """Return the used ports that conflict with the port."""
    address, protocol, number = port
    if address == ANY_ADDRESS:
        return [item for item in used if item[1:] == (protocol, number)]
    taken = [port] if port in used else []
    if (ANY_ADDRESS, protocol, number) in used:
        taken.append((ANY_ADDRESS, protocol, number))
    return taken


# --- facts ---


def _port_facts(port: HostPort, pod: Pod, node_info: NodeInfo) -> Iterator[Fact]:
    """Name the port's users. The node keeps ports as a set, which may lack one that a pod there has."""
    taken, everywhere = _taken(port, node_info.used_ports), port[0] == ANY_ADDRESS
    for held in taken:
        holders = Keys(info.pod.key for info in node_info.pods if held in info.pod.host_ports)
        row = "port-taken" if holders else "port-taken-by-nobody"
        if held[0] != port[0]:
            row += "-wanted-everywhere" if everywhere else "-held-everywhere"
        yield fact(f"node-rules.{row}", False, port=_text(port), held=_text(held), pods=holders, node=node_info.name)
    if taken:
        return
    forgotten = [
        (info.pod.key, held) for info in node_info.pods for held in _taken(port, dict.fromkeys(info.pod.host_ports))
    ]
    for key, held in forgotten:
        yield fact("node-rules.port-forgotten", True, port=_text(port), held=_text(held), pods=Keys((key,)))
    if not forgotten:
        yield fact("node-rules.port-free-everywhere" if everywhere else "node-rules.port-free", True, port=_text(port))


def _text(port: HostPort) -> str:
    address, protocol, number = port
    return f"{protocol} {number}" if address == ANY_ADDRESS else f"{protocol} {address}:{number}"
