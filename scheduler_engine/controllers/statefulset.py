"""The StatefulSet controller: pods with their own numbers and claims, created and ended in order.

Source: upstream ``pkg/controller/statefulset`` (stateful_set_control.go, stateful_set_utils.go). The controller keeps
the templates of earlier revisions, which a cluster keeps in ControllerRevisions. Not here: maxUnavailable
(alpha) and ``persistentVolumeClaimRetentionPolicy``: claims stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from scheduler_engine.api.objects import KubeObject, Pod, merge
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.pod_index import REVISION_LABEL
from scheduler_engine.apiserver.watching import Wants
from scheduler_engine.controllers.naming import template_hash
from scheduler_engine.controllers.places import PlacesController
from scheduler_engine.controllers.workload import Manifest, replicas_of, wants_of

CLAIM = "PersistentVolumeClaim"
POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"


@dataclass(slots=True)
class StatefulSetController(PlacesController):
    """``templates``: key of a set → name of a revision → its pod template.

    A ``complete`` set in parallel order may lack its last pods, if they were refused.
    """

    KIND: ClassVar[str] = "StatefulSet"
    WANTS: ClassVar[Wants] = wants_of("StatefulSet")
    templates: dict[str, dict[str, Manifest]] = field(default_factory=dict)

    def may_adopt(self, owner: KubeObject, item: KubeObject) -> bool:
        return not item.terminating and ordinal_of(owner, item) is not None

    def slot(self, pod: Pod) -> str:
        return pod.name

    def replaces_later(self, owner: KubeObject, pod: Pod) -> bool:
        return ordinal_of(owner, pod) in _wanted(owner)

    def sync(self, owner: KubeObject) -> None:
        revision = f"{owner.name}-{template_hash(owner.spec['template'])}"
        self.templates.setdefault(owner.key, {})[revision] = owner.spec["template"]
        wanted = _wanted(owner)
        if owner.key in self.complete and self._stays(owner, wanted, revision):
            self._status(owner, wanted, revision)
            return
        pods, written = dict[int, Pod](), self.api.written
        for pod in self.claimed_pods(owner):
            number = ordinal_of(owner, pod)
            if number is not None:
                pods[number] = pod
        if self._fill(owner, wanted, pods, revision) and self._empty(owner, wanted, pods):
            self._update(owner, wanted, pods, revision)
        self.watch_availability(owner, pods.values())
        first = wanted if _in_order(owner) else wanted[: len(pods)]
        unchanged = self.api.written == written and self.all_active(owner, len(pods))
        if unchanged and len(first) == len(pods) and set(first) == set(pods):
            self.complete[owner.key] = None
        self._status(owner, wanted, revision)

    def _stays(self, owner: KubeObject, wanted: range, revision: str) -> bool:
        """Return True if a complete set has nothing to do: its next pod, if one is missing, is refused again."""
        if not self.all_new(owner, revision):
            return False
        here = self.count_active(owner)
        return here == len(wanted) or not self._create(owner, wanted[here], revision)

    def watch_end(self, owner: KubeObject) -> None:
        self._status(owner, _wanted(owner), owner.status.get("updateRevision", ""))

    # --- the three steps; each returns True if the next one may follow ---

    def _fill(self, owner: KubeObject, wanted: Iterable[int], pods: dict[int, Pod], revision: str) -> bool:
        """Create missing pods, the lowest number first. In order: only while all before it are available."""
        in_order, going_on = _in_order(owner), True
        for number in wanted:
            pod = pods.get(number)
            if pod is not None and pod.finished and not pod.terminating:
                going_on = False
                self._replace_failed(owner, pod)
            elif pod is None:
                going_on = False
                if not self._create(owner, number, revision):
                    return False
            elif not self.available(owner, pod):
                going_on = going_on and not in_order
            if in_order and not going_on:
                return False
        return going_on

    def _replace_failed(self, owner: KubeObject, pod: Pod) -> None:
        if self.may_replace(owner, pod.name):
            text = f"StatefulSet {owner.key} is recreating failed Pod {pod.name}"
            self.tell(owner, "RecreatingFailedPod", text, "Warning")
            self.api.delete("Pod", pod.key)

    def _empty(self, owner: KubeObject, wanted: range, pods: dict[int, Pod]) -> bool:
        """Delete surplus pods, the highest number first. In order: only after the one before is gone."""
        too_many = sorted((number for number in pods if number not in wanted), reverse=True)
        for number in too_many:
            if not pods[number].terminating:
                self._delete(owner, pods[number])
            if _in_order(owner):
                return False
        return not too_many

    def _update(self, owner: KubeObject, wanted: range, pods: dict[int, Pod], revision: str) -> None:
        """Delete the highest pod of an older revision, if all above it are available."""
        strategy = owner.spec.get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete":
            return
        lowest = _partition(owner)
        for number in reversed(wanted):
            if number < lowest:
                return
            pod = pods[number]
            if pod.labels.get(REVISION_LABEL) != revision and not pod.terminating:
                self._delete(owner, pod)
                return
            if not self.available(owner, pod):
                return

    # --- pods and claims ---

    def _create(self, owner: KubeObject, number: int, newest: str) -> bool:
        """Create a pod; below the partition, in its old revision. Return False if refused: so would be the next."""
        if not self.may_make(owner, f"{owner.name}-{number}"):
            return True
        templates, current = self.templates[owner.key], owner.status.get("currentRevision", newest)
        revision = current if number < _partition(owner) and current in templates else newest
        name = f"{owner.name}-{number}"
        labels = {POD_NAME_LABEL: name, POD_INDEX_LABEL: str(number), REVISION_LABEL: revision}
        template, changes = templates[revision], {"hostname": name}
        if owner.spec.get("serviceName"):
            changes["subdomain"] = owner.spec["serviceName"]
        manifest = self.pod_manifest(owner, template, name, metadata={"labels": labels}, spec=changes)
        try:
            for claim in owner.spec.get("volumeClaimTemplates") or ():
                manifest = self._with_claim(owner, manifest, claim)
            self.create(manifest)
        except ApiError as problem:
            text = f"create Pod {name} in StatefulSet {owner.name} failed error: {problem.message}"
            self.fail(owner, "FailedCreate", text)
            return False
        self.last_messages.pop(owner.key, None)
        self.tell(owner, "SuccessfulCreate", f"create Pod {name} in StatefulSet {owner.name} successful")
        return True

    def _with_claim(self, owner: KubeObject, manifest: Manifest, template: Manifest) -> Manifest:
        """Return the pod with its claim's volume, creating the claim if it does not exist. Raises ApiError."""
        pod, volume = manifest["metadata"]["name"], template["metadata"]["name"]
        name = f"{volume}-{pod}"
        if self.api.get(CLAIM, f"{owner.namespace}/{name}") is None:
            labels = (owner.spec.get("selector") or {}).get("matchLabels") or {}
            metadata = {"name": name, "namespace": owner.namespace, "labels": labels}
            self.create(merge({"apiVersion": "v1", "kind": CLAIM, **template}, {"metadata": metadata, "status": None}))
            text = f"create Claim {name} Pod {pod} in StatefulSet {owner.name} success"
            self.tell(owner, "SuccessfulCreate", text)
        others = [item for item in manifest["spec"].get("volumes") or () if item["name"] != volume]
        volumes = [*others, {"name": volume, "persistentVolumeClaim": {"claimName": name, "readOnly": False}}]
        return merge(manifest, {"spec": {"volumes": volumes}})

    def _delete(self, owner: KubeObject, pod: Pod) -> None:
        self.api.delete("Pod", pod.key)
        self.tell(owner, "SuccessfulDelete", f"delete Pod {pod.name} in StatefulSet {owner.name} successful")

    def _status(self, owner: KubeObject, wanted: range, revision: str) -> None:
        standings = self.standings(owner).items()
        current = owner.status.get("currentRevision", revision)
        here, ready = self.count_active(owner), self.count_ready(owner)
        revisions = [(state.revision, number) for state, number in standings if state.active]
        updated = sum(number for name, number in revisions if name == revision)
        if here == len(wanted) == ready == updated:
            current = revision
        fields: dict[str, Any] = {
            "readyReplicas": ready,
            "currentReplicas": sum(number for name, number in revisions if name == current),
            "updatedReplicas": updated,
        }
        self.set_status(
            owner,
            **{name: number or None for name, number in fields.items()},
            replicas=sum(number for state, number in standings if not state.finished),
            availableReplicas=self.count_available(owner),
            currentRevision=current,
            updateRevision=revision,
        )
        held = self.templates.get(owner.key, {})
        self.templates[owner.key] = {name: held[name] for name in (current, revision) if name in held}


def ordinal_of(owner: KubeObject, pod: KubeObject) -> int | None:
    """Return the number in the pod's name; None if the name is not of this set."""
    parent, _, number = pod.name.rpartition("-")
    return int(number) if parent == owner.name and number.isascii() and number.isdigit() else None


def _wanted(owner: KubeObject) -> range:
    start = (owner.spec.get("ordinals") or {}).get("start", 0)
    return range(start, start + replicas_of(owner))


def _in_order(owner: KubeObject) -> bool:
    return bool(owner.spec.get("podManagementPolicy", "OrderedReady") != "Parallel")


def _partition(owner: KubeObject) -> int:
    """Return where the partition ends: pods with lower numbers are not updated. It counts from the first number."""
    rolling = (owner.spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
    return _wanted(owner).start + int(rolling.get("partition") or 0)
