"""One extender: what it is asked, about which pods, and what its answers mean.

Source: upstream ``extender.go`` and ``k8s.io/kube-scheduler/extender/v1/types.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.extender_answers import (
    BINDING_RESULT,
    FILTER_RESULT,
    PREEMPTION_RESULT,
    PRIORITIES,
    ExtenderError,
    read_answer,
)
from scheduler_engine.framework.extender_calls import Address, Calls, View
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.trace.events.cycle import ExtenderAsked
from scheduler_engine.trace.events.pairs import Pairs, Tables

EXTENDER = "Extender"
"""The plugin that is said to have rejected a pod if extenders excluded nodes."""
MAX_EXTENDER_PRIORITY = 10
"""The highest score that an extender should give."""
POINTS = 10
"""What a score of 1 adds to a total for each unit of weight: the highest score of a node divided by an extender's."""
TYPE_META = ("apiVersion", "kind")


class Filtered(NamedTuple):
    """The nodes that pass, in the extender's order, and the messages about those that fail."""

    passing: Sequence[NodeInfo]
    failed: Mapping[str, str]
    unresolvable: Mapping[str, str]


class Victims(NamedTuple):
    """The pods to evict from a node, and how many of these evictions violate a PodDisruptionBudget."""

    pods: tuple[Pod, ...]
    violations: int


