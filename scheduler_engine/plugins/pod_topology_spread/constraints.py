"""Spread constraints, ready for counting: those of a pod, or a profile's defaults.

Source: seed 002 §4; upstream ``podtopologyspread/common.go`` and ``plugins/helper/spread.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from scheduler_engine.api.labels import Requirement, Selector, selector_from, selector_from_set
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.taints import Taint, first_untolerated
from scheduler_engine.api.topology import HOSTNAME, ZONE
from scheduler_engine.framework.interface import ObjectReader
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.records import record

DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"
AFFINITY = "affinity"

SYSTEM_DEFAULT_CONSTRAINTS: tuple[Mapping[str, Any], ...] = (
    {"maxSkew": 3, "topologyKey": HOSTNAME, "whenUnsatisfiable": SCHEDULE_ANYWAY},
    {"maxSkew": 5, "topologyKey": ZONE, "whenUnsatisfiable": SCHEDULE_ANYWAY},
)


@record(frozen=True, slots=True)
class SpreadConstraint:
    """``honors_affinity``/``honors_taints``: ignore nodes that the pod's affinity or tolerations rule out.

    ``compares``: the rule ``tolerations_compare``.
    """

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False
    compares: bool = field(default=False, repr=False)

    def counts_node(self, pod: Pod, node: Node) -> bool:
        """Return True if the node inclusion policies include ``node``."""
        return self.honors_what(pod, node) is None

    def honors_what(self, pod: Pod, node: Node) -> Taint | str | None:
        """Return why ``node`` is excluded: a taint, or "affinity"; None = it is not."""
        if self.honors_affinity and not pod.required_node_affinity.matches(node.name, node.labels):
            return AFFINITY
        if not self.honors_taints or not node.taints:
            return None
        return first_untolerated(node.taints, pod.tolerations, ("NoSchedule", "NoExecute"), self.compares)


def constraints_of(
    manifests: Iterable[Mapping[str, Any]], pod: Pod, action: str, compares: bool = False
) -> tuple[SpreadConstraint, ...]:
    """Return those of ``manifests`` whose ``whenUnsatisfiable`` is ``action``, with ``matchLabelKeys`` applied.

    ``compares``: the rule ``tolerations_compare``.
    """
    return tuple(
        SpreadConstraint(
            manifest.get("maxSkew") or 0,
            manifest.get("topologyKey") or "",
            _with_label_keys(selector_from(manifest.get("labelSelector")), manifest.get("matchLabelKeys") or (), pod),
            1 if manifest.get("minDomains") is None else manifest["minDomains"],
            (manifest.get("nodeAffinityPolicy") or "Honor") == "Honor",
            manifest.get("nodeTaintsPolicy") == "Honor",
            compares,
        )
        for manifest in manifests
        if manifest.get("whenUnsatisfiable") == action
    )


def _with_label_keys(selector: Selector, keys: Sequence[str], pod: Pod) -> Selector:
    """Narrow ``selector`` to pods with the same values under ``keys`` as ``pod``; ignore keys that it lacks."""
    added = tuple(Requirement(key, "In", (pod.labels[key],)) for key in sorted(keys) if key in pod.labels)
    if not added or selector.nothing:
        return selector
    return Selector(added + selector.requirements)


def default_selector(pod: Pod, objects: ObjectReader) -> Selector:
    """Combine the selectors of the pod's Services and its controller; empty if it has neither.

    Upstream adds up the Services' selectors and that of the owning ReplicationController, ReplicaSet or StatefulSet.
    """
    wanted: dict[str, str] = {}
    for service in objects.list("Service", pod.namespace):
        selected = service.spec.get("selector")
        if selected is not None and selector_from_set(selected).matches(pod.labels):
            wanted.update(selected)
    owner = pod.controller_ref
    if owner is None:
        return selector_from_set(wanted)
    kind = (owner.get("apiVersion"), owner.get("kind"))
    if kind not in (("v1", "ReplicationController"), ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet")):
        return selector_from_set(wanted)
    controller = objects.get(str(owner.get("kind")), f"{pod.namespace}/{owner.get('name')}")
    if controller is None:
        return selector_from_set(wanted)
    if kind == ("v1", "ReplicationController"):
        return selector_from_set({**wanted, **(controller.spec.get("selector") or {})})
    own = selector_from(controller.spec.get("selector"))
    return Selector(selector_from_set(wanted).requirements + own.requirements)


def has_all_keys(labels: Mapping[str, str], constraints: Iterable[SpreadConstraint]) -> bool:
    return all(constraint.topology_key in labels for constraint in constraints)


def count_matching(infos: Iterable[PodInfo], selector: Selector, namespace: str) -> int:
    """Count matching pods of ``namespace`` that are not being deleted. An empty selector counts none, as upstream."""
    if selector.empty:
        return 0
    count = 0
    for info in infos:
        pod = info.pod
        if pod.namespace == namespace and selector.matches(pod.labels) and not pod.terminating:
            count += 1
    return count
