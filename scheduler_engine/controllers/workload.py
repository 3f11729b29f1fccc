"""The base of workload controllers: owned objects, pods from a template, delayed checks.

Where upstream retries after a while, this retries at each change. Source: upstream
``pkg/controller/controller_utils.go`` and ``controller_ref_manager.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.labels import Selector, selector_from
from scheduler_engine.api.objects import KubeObject, Pod, merge
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.apiserver.errors import ApiError, forbidden
from scheduler_engine.apiserver.pod_index import Standing
from scheduler_engine.apiserver.watching import Wanted, Wants, WatchEvent, all_of, every_change, is_deletion
from scheduler_engine.controllers.keyed import KeyedController
from scheduler_engine.controllers.naming import suffix
from scheduler_engine.controllers.pod_state import available_at_us, is_active, is_available, same_for_owner
from scheduler_engine.sharing import Table
from scheduler_engine.timeline import SECOND_US

Manifest = dict[str, Any]

MAX_PODS = 5_000
"""A sandbox holds at most this many pods; its controllers get no more."""

LONGEST_BASE, MAX_BACKOFF_US = 58, 15 * 60 * SECOND_US
ROUND_US = SECOND_US
"""How long an owner delays the next pod if one ended at the very moment it was made. In a cluster the kubelet, the
watch and the controller take about as long; here none of them takes time.
"""
ENDS_AT_ONCE = "Pods end within a second of being created: the next ones wait until it has passed"
ADMISSION_READS = ("PriorityClass", "RuntimeClass", "Namespace")
"""Kinds that may admit a pod which was refused before."""


def scaled(value: int | str, total: int, round_up: bool) -> int:
    """Return a number, or a percentage of ``total``."""
    if isinstance(value, int):
        return value
    part = int(value.rstrip("%")) * total
    return -(-part // 100) if round_up else part // 100


def replicas_of(owner: KubeObject) -> int:
    replicas = owner.spec.get("replicas")
    return 1 if replicas is None else int(replicas)


def template_metadata(template: Mapping[str, Any], fields: Sequence[str] = ("labels", "annotations")) -> Manifest:
    """Return the metadata that an object takes over from its template."""
    metadata = template.get("metadata") or {}
    return {name: metadata[name] for name in fields if metadata.get(name)}


def owner_reference(owner: KubeObject) -> Manifest:
    return {
        "apiVersion": owner.manifest["apiVersion"],
        "kind": owner.kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def concerns_owner(event: WatchEvent) -> bool:
    """Return True unless everything that an owner checks of a pod is as before."""
    old, new = event.old, event.new
    return not (isinstance(old, Pod) and isinstance(new, Pod) and same_for_owner(old, new))


def wants_of(kind: str, owned: str = "Pod", **more: Wanted) -> Wants:
    """Return the changes that a controller of ``kind`` wants. When anything goes, a refused pod may be admitted."""
    deletions = dict.fromkeys(KINDS, is_deletion)
    return {**deletions, **all_of(*ADMISSION_READS), owned: concerns_owner, kind: every_change, **more}


@dataclass(slots=True)
class WorkloadController(KeyedController):
    """``name_counts``: key of an owner → names given to its objects so far; ``alarms``: key of an owner → time of its
    next check; ``backoffs``: owner and place → (how long the next failed pod there waits, when the last was replaced).
    Times in simulated microseconds. ``last_messages`` holds the last failures.

    ``during``: the present command; ``fresh``: uids of the pods made in it → when; ``hasty``: owners and places whose
    pods have ended within a second → when the next ones may be made.
    """

    OWNED: ClassVar[tuple[str, ...]] = ("Pod",)
    OBSERVES: ClassVar[bool] = True
    """The kind's status has an observedGeneration."""

    name_counts: Table[str, int] = field(default_factory=Table)
    alarms: Table[str, int] = field(default_factory=Table)
    backoffs: Table[str, tuple[int, int]] = field(default_factory=Table)
    during: int = 0
    fresh: Table[str, int] = field(default_factory=Table)
    hasty: Table[str, int] = field(default_factory=Table)

    def see_to(self, owner: KubeObject) -> None:
        if owner.terminating:
            self.watch_end(owner)
        else:
            self.sync(owner)

    def sync(self, owner: KubeObject) -> None:
        """Reconcile one owner."""
        raise NotImplementedError

    def watch_end(self, owner: KubeObject) -> None:
        """Keep the status of an owner that waits for its objects to go; create and delete nothing more."""

    def notice(self, event: WatchEvent) -> None:
        """Note the owners that a change affects."""
        self._time_round(event)
        for item in (event.old, event.new):
            if item is None:
                continue
            if item.kind == self.KIND:
                self.enqueue(item.key)
            elif item.kind in self.OWNED:
                self._notice_owned(item)
        if event.kind in ADMISSION_READS or event.new is None:
            self.try_again()

    def try_again(self) -> None:
        """Check all owners that were refused something: it may be admitted now."""
        for key in self.last_messages:
            self.enqueue(key)

    def _notice_owned(self, item: KubeObject) -> None:
        reference = item.controller_ref
        if reference is None:
            for owner in self.api.list(self.KIND, item.namespace):
                if self.selector(owner).matches(item.labels):
                    self.enqueue(owner.key)
        elif reference["kind"] == self.KIND:
            self.enqueue(f"{item.namespace}/{reference['name']}")

    def enqueue_at(self, key: str, at_us: int, housekeeping: bool = False) -> None:
        """Check an owner again at a later time."""
        if self.timeline.now_us < at_us < self.alarms.get(key, at_us + 1):
            self.alarms[key] = at_us
            self.timeline.after(at_us - self.timeline.now_us, self.ring, key, at_us, housekeeping=housekeeping)

    def ring(self, key: str, at_us: int) -> None:
        if self.alarms.get(key) == at_us:
            del self.alarms[key]
        self.enqueue(key)

    def replaces_later(self, owner: KubeObject, pod: Pod) -> bool:
        """Return True if a pod that is being deleted must be gone before the owner makes another one in its place."""
        return False

    # --- owned objects ---

    def selector(self, owner: KubeObject) -> Selector:
        return selector_from(owner.spec.get("selector"))

    def may_adopt(self, owner: KubeObject, item: KubeObject) -> bool:
        return not item.terminating

    def claim(self, owner: KubeObject, kind: str, among: Iterable[KubeObject] | None = None) -> list[KubeObject]:
        """Return the objects that an owner controls, after claiming unowned ones that its selector matches and
        releasing those that it no longer matches. ``among``: check only these.
        """
        selector, mine = self.selector(owner), []
        if among is None:
            of_pods = kind == "Pod"
            among = (
                self.api.pods_of(owner.namespace, owner.uid, "") if of_pods else self.api.list(kind, owner.namespace)
            )
        for item in among:
            reference = item.controller_ref
            if reference is not None and reference["uid"] != owner.uid:
                continue
            matches = selector.matches(item.labels)
            if reference is None and matches and self.may_adopt(owner, item):
                held = item.metadata.get("ownerReferences") or []
                mine.append(self._set_owners(item, [*held, owner_reference(owner)]))
            elif reference is not None and matches:
                mine.append(item)
            elif reference is not None and not item.terminating:
                self._set_owners(item, [other for other in item.metadata["ownerReferences"] if other != reference])
        return mine

    def _set_owners(self, item: KubeObject, references: list[Manifest]) -> KubeObject:
        self.api.patch(item.kind, item.key, {"metadata": {"ownerReferences": references or None}})
        changed = self.api.get(item.kind, item.key)
        assert changed is not None
        return changed

    def claimed_pods(self, owner: KubeObject) -> list[Pod]:
        return [item for item in self.claim(owner, "Pod") if isinstance(item, Pod)]

    def owned(self, owner: KubeObject, kind: str) -> list[KubeObject]:
        """Return the objects that an owner controls, without claiming any."""
        pairs = ((item, item.controller_ref) for item in self.api.list(kind, owner.namespace))
        return [item for item, reference in pairs if reference is not None and reference["uid"] == owner.uid]

    def pods_of(self, owner: KubeObject) -> list[Pod]:
        """Return its pods, without claiming any."""
        return [*self.api.pods_of(owner.namespace, owner.uid)]

    def active_of(self, owner: KubeObject) -> Iterator[Pod]:
        """Yield its active pods, without claiming any."""
        yield from filter(is_active, self.api.pods_of(owner.namespace, owner.uid))

    def standings(self, owner: KubeObject) -> Mapping[Standing, int]:
        """Return how many of its pods are in each state."""
        return self.api.pod_index.standings.get((owner.namespace, owner.uid), {})

    def count_active(self, owner: KubeObject) -> int:
        return sum(number for standing, number in self.standings(owner).items() if standing.active)

    def count_ready(self, owner: KubeObject) -> int:
        """Count the active pods that are ready."""
        return sum(number for standing, number in self.standings(owner).items() if standing.active and standing.ready)

    def count_available(self, owner: KubeObject) -> int:
        """Count the active pods that are ready for ``minReadySeconds``."""
        if not owner.spec.get("minReadySeconds"):
            return self.count_ready(owner)
        return sum(self.available(owner, pod) for pod in self.active_of(owner))

    def may_replace(self, owner: KubeObject, slot: str) -> bool:
        """Return True if the failed pod in ``slot`` may be replaced now; else check the owner again when it may.

        The first one at once, then at least 1 s apart, doubling up to 15 min.
        """
        now_us, name = self.timeline.now_us, f"{owner.key}/{slot}"
        delay_us, last_us = self.backoffs.get(name, (0, now_us))
        if now_us - last_us >= 2 * MAX_BACKOFF_US:
            delay_us = 0
        if now_us < last_us + delay_us:
            self.enqueue_at(owner.key, last_us + delay_us, housekeeping=True)
            return False
        self.backoffs[name] = (min(max(2 * delay_us, SECOND_US), MAX_BACKOFF_US), now_us)
        return True

    def slot(self, pod: Pod) -> str:
        """Return the pod's own place among those of its owner, if it has one."""
        return ""

    def _time_round(self, event: WatchEvent) -> None:
        """Note new pods, and those that end within a second during the same command."""
        pod = event.new or event.old
        reference = pod.controller_ref if isinstance(pod, Pod) else None
        if not isinstance(pod, Pod) or reference is None or reference["kind"] != self.KIND:
            return
        if self.during != self.api.recorder.command:
            self.during, self.fresh, self.hasty = self.api.recorder.command, Table(), Table()
        if event.old is None:
            self.fresh[pod.uid] = self.timeline.now_us
        elif pod.uid in self.fresh and (event.new is None or pod.terminating or pod.finished):
            until_us = self.fresh.pop(pod.uid) + ROUND_US
            if until_us > self.timeline.now_us:
                self.hasty[f"{pod.namespace}/{reference['name']}/{self.slot(pod)}"] = until_us

    def may_make(self, owner: KubeObject, slot: str = "") -> bool:
        """Return True if a pod may be made in ``slot`` now; else check the owner again when it may.

        A round of creating and ending takes time, so an endless one advances second by second.
        """
        until_us = self.hasty.get(f"{owner.key}/{slot}", 0)
        if self.during != self.api.recorder.command or until_us <= self.timeline.now_us:
            return True
        self.fail(owner, "BackOff", ENDS_AT_ONCE)
        self.enqueue_at(owner.key, until_us, housekeeping=True)
        return False

    def available(self, owner: KubeObject, pod: Pod) -> bool:
        """Return True if it is ready for ``minReadySeconds``, and not terminating."""
        seconds = owner.spec.get("minReadySeconds") or 0
        return not pod.terminating and is_available(pod, seconds, self.timeline.now_us)

    def watch_availability(self, owner: KubeObject, pods: Iterable[Pod]) -> None:
        """Check again when the next ready pod has been ready for ``minReadySeconds``; without it, read no pod."""
        seconds = owner.spec.get("minReadySeconds") or 0
        if not seconds:
            return
        times = [available_at_us(pod, seconds) for pod in pods]
        coming = [at_us for at_us in times if at_us is not None and at_us > self.timeline.now_us]
        if coming:
            self.enqueue_at(owner.key, min(coming))

    # --- writing ---

    def pod_manifest(
        self, owner: KubeObject, template: Mapping[str, Any], name: str = "", base: str = "", **changes: Any
    ) -> Manifest:
        """Build a pod from a template, merged with ``changes`` (``metadata``, ``spec``).

        Without a ``name`` it gets ``base`` (the owner's name) and five more characters, as from ``generateName``.
        """
        metadata = template_metadata(template, ("labels", "annotations", "finalizers"))
        if not name:
            metadata["generateName"] = f"{base or owner.name}-"
            name = self._free_name(owner, metadata["generateName"][:LONGEST_BASE])
        metadata |= {"name": name, "namespace": owner.namespace, "ownerReferences": [owner_reference(owner)]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}
        return merge(pod, changes)

    def _free_name(self, owner: KubeObject, base: str) -> str:
        """Return a name that no pod of the owner has."""
        while True:
            number = self.name_counts[owner.key] = self.name_counts.get(owner.key, 0) + 1
            name = base + suffix(f"{owner.kind}/{owner.key}/{number}")
            if self.api.get("Pod", f"{owner.namespace}/{name}") is None:
                return name

    def create(self, manifest: Mapping[str, Any]) -> None:
        """Create an object with its defaults. Raises ApiError."""
        pods = len(self.api.objects.get("Pod", ()))
        if manifest["kind"] == "Pod" and pods >= MAX_PODS:
            quota = f"exceeded quota: sandbox, requested: pods=1, used: pods={pods}, limited: pods={MAX_PODS}"
            raise forbidden("pods", manifest["metadata"]["name"], quota)
        self.api.create(set_defaults(manifest))

    def create_pod(self, owner: KubeObject, manifest: Mapping[str, Any]) -> str:
        """Create a pod and record it; if it is refused, return the reason."""
        metadata = manifest["metadata"]
        try:
            self.create(manifest)
        except ApiError as problem:
            reason = problem.message.replace(metadata["name"], metadata.get("generateName", metadata["name"]))
            self.fail(owner, "FailedCreate", f"Error creating: {reason}")
            return reason
        self.last_messages.pop(owner.key, None)
        self.tell(owner, "SuccessfulCreate", f"Created pod: {metadata['name']}")
        return ""

    def delete_pod(self, owner: KubeObject, pod: Pod) -> None:
        self.api.delete("Pod", pod.key)
        self.tell(owner, "SuccessfulDelete", f"Deleted pod: {pod.name}")

    def set_status(self, owner: KubeObject, **fields: Any) -> None:
        """Write the status; None removes a field."""
        observed = {"observedGeneration": owner.metadata.get("generation")} if self.OBSERVES else {}
        self.api.patch(owner.kind, owner.key, {"status": {**observed, **fields}})

    def fail(self, owner: KubeObject, reason: str, message: str) -> None:
        self.tell_once(owner, reason, message, "Warning")
