"""What the pods in the scheduler's cache request, and what the nodes can allocate, folded from the trace."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.state import NodeState, requests_of
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.trace import events as ev

RESOURCES = ("cpu", "memory")
PLACED = ("assumed", "added", "confirmed", "updated")
"""Changes of a pod in the cache after which it is still there."""
TAKEN_BACK = ("forgotten", "expired")
RECENTLY_DELETED = 64
"""Deleted pods that are remembered for a while: a running cycle may still assume one."""

Value = int | float | None
"""None: there is nothing to measure, such as the load of a deleted node."""


class Usage:
    """Requests of the pods on ``nodes``, assumed ones included.

    ``requested``: node → resource → millicores or bytes. ``zones``: (zone, resource) → [requested, allocatable]; the
    zone of nodes without one is "".
    """

    def __init__(self) -> None:
        self.nodes: dict[str, NodeState] = {}
        self.requested: dict[str, dict[str, int]] = {}
        self.zones: dict[tuple[str, str], list[int]] = {}
        self._uids: dict[str, str] = {}
        self._manifests: dict[str, dict[str, Any]] = {}
        self._gone: list[str] = []
        self._placed: dict[str, tuple[str, dict[str, int]]] = {}

    def apply(self, event: ev.Event) -> list[tuple[str, str]]:
        """Apply an event, and return the (node, zone) pairs whose load may have changed."""
        if isinstance(event, ev.CachePodChanged):
            return self._cache_pod(event)
        if isinstance(event, ev.ObjectDeleted):
            return self._deleted(event)
        if isinstance(event, ev.ReplicasConfigured) or (isinstance(event, ev.ReplicaChanged) and not event.schedules):
            return self._scheduler_gone()
        if isinstance(event, (ev.ObjectAdded, ev.ObjectModified)):
            if event.kind == "Node":
                return self._node(event.key, NodeState(Node(event.manifest)))
            if event.kind == "Pod":
                uid = event.manifest["metadata"].get("uid", event.key)
                self._uids[event.key] = uid
                self._manifests[uid] = event.manifest
        return []

    def of_node(self, name: str, resource: str) -> Value:
        """Return the percentage of the node's allocatable that is requested."""
        if name not in self.nodes:
            return None
        requested = self.requested.get(name, {}).get(resource, 0)
        return _percent(requested, self.nodes[name].allocatable.get(resource, 0))

    def of_zone(self, zone: str, resource: str) -> Value:
        requested, total = self.zones.get((zone, resource), (0, 0))
        return _percent(requested, total)

    def _node(self, name: str, state: NodeState | None) -> list[tuple[str, str]]:
        before = self.nodes.pop(name, None)
        if state is not None:
            self.nodes[name] = state
        touched = []
        for node, sign in ((before, -1), (state, 1)):
            if node is not None:
                self._weigh(name, node, sign)
                touched.append((name, node.zone))
        return touched

    def _deleted(self, event: ev.ObjectDeleted) -> list[tuple[str, str]]:
        if event.kind == "Pod" and event.key in self._uids:
            self._gone.append(self._uids.pop(event.key))
            if len(self._gone) > RECENTLY_DELETED:
                self._manifests.pop(self._gone.pop(0), None)
        return self._node(event.key, None) if event.kind == "Node" else []

    def _weigh(self, name: str, node: NodeState, sign: int) -> None:
        requested = self.requested.get(name, {})
        for resource in RESOURCES:
            amounts = requested.get(resource, 0), node.allocatable.get(resource, 0)
            self._shift(node.zone, resource, sign * amounts[0], sign * amounts[1])

    def _shift(self, zone: str, resource: str, requested: int, total: int) -> None:
        sums = self.zones.setdefault((zone, resource), [0, 0])
        sums[0] += requested
        sums[1] += total
        if not any(sums):
            del self.zones[zone, resource]

    def _cache_pod(self, event: ev.CachePodChanged) -> list[tuple[str, str]]:
        touched = []
        pod = event.uid or event.pod
        if pod in self._placed:
            touched.append(self._ask(*self._placed.pop(pod), -1))
        node = event.node if event.what in PLACED else self._bound_elsewhere(event, pod)
        if node and pod in self._manifests:
            requests = requests_of(Pod(self._manifests[pod]))
            self._placed[pod] = (node, requests)
            touched.append(self._ask(node, requests, 1))
        return touched

    def _bound_elsewhere(self, event: ev.CachePodChanged, uid: str) -> str:
        """Return the node of a pod that one scheduler takes back and another has bound, "" if there is none."""
        there = event.what in TAKEN_BACK and self._uids.get(event.pod) == uid
        return Pod(self._manifests[uid]).node_name if there else ""

    def _scheduler_gone(self) -> list[tuple[str, str]]:
        """Drop the pods that a stopped scheduler assumed and did not bind."""
        bound = {uid: Pod(self._manifests[uid]).node_name for uid in self._placed if uid in self._manifests}
        lost = [uid for uid, node in bound.items() if not node]
        return [self._ask(*self._placed.pop(uid), -1) for uid in lost]

    def _ask(self, name: str, requests: dict[str, int], sign: int) -> tuple[str, str]:
        requested = self.requested.setdefault(name, {})
        node = self.nodes.get(name)
        for resource in RESOURCES:
            amount = sign * requests.get(resource, 0)
            requested[resource] = requested.get(resource, 0) + amount
            if node is not None:
                self._shift(node.zone, resource, amount, 0)
        if not any(requested.values()):
            del self.requested[name]
        return name, node.zone if node is not None else ""


def _percent(requested: int, total: int) -> Value:
    return round(100 * requested / total, 1) if total else None
