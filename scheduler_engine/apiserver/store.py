"""The in-memory API server: objects, resourceVersion, watch, bind, delete.

The scheduler and everything around it meet only here. Changes are queued as watch events; each watcher reads them at
its own pace. Source: seed 001 §1 and 002 §1; upstream ``apiserver`` registry semantics as far as the scheduler sees
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.conditions import with_condition
from scheduler_engine.api.objects import KubeObject, Pod, merge, time_us, timestamp
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.apiserver import lifecycle
from scheduler_engine.apiserver.admission import admit, check_deletable
from scheduler_engine.apiserver.change_log import ChangeLog
from scheduler_engine.apiserver.device_admission import admin_status, check_status
from scheduler_engine.apiserver.errors import ApiError, already_exists, conflict, forbidden, not_found
from scheduler_engine.apiserver.pod_index import PodIndex
from scheduler_engine.apiserver.volume_index import CLAIM, VOLUME, VolumeIndex
from scheduler_engine.apiserver.watching import Wants, Watch, Watches, WatchEvent
from scheduler_engine.sharing import Groups, Table
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import AdmissionSwitched, ObjectAdded, ObjectDeleted, ObjectModified, Recorder
from scheduler_engine.versions import DEFAULT_RULES, Rules

DEFAULT_GRACE_SECONDS = 30
LAST_US = time_us("9999-12-31T23:59:59Z") or 0
"""The last moment with a valid date; a grace period may be longer."""
TOPOLOGY_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
"""Labels of a node that a pod gets when it is bound, by the rule ``labels_pods_at_binding``."""
KEPT_METADATA = (
    *("uid", "creationTimestamp", "generation", "resourceVersion"),
    *("deletionTimestamp", "deletionGracePeriodSeconds"),
)
"""Set only by the API server: a manifest's values for them are ignored."""