@dataclass(frozen=True, slots=True)
class Extender:
    """A configured extender; an empty verb is not supported. ``managed``: the resources that make it interested in a
    pod; none: it is interested in all. ``node_cache_capable``: it gets names of nodes, not nodes. ``ignorable``: its
    errors do not fail a pod.
    """

    address: Address
    calls: Calls
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int = 0
    node_cache_capable: bool = False
    managed: frozenset[str] = field(default_factory=frozenset)
    ignorable: bool = False

    @property
    def name(self) -> str:
        return self.address.url

    def is_interested(self, pod: Pod) -> bool:
        """Return True if it manages a resource that a container of the pod requests or limits."""
        return not self.managed or any(
            self.managed & ((container.get("resources") or {}).get(part) or {}).keys()
            for container in (*pod.containers, *pod.init_containers)
            for part in ("requests", "limits")
        )

    @property
    def factor(self) -> int:
        """Return the points that a score of 1 adds to the total of a node."""
        return self.weight * POINTS

    def filter(self, view: View, nodes: Sequence[NodeInfo]) -> Filtered:
        """Ask which nodes pass. Raises ExtenderError.

        An extender that caches no nodes answers with Node objects. As upstream, those have no pods from then on, so
        scores see empty nodes; their other fields stay those of the snapshot.
        """
        if not self.filter_verb:
            return Filtered(nodes, {}, {})
        result = self._ask(self.filter_verb, self._about(view.pod, nodes), FILTER_RESULT, view)
        if result["Error"]:
            raise ExtenderError(result["Error"])
        failed, unresolvable = result["FailedNodes"] or {}, result["FailedAndUnresolvableNodes"] or {}
        return Filtered(self._passing(result, nodes), failed, unresolvable)

    def _passing(self, result: Mapping[str, Any], nodes: Sequence[NodeInfo]) -> Sequence[NodeInfo]:
        known = {info.name: info for info in nodes}
        if self.node_cache_capable and result["NodeNames"] is not None:
            return self._known(result["NodeNames"], known)
        items = (result["Nodes"] or {}).get("items") or ()
        names = [((item or {}).get("metadata") or {}).get("name", "") for item in items]
        return [*map(_without_pods, self._known(names, known))]

    def _known(self, names: Sequence[str], known: Mapping[str, NodeInfo]) -> list[NodeInfo]:
        """Return the nodes of these names, each once. Raises ExtenderError if one was not asked about."""
        for name in names:
            if name not in known:
                what = f'claims a filtered node "{name}" which is not found in the input node list'
                raise ExtenderError(f'extender "{self.name}" {what}')
        return [known[name] for name in dict.fromkeys(names)]

    def prioritize(self, view: View, nodes: Sequence[NodeInfo]) -> list[tuple[str, int]]:
        """Ask for a score for each node, usually 0–10. Raises ExtenderError."""
        rows = self._ask(self.prioritize_verb, self._about(view.pod, nodes), PRIORITIES, view) or ()
        return [(row["Host"], row["Score"]) for row in rows if row is not None]

    def preempt(self, view: View, victims: Mapping[str, Victims], nodes: Mapping[str, NodeInfo]) -> dict[str, Victims]:
        """Ask which candidates remain, with which victims. ``nodes``: all nodes of the snapshot by name.

        Raises ExtenderError.
        """
        key = "NodeNameToMetaVictims" if self.node_cache_capable else "NodeNameToVictims"
        named = {node: self._victims(chosen) for node, chosen in victims.items()}
        arguments = {"Pod": body(view.pod), "NodeNameToVictims": None, "NodeNameToMetaVictims": None, key: named}
        result = self._ask(self.preempt_verb, arguments, PREEMPTION_RESULT, view)["NodeNameToMetaVictims"] or {}
        return {node: self._chosen(node, meta or {}, nodes) for node, meta in result.items()}

    def _victims(self, victims: Victims) -> dict[str, Any]:
        pods = [{"UID": pod.uid} if self.node_cache_capable else body(pod) for pod in victims.pods]
        return {"Pods": pods, "NumPDBViolations": victims.violations}

    def _chosen(self, node: str, meta: Mapping[str, Any], nodes: Mapping[str, NodeInfo]) -> Victims:
        if node not in nodes:
            raise ExtenderError(f'nodeinfo not found for node name "{node}"')
        by_uid = {info.pod.uid: info.pod for info in nodes[node].pods}
        uids = [(pod or {}).get("UID", "") for pod in meta.get("Pods") or ()]
        for uid in uids:
            if uid not in by_uid:
                where = f"on node: {node}, but the pod is not found on that node"
                raise ExtenderError(f"extender: {self.name} claims to preempt pod (UID: &{{{uid}}}) {where}")
        return Victims(tuple(by_uid[uid] for uid in uids), meta.get("NumPDBViolations", 0))

    def bind(self, view: View, node: str) -> None:
        """Ask it to bind the pod. Raises ExtenderError."""
        pod = view.pod
        arguments = {"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": node}
        result = self._ask(self.bind_verb, arguments, BINDING_RESULT, view)
        if result["Error"]:
            raise ExtenderError(result["Error"])

    def _about(self, pod: Pod, nodes: Sequence[NodeInfo]) -> dict[str, Any]:
        names = [info.name for info in nodes] if self.node_cache_capable else None
        items = [body(info.node) for info in nodes if info.node is not None]
        return {
            "Pod": body(pod),
            "Nodes": {"metadata": {}, "items": items} if names is None else None,
            "NodeNames": names,
        }

    def _ask(self, verb: str, arguments: Mapping[str, Any], kind: Any, view: View) -> Any:
        return read_answer(self.calls.ask(self.address, verb, arguments, view), kind)


def body(item: KubeObject) -> dict[str, Any]:
    """Return an object as the scheduler's informers hold it: without its version and kind."""
    return {name: value for name, value in item.manifest.items() if name not in TYPE_META}


def _without_pods(info: NodeInfo) -> NodeInfo:
    assert info.node is not None
    empty = NodeInfo()
    empty.set_node(info.node)
    return empty


def extender_scores(asked: Iterable[ExtenderAsked]) -> tuple[Tables, Tables]:
    """Return raw and normalized scores of extenders: what they answered, and the same as points of up to 100."""
    answers = [one for one in asked if one.call == "prioritize" and not one.error]
    return _table(answers, 1), _table(answers, POINTS)


def _table(answers: Iterable[ExtenderAsked], factor: int) -> Tables:
    return tuple(
        (one.extender, Pairs(tuple(row[0] for row in one.scores), tuple(row[1] * factor for row in one.scores)))
        for one in answers
    )
