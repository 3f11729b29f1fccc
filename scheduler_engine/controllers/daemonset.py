"""The DaemonSet controller: one pod on every node that it fits, bound to it by node name.

Source: seed 002 §5 (the tolerations that its pods get) and feature D5; upstream
``pkg/controller/daemon`` and its ``util``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from scheduler_engine.api import taints
from scheduler_engine.api.conditions import is_ready
from scheduler_engine.api.objects import KubeObject, Node, Pod, merge
from scheduler_engine.api.taints import first_untolerated
from scheduler_engine.apiserver.pod_index import REVISION_LABEL
from scheduler_engine.apiserver.watching import Wants, WatchEvent, every_change
from scheduler_engine.controllers.naming import template_hash
from scheduler_engine.controllers.places import PlacesController
from scheduler_engine.controllers.workload import Manifest, scaled, wants_of

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TOLERATED = (
    (taints.NOT_READY, "NoExecute"),
    (taints.UNREACHABLE, "NoExecute"),
    (taints.DISK_PRESSURE, "NoSchedule"),
    (taints.MEMORY_PRESSURE, "NoSchedule"),
    (taints.PID_PRESSURE, "NoSchedule"),
    (taints.UNSCHEDULABLE, "NoSchedule"),
)
"""Taints that every daemon pod tolerates."""
TOLERATED_ON_HOST_NETWORK = (taints.NETWORK_UNAVAILABLE, "NoSchedule")

PodsByNode = dict[str, list[Pod]]


@dataclass(slots=True)
class DaemonSetController(PlacesController):
    KIND: ClassVar[str] = "DaemonSet"
    WANTS: ClassVar[Wants] = wants_of("DaemonSet", Node=every_change)

    def notice(self, event: WatchEvent) -> None:
        """Note also nodes that come, go, or change in a way that pods see."""
        PlacesController.notice(self, event)
        if event.kind == "Node" and _visible(event.old) != _visible(event.new):
            self.complete.clear()
            for owner in self.api.list(self.KIND):
                self.enqueue(owner.key)

    def slot(self, pod: Pod) -> str:
        return target_of(pod)

    def replaces_later(self, owner: KubeObject, pod: Pod) -> bool:
        name, probe = target_of(pod), _probe(owner, daemon_template(owner))
        node = self.api.get("Node", name)
        beside = (other for other in self.pods_of(owner) if other.uid != pod.uid and target_of(other) == name)
        return (
            isinstance(node, Node)
            and node_verdict(probe, node, self.api.rules.tolerations_compare)[0]
            and not any(beside)
        )

    def sync(self, owner: KubeObject) -> None:
        revision = template_hash(owner.spec["template"])
        if owner.key in self.complete and self.all_new(owner, revision):
            self._write_status(owner, self._counts(owner))
            return
        template = daemon_template(owner)
        nodes = [item for item in self.api.list("Node") if isinstance(item, Node)]
        before = self.api.written
        pods, written = self._by_node(owner), self.api.written
        probe = _probe(owner, template)
        compares = self.api.rules.tolerations_compare
        should = {node.name: node_verdict(probe, node, compares) for node in nodes}
        self._manage(owner, template, revision, should, pods)
        if self.api.written != written:
            pods, written = self._by_node(owner), self.api.written
        if (owner.spec.get("updateStrategy") or {}).get("type") != "OnDelete":
            self._roll(owner, template, revision, should, pods)
        if self.api.written != written:
            pods = self._by_node(owner)
        self.watch_availability(owner, self.pods_of(owner))
        places = [name for name, (run, _) in should.items() if run]
        if self.api.written == before and self.all_active(owner, len(places)) and set(pods) == set(places):
            self.complete[owner.key] = None
        self._status(owner, should, revision, pods)

    def _by_node(self, owner: KubeObject) -> PodsByNode:
        """Group pods by their present or intended node, without finished ones that only finalizers hold."""
        by_node: PodsByNode = {}
        for pod in self.claimed_pods(owner):
            if not (pod.finished and pod.terminating):
                by_node.setdefault(target_of(pod), []).append(pod)
        return by_node

    def _manage(
        self,
        owner: KubeObject,
        template: Manifest,
        revision: str,
        should: Mapping[str, tuple[bool, bool]],
        pods: PodsByNode,
    ) -> None:
        """Create a pod on each node that should have one, and delete it where it must not be."""
        for name, (run, go_on) in should.items():
            here = pods.get(name, [])
            if not go_on:
                self._delete_all(owner, here)
            elif run and not here:
                self._create(owner, template, revision, name)
            else:
                kept = self._keep_one(owner, name, revision, here)
                if run and not kept and _max_surge(owner, 1):
                    self._create(owner, template, revision, name)
        for name, waiting in pods.items():
            if name not in should:
                self._delete_all(owner, [pod for pod in waiting if not pod.node_name])

    def _keep_one(self, owner: KubeObject, node: str, revision: str, here: list[Pod]) -> dict[bool, Pod]:
        """Replace finished pods; of several keep the oldest, and while surging also the newest revision.

        Return the kept pods by whether they have that revision.
        """
        kept: dict[bool, Pod] = {}
        for pod in here:
            if pod.terminating:
                continue
            if pod.phase == "Succeeded":
                text = f"Found succeeded daemon pod {pod.key} on node {node}, will try to delete it"
                self.tell(owner, "SucceededDaemonPod", text)
                self.delete_pod(owner, pod)
                continue
            if pod.finished:
                if self.may_replace(owner, node):
                    text = f"Found failed daemon pod {pod.key} on node {node}, will try to kill it"
                    self.tell(owner, "FailedDaemonPod", text, "Warning")
                    self.delete_pod(owner, pod)
                continue
            updated = _max_surge(owner, 1) > 0 and pod.labels.get(REVISION_LABEL) == revision
            if updated in kept:
                self.delete_pod(owner, pod)
            else:
                kept[updated] = pod
        return kept

    def _delete_all(self, owner: KubeObject, pods: list[Pod]) -> None:
        for pod in pods:
            if not pod.terminating:
                self.delete_pod(owner, pod)

    def _create(self, owner: KubeObject, template: Manifest, revision: str, node: str) -> None:
        if not self.may_make(owner, node):
            return
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        here = {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}}
        labels = {REVISION_LABEL: revision}
        self.create_pod(owner, self.pod_manifest(owner, template, metadata={"labels": labels}, spec=here))

    # --- rolling updates ---

    def _roll(
        self,
        owner: KubeObject,
        template: Manifest,
        revision: str,
        should: Mapping[str, tuple[bool, bool]],
        pods: PodsByNode,
    ) -> None:
        """Replace pods of older revisions: at most maxUnavailable nodes without a pod, or maxSurge with two."""
        nodes = [name for name, (run, _) in should.items() if run]
        surge, gone = _max_surge(owner, len(nodes)), _max_unavailable(owner, len(nodes))
        for name in nodes:
            here = [pod for pod in pods.get(name, []) if not pod.finished]
            if not any(self.available(owner, pod) for pod in here):
                gone -= 1
            if len(here) > 1:
                surge -= 1
        for name in nodes:
            here = [pod for pod in pods.get(name, []) if not pod.finished and not pod.terminating]
            new = [pod for pod in here if pod.labels.get(REVISION_LABEL) == revision]
            old = [pod for pod in here if pod.labels.get(REVISION_LABEL) != revision]
            if not old:
                continue
            works = self.available(owner, old[0])
            if new:
                if self.available(owner, new[0]) or not works:
                    self.delete_pod(owner, old[0])
            elif _max_surge(owner, len(nodes)):
                if surge > 0 or not works:
                    surge -= 1
                    self._create(owner, template, revision, name)
            elif gone > 0 or not works:
                gone -= 1 if works else 0
                self.delete_pod(owner, old[0])

    def _status(
        self, owner: KubeObject, should: Mapping[str, tuple[bool, bool]], revision: str, pods: PodsByNode
    ) -> None:
        counts = dict.fromkeys(("desired", "current", "ready", "available", "updated", "misscheduled"), 0)
        for name, (run, _) in should.items():
            here = pods.get(name, [])
            if not run:
                counts["misscheduled"] += bool(here)
                continue
            counts["desired"] += 1
            counts["current"] += bool(here)
            counts["ready"] += any(is_ready(pod) and not pod.terminating for pod in here)
            counts["available"] += any(self.available(owner, pod) for pod in here)
            counts["updated"] += any(pod.labels.get(REVISION_LABEL) == revision for pod in here)
        self._write_status(owner, counts)

    def _counts(self, owner: KubeObject) -> dict[str, int]:
        """Return what ``_status`` counts, for a complete set of the newest revision."""
        pods, ready = self.count_active(owner), self.count_ready(owner)
        everywhere = dict.fromkeys(("desired", "current", "updated"), pods)
        return {**everywhere, "ready": ready, "available": ready, "misscheduled": 0}

    def _write_status(self, owner: KubeObject, counts: Mapping[str, int]) -> None:
        self.set_status(
            owner,
            currentNumberScheduled=counts["current"],
            numberMisscheduled=counts["misscheduled"],
            desiredNumberScheduled=counts["desired"],
            numberReady=counts["ready"],
            updatedNumberScheduled=counts["updated"] or None,
            numberAvailable=counts["available"] or None,
            numberUnavailable=counts["desired"] - counts["available"] or None,
        )


def daemon_template(owner: KubeObject) -> Manifest:
    """Return the pod template with the tolerations that all daemon pods get."""
    template: Manifest = owner.spec["template"]
    spec = template.get("spec") or {}
    tolerated = [*TOLERATED, *([TOLERATED_ON_HOST_NETWORK] if spec.get("hostNetwork") else [])]
    held = [
        item
        for item in spec.get("tolerations") or ()
        if (item.get("key"), item.get("effect")) not in tolerated or item.get("operator") != "Exists"
    ]
    added = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in tolerated]
    return merge(template, {"spec": {"tolerations": [*held, *added]}})


def _probe(owner: KubeObject, template: Manifest) -> Pod:
    """Return a sample pod of the owner, to check where it may run."""
    return Pod({"kind": "Pod", "metadata": {"name": owner.name}, "spec": template["spec"]})


def node_verdict(probe: Pod, node: Node, compares: bool) -> tuple[bool, bool]:
    """Return (a pod should be started on the node, an existing one may stay). ``compares``: ``tolerations_compare``."""
    fits = not probe.node_name or probe.node_name == node.name
    if not fits or not probe.required_node_affinity.matches(node.name, node.labels):
        return False, False
    if first_untolerated(node.taints, probe.tolerations, ("NoExecute", "NoSchedule"), compares) is None:
        return True, True
    return False, first_untolerated(node.taints, probe.tolerations, ("NoExecute",), compares) is None


def target_of(pod: Pod) -> str:
    """Return the pod's node, or the one that its affinity names."""
    if pod.node_name:
        return pod.node_name
    required = (pod.affinity.get("nodeAffinity") or {}).get(REQUIRED) or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name" and len(field.get("values") or ()) == 1:
                return str(field["values"][0])
    return ""


def _visible(item: KubeObject | None) -> tuple[dict[str, str], Manifest] | None:
    """Return the parts of a node that matter to daemon pods."""
    return None if item is None else (item.labels, item.spec)


def _rolling(owner: KubeObject) -> Manifest:
    return (owner.spec.get("updateStrategy") or {}).get("rollingUpdate") or {}


def _max_surge(owner: KubeObject, nodes: int) -> int:
    return scaled(_rolling(owner).get("maxSurge", 0), nodes, round_up=True)


def _max_unavailable(owner: KubeObject, nodes: int) -> int:
    """Return at least one, unless surging is on."""
    number = scaled(_rolling(owner).get("maxUnavailable", 1), nodes, round_up=True)
    return number or (0 if _max_surge(owner, nodes) else 1)
