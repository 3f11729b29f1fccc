"""Spread constraints of a pod, and which nodes and pods they count.

Source: seed 002 §4; upstream ``plugins/podtopologyspread/common.go`` and ``plugins/helper/spread.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.panels.explain.model import Case, Line, names
from sandbox.panels.model.seen import Objects
from sandbox.panels.words.say import say
from scheduler_engine.api.labels import Requirement, Selector, selector_from, selector_from_set
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.taints import first_untolerated
from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.framework.node_info import PodInfo

SYSTEM_DEFAULTS: tuple[Mapping[str, Any], ...] = (
    {"maxSkew": 3, "topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway"},
    {"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"},
)
OWNERS = (("v1", "ReplicationController"), ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"))


@dataclass(frozen=True, slots=True)
class Constraint:
    """``honors_affinity``/``honors_taints``: nodes ruled out for the pod by those do not count."""

    key: str
    max_skew: int
    selector: Selector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool

    def excludes(self, pod: Pod, node: Node) -> str:
        """Why ``node`` does not count, "" when it does."""
        if self.honors_affinity and not pod.required_node_affinity.matches(node.name, node.labels):
            return say("spread.affinity-rules-out")
        if self.honors_taints:
            taint = first_untolerated(node.taints, pod.tolerations, ("NoSchedule", "NoExecute"))
            if taint is not None:
                return say("spread.taint-not-tolerated", taint=taint.text)
        return ""

    def counts(self, pod: Pod, namespace: str) -> bool:
        """Whether a pod on a node counts. An empty selector counts nobody, a pod that is being deleted never counts."""
        if pod.namespace != namespace or pod.terminating or self.selector.empty:
            return False
        return self.selector.matches(pod.labels)

    def number(self, pods: Iterable[PodInfo], namespace: str) -> int:
        return sum(self.counts(info.pod, namespace) for info in pods)


def constraints_of(case: Case, action: str, objects: Objects) -> tuple[tuple[Constraint, ...], str]:
    """Those whose ``whenUnsatisfiable`` is ``action``, and where they come from when they are not the pod's own."""
    pod = case.pod
    if pod.topology_spread_constraints:
        own = (item for item in pod.topology_spread_constraints if item.get("whenUnsatisfiable") == action)
        return tuple(constraint_of(item, pod) for item in own), ""
    defaults = SYSTEM_DEFAULTS if system_defaulted(case) else case.args.get("defaultConstraints") or ()
    found = [constraint_of(item, pod) for item in defaults if item.get("whenUnsatisfiable") == action]
    selector = default_selector(pod, objects) if found else Selector()
    if selector.empty:
        return (), ""
    origin = say("spread.built-in-default" if system_defaulted(case) else "spread.profile-default")
    return tuple(replace(item, selector=selector) for item in found), origin


def system_defaulted(case: Case) -> bool:
    return str(case.args.get("defaultingType", "System")) == "System"


def constraint_of(manifest: Mapping[str, Any], pod: Pod) -> Constraint:
    """One entry of ``topologySpreadConstraints`` as it counts for ``pod``, ``matchLabelKeys`` included."""
    selector = selector_from(manifest.get("labelSelector"))
    keys = sorted(manifest.get("matchLabelKeys") or ())
    added = tuple(Requirement(key, "In", (pod.labels[key],)) for key in keys if key in pod.labels)
    if added and not selector.nothing:
        selector = Selector(added + selector.requirements)
    least = manifest.get("minDomains")
    return Constraint(
        manifest.get("topologyKey") or "",
        manifest.get("maxSkew") or 0,
        selector,
        1 if least is None else least,
        (manifest.get("nodeAffinityPolicy") or "Honor") == "Honor",
        manifest.get("nodeTaintsPolicy") == "Honor",
    )


def default_selector(pod: Pod, objects: Objects) -> Selector:
    """What the pod's Services and its controller select."""
    chosen: dict[str, str] = {}
    for service in objects.list("Service", pod.namespace):
        selected = service.spec.get("selector")
        if selected is not None and selector_from_set(selected).matches(pod.labels):
            chosen.update(selected)
    owner = pod.controller_ref or {}
    kind = (owner.get("apiVersion"), owner.get("kind"))
    controller = objects.get(str(kind[1]), f"{pod.namespace}/{owner.get('name')}") if kind in OWNERS else None
    if controller is None:
        return selector_from_set(chosen)
    if kind[1] == "ReplicationController":
        return selector_from_set({**chosen, **(controller.spec.get("selector") or {})})
    return Selector(
        selector_from_set(chosen).requirements + selector_from(controller.spec.get("selector")).requirements
    )


def lacks_a_key(node: Node, constraints: Sequence[Constraint]) -> str:
    """The first topology key that ``node`` has no label for."""
    return next((item.key for item in constraints if item.key not in node.labels), "")


def counted(domains: Mapping[str, int], lowest: int | None = None) -> str:
    """``a 2, b 0 (fewest)``: at most eight domains, those with the fewest pods first when there are more."""
    shown_first = list(domains.items()) if len(domains) <= 8 else sorted(domains.items(), key=lambda item: item[1])[:8]
    parts = [_counted(value or say("spread.nameless"), number, number == lowest) for value, number in shown_first]
    if len(domains) > len(parts):
        return say("lists.more", names=", ".join(parts), count=len(domains) - len(parts))
    return ", ".join(parts) or say("spread.no-domains")


def _counted(name: str, number: int, fewest: bool) -> str:
    return say("spread.fewest", name=name, number=number) if fewest else f"{name} {number}"


def left_out(reasons: Mapping[str, str]) -> list[Line]:
    """Nodes that do not count, by reason."""
    by_reason: dict[str, list[str]] = {}
    for node, reason in reasons.items():
        by_reason.setdefault(reason, []).append(node)
    return [Line(say("spread.does-not-count"), names(nodes), reason) for reason, nodes in by_reason.items()]
