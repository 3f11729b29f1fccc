"""The Deployment controller: one replica set per pod template, and the change from the old ones to the new one.

Source: seed 002 §4 (pod-template-hash, rolling updates and spreading); upstream ``pkg/controller/deployment``
(sync.go, rolling.go, recreate.go, progress.go) and its ``util``. Not here: hash collisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.watching import Wants, WatchEvent
from scheduler_engine.controllers.deployment_revisions import (
    DESIRED_REPLICAS,
    HASH_LABEL,
    MAX_REPLICAS,
    REVISION,
    highest_revision,
    inherited,
    newest,
    renumbered,
    revision_of,
)
from scheduler_engine.controllers.deployment_status import (
    deployment_status,
    progress_deadline_us,
    terminating_replicas,
    with_new_set,
)
from scheduler_engine.controllers.naming import template_hash
from scheduler_engine.controllers.workload import (
    Manifest,
    WorkloadController,
    owner_reference,
    replicas_of,
    scaled,
    wants_of,
)

REPLICA_SET = "ReplicaSet"


@dataclass(slots=True)
class DeploymentController(WorkloadController):
    KIND: ClassVar[str] = "Deployment"
    WANTS: ClassVar[Wants] = wants_of("Deployment", owned=REPLICA_SET)
    OWNED: ClassVar[tuple[str, ...]] = (REPLICA_SET,)

    def notice(self, event: WatchEvent) -> None:
        """Note also the end of a pod: Recreate waits for it."""
        WorkloadController.notice(self, event)
        if event.kind == "Pod" and event.new is None and event.old is not None and event.old.controller_ref:
            key = f"{event.old.namespace}/{event.old.controller_ref['name']}"
            owner = self.api.get(REPLICA_SET, key)
            if owner is not None:
                self._notice_owned(owner)

    def sync(self, owner: KubeObject) -> None:
        sets = self.claim(owner, REPLICA_SET)
        new = newest(owner, sets)
        if new is not None:
            self._keep_up(owner, new, [item for item in sets if item.uid != new.uid])
        if owner.spec.get("paused") or _is_scaling_event(owner, sets):
            self._scale(owner, sets, new)
        else:
            strategy = (owner.spec.get("strategy") or {}).get("type")
            (self._recreate if strategy == "Recreate" else self._roll)(owner, sets, new)
        self._finish(owner.key)

    def watch_end(self, owner: KubeObject) -> None:
        self._write_status(owner, self.owned(owner, REPLICA_SET))

    # --- the two strategies ---

    def _roll(self, owner: KubeObject, sets: list[KubeObject], new: KubeObject | None) -> None:
        """Take one step: scale the new set up within maxSurge, else the old ones down within maxUnavailable."""
        old = [item for item in sets if new is None or item.uid != new.uid]
        if new is None:
            new = self._create_set(owner, old, _new_replicas(owner, sets, 0))
        elif self._scale_set(owner, new, _new_replicas(owner, sets, replicas_of(new))):
            return
        if new is not None:
            self._scale_old_down(owner, old, new)

    def _scale_old_down(self, owner: KubeObject, old: list[KubeObject], new: KubeObject) -> None:
        """Remove unavailable pods first, then as many as may be missing."""
        old = [item for item in old if replicas_of(item)]
        least = replicas_of(owner) - _max_unavailable(owner)
        new_unavailable = replicas_of(new) - _available(new)
        most_down = sum(map(replicas_of, [*old, new])) - least - new_unavailable
        if not old or most_down <= 0:
            return
        sizes = {item.key: replicas_of(item) for item in old}
        left = most_down
        for item in old:
            down = min(left, max(sizes[item.key] - _available(item), 0))
            sizes[item.key] -= down
            left -= down
        left = sum(map(_available, [*old, new])) - least
        for item in old:
            down = min(max(left, 0), sizes[item.key])
            sizes[item.key] -= down
            left -= down
        for item in old:
            self._scale_set(owner, item, sizes[item.key])

    def _recreate(self, owner: KubeObject, sets: list[KubeObject], new: KubeObject | None) -> None:
        """Create the new set after the last pod of the old ones is gone."""
        old = [item for item in sets if new is None or item.uid != new.uid]
        running = [item for item in old if replicas_of(item)]
        for item in running:
            self._scale_set(owner, item, 0)
        if running:
            return
        if any(not standing.finished for item in old for standing in self.standings(item)):
            return
        if new is None:
            self._create_set(owner, old, replicas_of(owner))
        else:
            self._scale_set(owner, new, replicas_of(owner))

    # --- scaling without a rollout ---

    def _scale(self, owner: KubeObject, sets: list[KubeObject], new: KubeObject | None) -> None:
        """Scale to a new size, or while paused: in the middle of a rollout every set gets its share."""
        active = [item for item in sets if replicas_of(item)]
        only = active[0] if len(active) == 1 else (new or (sets[-1] if sets else None)) if not active else None
        if only is not None:
            self._scale_set(owner, only, replicas_of(owner))
        elif new is not None and _is_saturated(owner, new):
            for item in active:
                self._scale_set(owner, item, replicas_of(owner) if item.uid == new.uid else 0)
        elif active:
            self._scale_by_shares(owner, active)

    def _scale_by_shares(self, owner: KubeObject, active: list[KubeObject]) -> None:
        size = sum(map(replicas_of, active))
        missing = (replicas_of(owner) + _max_surge(owner) if replicas_of(owner) else 0) - size
        by_age = list(reversed(active)) if missing > 0 else active
        ordered = sorted(by_age, key=replicas_of, reverse=True)
        sizes, added = [], 0
        for item in ordered:
            share = _share(owner, item, missing, missing - added)
            sizes.append(replicas_of(item) + share)
            added += share
        sizes[0] = max(sizes[0] + missing - added, 0)
        for item, number in zip(ordered, sizes, strict=True):
            self._scale_set(owner, item, number)

    # --- replica sets ---

    def _create_set(self, owner: KubeObject, old: Sequence[KubeObject], replicas: int) -> KubeObject | None:
        template = owner.spec["template"]
        value = template_hash(template)
        metadata = template.get("metadata") or {}
        labels = {**(metadata.get("labels") or {}), HASH_LABEL: value}
        selector = owner.spec["selector"]
        revision = str(highest_revision(old) + 1)
        name = f"{owner.name}-{value}"
        manifest = {
            "apiVersion": "apps/v1",
            "kind": REPLICA_SET,
            "metadata": {
                "name": name,
                "namespace": owner.namespace,
                "labels": labels,
                "annotations": {**inherited(owner), **_sizes(owner), REVISION: revision},
                "ownerReferences": [owner_reference(owner)],
            },
            "spec": {
                "replicas": replicas,
                "minReadySeconds": owner.spec.get("minReadySeconds") or 0,
                "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), HASH_LABEL: value}},
                "template": {**template, "metadata": {**metadata, "labels": labels}},
            },
        }
        try:
            self.create(manifest)
        except ApiError as problem:
            text = f'Failed to create new replica set "{name}": {problem.message}'
            self.fail(owner, "ReplicaSetCreateError", text)
            return None
        self.last_messages.pop(owner.key, None)
        self._set_revision(owner, revision)
        self.set_status(owner, conditions=with_new_set(owner, name, self.timeline.now_us))
        if replicas:
            self.tell(owner, "ScalingReplicaSet", f"Scaled up replica set {name} from 0 to {replicas}")
        return self.api.get(REPLICA_SET, f"{owner.namespace}/{name}")

    def _keep_up(self, owner: KubeObject, new: KubeObject, old: Sequence[KubeObject]) -> None:
        """Give the newest set the deployment's annotations. An old template that is used again gets a new revision."""
        revision = max(revision_of(new), highest_revision(old) + 1)
        changes: Manifest = {"metadata": {"annotations": {**inherited(owner), **renumbered(new, revision)}}}
        if (new.spec.get("minReadySeconds") or 0) != (owner.spec.get("minReadySeconds") or 0):
            changes["spec"] = {"minReadySeconds": owner.spec.get("minReadySeconds") or 0}
        self.api.patch(REPLICA_SET, new.key, changes)
        self._set_revision(owner, str(revision))

    def _set_revision(self, owner: KubeObject, revision: str) -> None:
        self.api.patch(self.KIND, owner.key, {"metadata": {"annotations": {REVISION: revision}}})

    def _scale_set(self, owner: KubeObject, item: KubeObject, replicas: int) -> bool:
        """Resize a set and note the deployment's size; return True if the set's size changed."""
        before = replicas_of(item)
        changes = {"metadata": {"annotations": _sizes(owner)}, "spec": {"replicas": replicas}}
        self.api.patch(REPLICA_SET, item.key, changes)
        if before != replicas:
            way = "up" if replicas > before else "down"
            text = f"Scaled {way} replica set {item.name} from {before} to {replicas}"
            self.tell(owner, "ScalingReplicaSet", text)
        return before != replicas

    def _finish(self, key: str) -> None:
        """Write the status; once the rollout is complete, delete the sets beyond the history limit."""
        owner = self.api.get(self.KIND, key)
        assert owner is not None
        sets = self.claim(owner, REPLICA_SET)
        new, status, complete = self._write_status(owner, sets)
        deadline_us = progress_deadline_us(owner, status)
        if deadline_us is not None and not complete:
            self.enqueue_at(key, deadline_us, housekeeping=True)
        if complete:
            limit = owner.spec.get("revisionHistoryLimit", 10)
            done = [item for item in sets if item is not new and not replicas_of(item)]
            done = [item for item in done if not item.status.get("replicas")]
            for item in sorted(done, key=revision_of)[: max(len(done) - limit, 0)]:
                self.api.delete(REPLICA_SET, item.key)

    def _write_status(
        self, owner: KubeObject, sets: Sequence[KubeObject]
    ) -> tuple[KubeObject | None, dict[str, Any], bool]:
        """Return (the set of the newest template, fields of the status, the rollout is complete)."""
        new = newest(owner, sets)
        status, complete = deployment_status(owner, sets, new, _max_unavailable(owner), self.timeline.now_us)
        terminating = terminating_replicas(sets) if self.api.rules.counts_terminating_replicas else None
        self.set_status(owner, **status, terminatingReplicas=terminating)
        return new, status, complete


