"""The node lifecycle controller: conditions of nodes become taints, and pods on a broken node stop being ready.

Source: seed 002 §5 (Taint based Evictions, Taint Nodes by Condition); upstream ``pkg/controller/nodelifecycle``. Taints
set by hand stay if the node does not report their condition; a node without Ready counts as ready. Not here: upstream's
rate limits when it taints many nodes at once, and the lease by which it notices a silent kubelet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from scheduler_engine.api import taints
from scheduler_engine.api.conditions import CONDITION_TAINTS, condition_set, condition_statuses
from scheduler_engine.api.objects import Node, timestamp
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.apiserver.watching import Wants, Watch, all_of
from scheduler_engine.timeline import Timeline
from scheduler_engine.trace.events import EventRecorded

Manifest = dict[str, Any]


@dataclass(slots=True)
class NodeLifecycleController:
    WANTS: ClassVar[Wants] = all_of("Node")

    api: ApiServer
    timeline: Timeline
    watch: Watch

    def work(self) -> bool:
        """Handle one change; return False if there was none."""
        event = self.api.next_event(self.watch)
        if event is None:
            return False
        if event.kind == "Node" and event.new is not None:
            node = self.api.get("Node", event.new.key)
            if isinstance(node, Node):
                self._sync(node, event.old if isinstance(event.old, Node) else None)
        return True

    def _sync(self, node: Node, old: Node | None) -> None:
        statuses = condition_statuses(node)
        held: list[Manifest] = node.spec.get("taints") or []
        wanted = self._wanted(node, statuses)
        ruled = _ruled(statuses)
        kept = [item for item in held if _identity(item) not in ruled or _identity(item) in wanted]
        there = [_identity(item) for item in kept]
        kept += [taint for identity, taint in wanted.items() if identity not in there]
        if kept != held:
            self.api.patch("Node", node.key, {"spec": {"taints": kept or None}})
        if node.ready_status != "True":
            if old is None or old.ready_status == "True":
                self._tell("Node", node.key, "Normal", f"Node {node.name} status is now: NodeNotReady")
            self._mark_pods_not_ready(node)

    def _wanted(self, node: Node, statuses: dict[str, str]) -> dict[tuple[str, str], Manifest]:
        """Return (key, effect) → the taint that the node should have."""
        keys = [CONDITION_TAINTS[kind].get(status, "") for kind, status in statuses.items()]
        keys += [taints.UNSCHEDULABLE] if node.unschedulable else []
        wanted: dict[tuple[str, str], Manifest] = {
            (key, "NoSchedule"): {"key": key, "effect": "NoSchedule"} for key in keys if key
        }
        broken = CONDITION_TAINTS["Ready"].get(node.ready_status)
        if broken:
            added = timestamp(self.timeline.now_us)
            wanted[broken, "NoExecute"] = {"key": broken, "effect": "NoExecute", "timeAdded": added}
        return wanted

    def _mark_pods_not_ready(self, node: Node) -> None:
        for pod in self.api.pods_on(node.name):
            if pod.condition_status("Ready") == "True":
                conditions = condition_set(pod.conditions, self.timeline.now_us, "Ready", "False")
                self.api.patch("Pod", pod.key, {"status": {"conditions": conditions}})
                self._tell("Pod", pod.key, "Warning", "Node is not ready")

    def _tell(self, kind: str, key: str, level: str, text: str) -> None:
        self.api.recorder.add(EventRecorded(kind, key, level, "NodeNotReady", text))


def _ruled(statuses: dict[str, str]) -> set[tuple[str, str]]:
    """Return (key, effect) of the taints that this controller manages on a node."""
    ruled = {(key, "NoSchedule") for kind in statuses for key in CONDITION_TAINTS[kind].values()}
    ruled.add((taints.UNSCHEDULABLE, "NoSchedule"))
    if "Ready" in statuses:
        ruled |= {(key, "NoExecute") for key in CONDITION_TAINTS["Ready"].values()}
    return ruled


def _identity(taint: Manifest) -> tuple[str, str]:
    return taint.get("key", ""), taint.get("effect", "")