@dataclass(slots=True)
class ApiServer:
    """Objects by kind and key. ``uid_count`` numbers objects, so that uids are the same in every replay; ``applied``:
    the last applied manifests, as written, by uid; ``by_namespace``: (kind, namespace) → objects by key.
    ``switched_on``: admission plugins that are off by default. ``priority_numbers``: pods may set their priority as a
    number only. ``rules``: those of the version of Kubernetes.
    """

    recorder: Recorder
    objects: Groups[str, str, KubeObject] = field(default_factory=Groups)
    by_namespace: Groups[tuple[str, str], str, KubeObject] = field(default_factory=Groups)
    applied: Table[str, KubeObject] = field(default_factory=Table)
    pod_index: PodIndex = field(default_factory=PodIndex)
    volume_index: VolumeIndex = field(default_factory=VolumeIndex)
    log: ChangeLog = field(default_factory=ChangeLog)
    resource_version: int = 0
    uid_count: int = 0
    watches: Watches = field(default_factory=Watches)
    switched_on: tuple[str, ...] = ()
    priority_numbers: bool = True
    rules: Rules = DEFAULT_RULES

    # --- reading ---

    def list(self, kind: str, namespace: str | None = None) -> Iterator[KubeObject]:
        """Yield objects of a kind in order of creation."""
        objects = self.objects.get(kind, {}) if namespace is None else self.by_namespace.get((kind, namespace), {})
        return iter(list(objects.values()))

    def get(self, kind: str, key: str) -> KubeObject | None:
        return self.objects.get(kind, {}).get(key)

    def changed_since(self, kind: str, position: int) -> tuple[int, Sequence[str] | None]:
        """Return the present position in the log of a kind, and the keys of objects changed since an earlier one.

        None instead of the keys: any object may have changed. Start with position -1.
        """
        return self.log.position(kind), self.log.since(kind, position, self.log.position(kind))

    def as_now(self, kinds: Sequence[str]) -> Mapping[str, Mapping[str, KubeObject]]:
        """Return kind → key → object as they are now: later changes do not show there."""
        return {kind: self.objects.share(kind) for kind in kinds}

    def pod(self, key: str) -> Pod | None:
        item = self.get("Pod", key)
        return item if isinstance(item, Pod) else None

    def pods(self, namespace: str | None = None) -> Sequence[Pod]:
        """Return all pods in order of creation."""
        return [item for item in self.list("Pod", namespace) if isinstance(item, Pod)]

    def pods_on(self, node: str) -> Sequence[Pod]:
        """Return the pods bound to a node, finished or not, in order of creation."""
        return self.pod_index.in_order(self.pod_index.on_node.get(node, {}))

    def unfinished(self, namespace: str) -> Sequence[Pod]:
        """Return the unfinished pods of a namespace, in order of creation."""
        return [*self.pod_index.unfinished.get(namespace, {}).values()]

    def unfinished_on(self, node: str) -> Sequence[Pod]:
        """Return the unfinished pods bound to a node, in order of creation."""
        return self.pod_index.in_order(self.pod_index.unfinished_on.get(node, {}))

    def pods_of(self, namespace: str, *uids: str) -> Sequence[Pod]:
        """Return the pods of controllers, in order of creation. "" stands for the pods without a controller."""
        groups = [group for uid in uids if (group := self.pod_index.of_owner.get((namespace, uid)))]
        if len(groups) == 1:
            return [*groups[0].values()]
        return self.pod_index.in_order({key: pod for group in groups for key, pod in group.items()})

    @property
    def written(self) -> int:
        """Return the number of changes."""
        return self.watches.published

    def watch(self, wants: Wants) -> Watch:
        """Return a new watcher; it gets the changes that it wants from now on."""
        return self.watches.add(wants)

    def next_event(self, watch: Watch) -> WatchEvent | None:
        """Return the next change this watcher has not read."""
        return watch.unread.popleft() if watch.unread else None

    def unwatch(self, watch: Watch) -> None:
        """Remove a watcher: nothing is kept for it any more."""
        self.watches.remove(watch)

    # --- writing ---

    def create(self, manifest: Mapping[str, Any]) -> KubeObject:
        """Store a new object with its defaults. Raises ApiError when it exists or admission refuses it."""
        kind, key = identity(manifest)
        held = self.get(kind, key)
        if held is not None:
            raise already_exists(resource_of(kind), held.name, held.terminating)
        self._check_namespace(kind, key)
        admitted = admit(dict(manifest), self)
        self.uid_count += 1
        # A volume and its claim name each other by uid, even if both come from another cluster. Pods get new ones.
        uid = (admitted.get("metadata") or {}).get("uid") if kind != "Pod" else None
        metadata = {
            **dict.fromkeys(KEPT_METADATA),
            "uid": uid or f"00000000-0000-4000-8000-{self.uid_count:012x}",
            "creationTimestamp": timestamp(self.recorder.now_us),
            "generation": lifecycle.first_generation(kind),
        }
        if kind == "Pod":
            status = {"phase": "Pending", **(admitted.get("status") or {})}
            admitted = merge(
                admitted, {"status": status, **self._topology((admitted.get("spec") or {}).get("nodeName"))}
            )
            self._count(admitted)
        return self._store(kind, key, None, merge(admitted, {"metadata": metadata}))

    def switch(self, plugin: str, on: bool) -> None:
        """Switch an admission plugin on or off for later writes."""
        others = tuple(name for name in self.switched_on if name != plugin)
        self.switched_on = (*others, plugin) if on else others
        self.recorder.add(AdmissionSwitched(plugin, on))

    def _count(self, pod: Mapping[str, Any]) -> None:
        """Count a pod that its owner creates. Raises OverBudget."""
        for reference in (pod.get("metadata") or {}).get("ownerReferences") or ():
            if reference.get("controller"):
                owner = f"{reference['kind']} {pod['metadata'].get('namespace')}/{reference['name']}"
                self.recorder.effort.count_pod(owner, self.recorder.now_us)

    def put(self, manifest: Mapping[str, Any]) -> KubeObject:
        """Store a manifest unchanged, new or replacing an old one: no admission, nothing merged."""
        kind, key = identity(manifest)
        return self._store(kind, key, self.get(kind, key), dict(manifest))

    def _check_namespace(self, kind: str, key: str) -> None:
        namespace, _, name = key.rpartition("/")
        held = self.get("Namespace", namespace) if namespace else None
        if namespace and held is None:
            raise not_found("namespaces", namespace)
        if held is not None and held.terminating:
            reason = f"unable to create new content in namespace {namespace} because it is being terminated"
            raise forbidden(resource_of(kind), name, reason)

    def content_of(self, namespace: str) -> Sequence[KubeObject]:
        """Return all objects in a namespace, kind by kind in order of their first objects."""
        return [item for (_, name), held in self.by_namespace.items() if name == namespace for item in held.values()]

    def remember(self, kind: str, key: str, manifest: Mapping[str, Any]) -> None:
        """Note an applied manifest (as written). Raises ApiError when its object is not stored."""
        self.applied[self.existing(kind, key).uid] = KubeObject(dict(manifest))

    def update(self, manifest: Mapping[str, Any]) -> None:
        """Replace a stored object with a defaulted manifest; do nothing if they are equal."""
        kind, key = identity(manifest)
        old = self.existing(kind, key)
        if manifest != old.manifest:
            self._replace(kind, key, old, dict(manifest))

    def patch(self, kind: str, key: str, changes: Mapping[str, Any]) -> None:
        """Merge ``changes`` into an object; None deletes a field. Do nothing if nothing differs. Raises ApiError.

        These changes come from the engine's own components. Only the status of a claim for devices is checked.
        """
        old = self.existing(kind, key)
        new = merge(old.manifest, changes)
        if new != old.manifest:
            if kind == "ResourceClaim":
                check_status(old.manifest, new, self.rules)
                admin_status(new, self)
            self._replace(kind, key, old, new)

    def _replace(self, kind: str, key: str, old: KubeObject, new: dict[str, Any]) -> None:
        """Store the next form of an object, or remove it if nothing holds it back any more."""
        released = lifecycle.held_back(old.manifest) and not lifecycle.held_back(new)
        if released and old.terminating and not lifecycle.grace_seconds(new):
            self._take_out(kind, key, old)
        else:
            self._store(kind, key, old, lifecycle.with_generation(kind, old.manifest, new))

    def bind(self, pod_key: str, uid: str, node_name: str) -> None:
        """Bind by the binding subresource. Raises ApiError when the pod is gone, another one, on a node or gated."""
        pod = self.existing("Pod", pod_key)
        assert isinstance(pod, Pod)
        refusal = ""
        if pod.uid != uid:
            refusal = f"precondition failed: UID in precondition: {uid}, UID in object meta: {pod.uid}"
        elif pod.terminating:
            refusal = f"pod {pod.name} is being deleted, cannot be assigned to a host"
        elif pod.node_name:
            refusal = f'pod {pod.name} is already assigned to node "{pod.node_name}"'
        elif pod.spec.get("schedulingGates"):
            refusal = f"pod {pod.name} has non-empty .spec.schedulingGates"
        if refusal:
            raise conflict("pods/binding", pod.name, refusal)
        self._store("Pod", pod_key, pod, merge(pod.manifest, self._bound(pod, node_name)))

    def _bound(self, pod: Pod, node_name: str) -> dict[str, Any]:
        """Return what a binding changes in a pod."""
        scheduled = {"type": "PodScheduled", "status": "True"}
        status: dict[str, Any] = {"conditions": with_condition(pod.conditions, scheduled)}
        if self.rules.clears_nomination_at_binding and pod.nominated_node_name:
            status["nominatedNodeName"] = None
        return {**self._topology(node_name), "spec": {"nodeName": node_name}, "status": status}

    def _topology(self, node_name: str | None) -> dict[str, Any]:
        """Return the labels that a pod gets from its node, by the rule ``labels_pods_at_binding``."""
        node = self.get("Node", node_name) if node_name and self.rules.labels_pods_at_binding else None
        labels = {key: node.labels[key] for key in TOPOLOGY_LABELS if key in node.labels} if node is not None else {}
        return {"metadata": {"labels": labels}} if labels else {}

    def delete(self, kind: str, key: str, policy: str = lifecycle.BACKGROUND, grace_seconds: int | None = None) -> None:
        """Delete an object. A pod on a node gets its grace period first: the kubelet removes it. ``policy``: what
        happens to objects it owns (``lifecycle.POLICIES``). ``grace_seconds``: None = those of the pod; fewer than
        before shorten a deletion that has begun. Raises ApiError.
        """
        old = self.existing(kind, key)
        check_deletable(kind, old.name)
        finalizers = lifecycle.finalizers_for(old.manifest, policy)
        graceful = isinstance(old, Pod) and bool(old.node_name) and not old.finished
        own = old.spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_SECONDS)
        seconds = (own if grace_seconds is None else grace_seconds) if graceful else 0
        left = lifecycle.grace_seconds(old.manifest)
        if old.terminating and left and (grace_seconds is None or seconds >= left):
            return
        if kind == "Namespace" and self.content_of(old.name):
            if not old.terminating:
                self.patch(kind, key, {"status": {"phase": "Terminating"}})
                self._mark(self.existing(kind, key), 0, finalizers)
            return
        if seconds > 0 or lifecycle.hold_back(finalizers):
            self._mark(old, seconds, finalizers)
        else:
            self._take_out(kind, key, old)

    def remove(self, kind: str, key: str) -> None:
        """Delete an object without a grace period. Raises ApiError when it does not exist."""
        old = self.existing(kind, key)
        check_deletable(kind, old.name)
        if lifecycle.held_back(old.manifest):
            self._mark(old, 0, lifecycle.finalizers(old.manifest))
        else:
            self._take_out(kind, key, old)

    def _mark(self, old: KubeObject, seconds: int, finalizers: Sequence[str]) -> None:
        """Mark an object that is being deleted but still exists."""
        deadline = timestamp(min(self.recorder.now_us + seconds * SECOND_US, LAST_US))
        if old.terminating and not seconds:
            deadline = min(deadline, old.metadata["deletionTimestamp"])
        metadata = {"deletionTimestamp": deadline, "deletionGracePeriodSeconds": seconds}
        new = merge(old.manifest, {"metadata": {**metadata, "finalizers": [*finalizers] or None}})
        if new != old.manifest:
            self._store(old.kind, old.key, old, lifecycle.with_generation(old.kind, old.manifest, new))

    def _take_out(self, kind: str, key: str, old: KubeObject) -> None:
        self.resource_version += 1
        del self.objects.change(kind)[key]
        self.log.note(kind, key, len(self.objects[kind]))
        del self.by_namespace.change((kind, old.namespace))[key]
        self.applied.pop(old.uid, None)
        self.volume_index.update(kind, old, None)
        if isinstance(old, Pod):
            self.pod_index.update(old, None)
        self.recorder.add(ObjectDeleted(kind, key))
        self.watches.publish(WatchEvent(kind, old, None))

    def delete_pod(self, pod_key: str, reason: str, message: str) -> None:
        """Delete a pod gracefully, with the condition DisruptionTarget. Raises ApiError."""
        pod = self.existing("Pod", pod_key)
        assert isinstance(pod, Pod)
        condition = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}
        self.patch("Pod", pod_key, {"status": {"conditions": with_condition(pod.conditions, condition)}})
        self.delete("Pod", pod_key)

    def existing(self, kind: str, key: str) -> KubeObject:
        """Return the object. Raises ApiError when it does not exist."""
        item = self.get(kind, key)
        if item is None:
            raise not_found(resource_of(kind), key.rpartition("/")[2])
        return item

    def _store(self, kind: str, key: str, old: KubeObject | None, manifest: dict[str, Any]) -> KubeObject:
        self.resource_version += 1
        metadata = {**manifest["metadata"], "resourceVersion": str(self.resource_version)}
        manifest = {**manifest, "metadata": metadata}
        new = KINDS[kind].view(manifest)
        self.objects.change(kind)[key] = new
        self.log.note(kind, key, len(self.objects[kind]))
        self.by_namespace.change((kind, new.namespace))[key] = new
        self.volume_index.update(kind, old, new)
        if isinstance(new, Pod):
            before = old if isinstance(old, Pod) else None
            if before is not None:
                new.take_over(before)
            self.pod_index.update(before, new)
        self.recorder.add(ObjectAdded(kind, key, manifest) if old is None else ObjectModified(kind, key, manifest))
        self.watches.publish(WatchEvent(kind, old, new))
        return new

    # --- all or nothing ---

    def checkpoint(self) -> tuple[Any, ...]:
        """Return the data with which ``restore`` undoes everything since."""
        logs = (self.watches.checkpoint(), len(self.recorder.entries))
        objects = self.objects.copy(), self.by_namespace.copy(), self.applied.copy()
        return *objects, self.resource_version, self.uid_count, *logs

    def restore(self, checkpoint: tuple[Any, ...]) -> None:
        """Undo every write since ``checkpoint``; only valid while no watcher has read further."""
        self.objects, self.by_namespace, self.applied, self.resource_version, self.uid_count, *logs = checkpoint
        self.pod_index, self.volume_index = PodIndex(), VolumeIndex()
        for pod in self.pods():
            self.pod_index.update(None, pod)
        for item in (*self.list(VOLUME), *self.list(CLAIM)):
            self.volume_index.update(item.kind, None, item)
        watches, entries = logs
        self.watches.restore(watches)
        del self.recorder.entries[entries:]


def identity(manifest: Mapping[str, Any]) -> tuple[str, str]:
    """Return (kind, key) of a defaulted manifest."""
    metadata = manifest.get("metadata") or {}
    namespace, name = metadata.get("namespace"), metadata.get("name", "")
    return str(manifest.get("kind", "")), f"{namespace}/{name}" if namespace else str(name)


def resource_of(kind: str) -> str:
    """Return Kubernetes' plural resource name with its group, as error texts use it."""
    row = KINDS.get(kind)
    if row is None:
        raise ApiError(404, "NotFound", f'no matches for kind "{kind}"')
    group = row.api_versions[0].rpartition("/")[0]
    return f"{row.plural}.{group}" if group else row.plural