def _sizes(owner: KubeObject) -> dict[str, str]:
    desired = replicas_of(owner)
    return {DESIRED_REPLICAS: str(desired), MAX_REPLICAS: str(desired + _max_surge(owner))}


def _is_scaling_event(owner: KubeObject, sets: Iterable[KubeObject]) -> bool:
    desired = str(replicas_of(owner))
    return any(item.annotations.get(DESIRED_REPLICAS, desired) != desired for item in sets if replicas_of(item))


def _is_saturated(owner: KubeObject, new: KubeObject) -> bool:
    wanted = replicas_of(owner)
    noted = new.annotations.get(DESIRED_REPLICAS) == str(wanted)
    return noted and replicas_of(new) == wanted and _available(new) == wanted


def _rolling(owner: KubeObject) -> Manifest:
    strategy = owner.spec.get("strategy") or {}
    return (strategy.get("rollingUpdate") or {}) if strategy.get("type") != "Recreate" else {}


def _max_surge(owner: KubeObject) -> int:
    return scaled(_rolling(owner).get("maxSurge", 0), replicas_of(owner), round_up=True)


def _max_unavailable(owner: KubeObject) -> int:
    """Return at least one if no surge is allowed, and never more than the replicas."""
    if (owner.spec.get("strategy") or {}).get("type") == "Recreate":
        return 0
    wanted = replicas_of(owner)
    number = scaled(_rolling(owner).get("maxUnavailable", 0), wanted, round_up=False)
    return min(number or (0 if _max_surge(owner) else 1), wanted)


def _new_replicas(owner: KubeObject, sets: Iterable[KubeObject], now: int) -> int:
    """Return the size that the new set may have; it has ``now``."""
    wanted, total = replicas_of(owner), sum(map(replicas_of, sets))
    room = wanted + _max_surge(owner) - total
    return wanted if now >= wanted else now + min(max(room, 0), wanted - now)


def _share(owner: KubeObject, item: KubeObject, missing: int, left: int) -> int:
    """Return this set's share of the ``missing`` replicas (below 0: too many)."""
    size = replicas_of(item)
    if not size or not missing or not left:
        return 0
    noted = int(item.annotations.get(MAX_REPLICAS) or owner.status.get("replicas") or 0)
    wanted = replicas_of(owner)
    # A half is rounded up.
    fraction = int(size * (wanted + _max_surge(owner)) / noted + 0.5) - size if wanted and noted else -size
    return min(fraction, left) if missing > 0 else max(fraction, left)


def _available(item: KubeObject) -> int:
    return item.status.get("availableReplicas") or 0
