"""The status of a Deployment: the counts of its pods, and whether the rollout makes progress.

Source: upstream ``pkg/controller/deployment/{sync,progress}.go`` and ``util/deployment_util.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scheduler_engine.api.conditions import condition_set
from scheduler_engine.api.objects import KubeObject, time_us, timestamp
from scheduler_engine.controllers.workload import Manifest, replicas_of
from scheduler_engine.timeline import SECOND_US

AVAILABLE, PROGRESSING = "Available", "Progressing"
TIMED_OUT, DONE = "ProgressDeadlineExceeded", "NewReplicaSetAvailable"


def deployment_status(
    owner: KubeObject, sets: Sequence[KubeObject], new: KubeObject | None, max_unavailable: int, now_us: int
) -> tuple[dict[str, Any], bool]:
    """Return (fields of the status, the rollout is complete)."""
    wanted = replicas_of(owner)
    counts = {name: _sum(sets, name) for name in ("replicas", "readyReplicas", "availableReplicas")}
    counts["updatedReplicas"] = _sum([] if new is None else [new], "replicas")
    counts["unavailableReplicas"] = max(sum(map(replicas_of, sets)) - counts["availableReplicas"], 0)
    done = (counts["replicas"], counts["updatedReplicas"], counts["availableReplicas"])
    complete = new is not None and done == (wanted, wanted, wanted)
    conditions = _availability(owner, counts["availableReplicas"] >= wanted - max_unavailable, now_us)
    if owner.spec.get("progressDeadlineSeconds") is not None:
        conditions = _progress(owner, conditions, counts, new, complete, now_us)
    return {**{name: number or None for name, number in counts.items()}, "conditions": conditions}, complete


def terminating_replicas(sets: Iterable[KubeObject]) -> int | None:
    """Return how many pods of all sets are being deleted; None if the controller of a set did not count them."""
    total = 0
    for item in sets:
        count = item.status.get("terminatingReplicas")
        if count is None and item.status.get("observedGeneration"):
            return None
        total += count or 0
    return total


def progress_deadline_us(owner: KubeObject, status: dict[str, Any]) -> int | None:
    """Return when the rollout counts as failed without progress; None if it is over, or waits for nothing."""
    seconds = owner.spec.get("progressDeadlineSeconds")
    held = _condition(status["conditions"], PROGRESSING)
    if seconds is None or held is None or held.get("reason") in (TIMED_OUT, DONE, "DeploymentPaused"):
        return None
    return (time_us(held.get("lastUpdateTime")) or 0) + int(seconds) * SECOND_US


def _sum(sets: Iterable[KubeObject], name: str) -> int:
    return sum(item.status.get(name) or 0 for item in sets)


def _condition(conditions: Iterable[Manifest], kind: str) -> Manifest | None:
    return next((item for item in conditions if item.get("type") == kind), None)


def _availability(owner: KubeObject, enough: bool, now_us: int) -> list[Manifest]:
    held = owner.status.get("conditions") or ()
    if enough:
        text = "Deployment has minimum availability."
        return _with(held, now_us, AVAILABLE, "True", "MinimumReplicasAvailable", text)
    text = "Deployment does not have minimum availability."
    return _with(held, now_us, AVAILABLE, "False", "MinimumReplicasUnavailable", text)


def with_new_set(owner: KubeObject, name: str, now_us: int) -> list[Manifest]:
    """Return the conditions after the replica set of a new template was created."""
    held = owner.status.get("conditions") or ()
    if owner.spec.get("progressDeadlineSeconds") is None:
        return list(held)
    text = f'Created new replica set "{name}"'
    return _with(held, now_us, PROGRESSING, "True", "NewReplicaSetCreated", text)


def _with(
    conditions: Sequence[Manifest], now_us: int, kind: str, status: str, reason: str, text: str, renew: bool = False
) -> list[Manifest]:
    """Set a condition. ``renew``: even if only the time is new."""
    held = _condition(conditions, kind)
    if held is not None and (held.get("status"), held.get("reason")) == (status, reason) and not renew:
        return list(conditions)
    changed = condition_set(conditions, now_us, kind, status, reason, text)
    return [{**item, "lastUpdateTime": timestamp(now_us)} if item.get("type") == kind else item for item in changed]


def _progress(
    owner: KubeObject,
    conditions: list[Manifest],
    counts: dict[str, int],
    new: KubeObject | None,
    complete: bool,
    now_us: int,
) -> list[Manifest]:
    held = _condition(conditions, PROGRESSING)
    reason = "" if held is None else held.get("reason", "")
    if owner.spec.get("paused"):
        if reason == TIMED_OUT:
            return conditions
        return _with(conditions, now_us, PROGRESSING, "Unknown", "DeploymentPaused", "Deployment is paused")
    if reason == "DeploymentPaused":
        conditions = _with(conditions, now_us, PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed")
    name = f'ReplicaSet "{new.name}"' if new is not None else f'Deployment "{owner.name}"'
    if reason == DONE and counts["replicas"] == counts["updatedReplicas"]:
        return conditions
    if complete:
        return _with(conditions, now_us, PROGRESSING, "True", DONE, f"{name} has successfully progressed.")
    if held is None and new is not None:
        text = f'Found new replica set "{new.name}"'
        return _with(conditions, now_us, PROGRESSING, "True", "FoundNewReplicaSet", text)
    if _got_on(owner, counts):
        text = f"{name} is progressing."
        return _with(conditions, now_us, PROGRESSING, "True", "ReplicaSetUpdated", text, renew=True)
    deadline_us = progress_deadline_us(owner, {"conditions": conditions})
    if deadline_us is not None and now_us >= deadline_us:
        return _with(conditions, now_us, PROGRESSING, "False", TIMED_OUT, f"{name} has timed out progressing.")
    return conditions


def _got_on(owner: KubeObject, counts: dict[str, int]) -> bool:
    """Return True if more pods are new, ready or available, or fewer are old, than the status said."""
    before = {name: owner.status.get(name) or 0 for name in counts}
    old_before = before["replicas"] - before["updatedReplicas"]
    return (
        counts["updatedReplicas"] > before["updatedReplicas"]
        or counts["replicas"] - counts["updatedReplicas"] < old_before
        or counts["readyReplicas"] > before["readyReplicas"]
        or counts["availableReplicas"] > before["availableReplicas"]
    )
