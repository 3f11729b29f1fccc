"""The pods that each kubelet has accepted, added up: kept from one admission to the next.

Source: design of the sandbox. Upstream adds up the node's pods at every admission.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.node_info import NodeInfo


def is_accepted(pod: Pod) -> bool:
    """Return True if a kubelet has accepted it and it has not finished."""
    return not pod.finished and (pod.phase == "Running" or pod.start_time_us is not None)


def sum_of(node: Node, pods: Iterable[Pod]) -> NodeInfo:
    """Return the node with the accepted ones of ``pods``."""
    info = NodeInfo()
    info.set_node(node)
    for pod in pods:
        if is_accepted(pod):
            info.add_pod(pod)
    return info


@dataclass(slots=True)
class Accepted:
    """``sums``: node → (key → its unfinished pods when they were last compared, the node with the accepted ones). A
    copy of a simulation starts without.
    """

    sums: dict[str, tuple[dict[str, Pod], NodeInfo]] = field(default_factory=dict)

    def beside(self, pod: Pod, node: Node, there: Mapping[str, Pod]) -> NodeInfo:
        """Return the node with the pods that its kubelet has accepted, without ``pod``. Nobody may change it.

        ``there``: key → unfinished pods that are bound to the node.
        """
        now = there.get(pod.key)
        if now is not None and now.uid == pod.uid and is_accepted(now):
            return sum_of(node, [other for other in there.values() if other.uid != pod.uid])
        if node.name not in self.sums or not self._update(node, there):
            self.sums[node.name] = dict(there), sum_of(node, there.values())
        return self.sums[node.name][1]

    def _update(self, node: Node, there: Mapping[str, Pod]) -> bool:
        """Compare with the pods of the last time; return False if all must be added up again."""
        before, info = self.sums[node.name]
        left = [pod for key, pod in before.items() if there.get(key) is not pod]
        came = [pod for key, pod in there.items() if before.get(key) is not pod]
        gone = [pod for pod in left if is_accepted(pod)]
        if any(pod.host_ports for pod in gone):
            return False  # Another pod may use the same port.
        if info.node is not node:
            info.set_node(node)
        for pod in gone:
            info.remove_pod(pod)
        for pod in left:
            del before[pod.key]
        for pod in came:
            before[pod.key] = pod
            if is_accepted(pod):
                info.add_pod(pod)
        return True

    def forget(self, node: str) -> None:
        """Drop what is kept about a node."""
        self.sums.pop(node, None)

    def __deepcopy__(self, memo: dict[int, object]) -> Accepted:
        return Accepted()

    def __reduce__(self) -> tuple[Any, ...]:
        return Accepted, ()
