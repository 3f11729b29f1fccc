"""How far a workload is: its numbers, its conditions in Kubernetes' words, and what it waits for in ours.

Source: seed 002 §4 (rolling updates); the status fields are those of the apps/v1 and batch/v1 APIs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sandbox.panels.facts.owned import Manifest, condition, is_waiting
from sandbox.panels.model.state import PodState
from sandbox.panels.words.amounts import short_name
from sandbox.panels.words.phrases import plural

NUMBERS: dict[str, tuple[str, str, str, str]] = {
    "Deployment": ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    "StatefulSet": ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    "DaemonSet": ("currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable"),
    "ReplicaSet": ("replicas", "", "readyReplicas", "availableReplicas"),
    "ReplicationController": ("replicas", "", "readyReplicas", "availableReplicas"),
    "Job": ("active", "", "ready", ""),
}
"""Kind → its status fields for current, updated, ready and available; "" = it has no such number."""
SCALABLE = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
RESTARTABLE = ("Deployment", "StatefulSet", "DaemonSet")
BAD_WHEN_TRUE = ("ReplicaFailure", "Failed", "FailureTarget")
NEUTRAL = ("Suspended", "SuccessCriteriaMet")


def spec_of(manifest: Manifest) -> Manifest:
    return manifest.get("spec") or {}


def status_of(manifest: Manifest) -> Manifest:
    return manifest.get("status") or {}


def desired(manifest: Manifest) -> int | None:
    """None: the pods decide themselves when a Job is done."""
    spec, kind = spec_of(manifest), manifest["kind"]
    if kind == "DaemonSet":
        return int(status_of(manifest).get("desiredNumberScheduled") or 0)
    number = spec.get("completions") if kind == "Job" else spec.get("replicas", 1)
    return None if number is None else int(number)


def numbers(manifest: Manifest) -> list[dict[str, Any]]:
    """Current, updated, ready, available; ``short``: less than desired."""
    wanted, status = desired(manifest) or 0, status_of(manifest)
    titles = ("Active" if manifest["kind"] == "Job" else "Current", "Updated", "Ready", "Available")
    made = []
    for title, field in zip(titles, NUMBERS[manifest["kind"]], strict=True):
        number = int(status.get(field) or 0)
        short = bool(field) and number < wanted and manifest["kind"] != "Job"
        made.append({"title": title, "text": str(number) if field else "–", "short": short})
    return made


def conditions(manifest: Manifest) -> list[dict[str, Any]]:
    return [_condition(item) for item in status_of(manifest).get("conditions") or ()]


def _condition(item: Manifest) -> dict[str, Any]:
    kind, status = str(item.get("type")), str(item.get("status"))
    good = (status == "True") != (kind in BAD_WHEN_TRUE)
    said = "" if kind in NEUTRAL else ("yes" if good else "no")
    return {
        "type": kind,
        "status": "" if status == "True" else status,
        "reason": str(item.get("reason") or ""),
        "message": str(item.get("message") or ""),
        "said": said,
    }


def rollout(manifest: Manifest, pods: Iterable[PodState]) -> dict[str, str]:
    """``said`` is ``yes`` (all is as wanted), ``wait`` or "" (nothing to do); ``text`` says how far it is, ``waits``
    for which pod.
    """
    said, text = WORDS[manifest["kind"]](manifest)
    return {"said": said, "text": text, "waits": _waits_for(pods) if said != "yes" else ""}


def _waits_for(pods: Iterable[PodState]) -> str:
    waiting = [pod for pod in pods if is_waiting(pod)]
    if not waiting:
        return ""
    first = next((pod for pod in waiting if not pod.node), waiting[0])
    several = f"{len(waiting)} pods, first " if len(waiting) > 1 else ""
    return f"waits for {several}{short_name(first.key)}: {condition(first)}"


Said = tuple[str, str]


def _counts(manifest: Manifest) -> list[int]:
    status = status_of(manifest)
    return [int(status.get(field) or 0) for field in NUMBERS[manifest["kind"]]]


def _deployment(manifest: Manifest) -> Said:
    wanted, (current, updated, _, available) = desired(manifest) or 0, _counts(manifest)
    spec = spec_of(manifest)
    if spec.get("paused"):
        return "wait", "paused: a changed template waits until spec.paused is false"
    how = "recreate" if (spec.get("strategy") or {}).get("type") == "Recreate" else "rolling update"
    if updated < wanted and (current > updated or how == "recreate"):
        return "wait", f"{how}: {updated} of {wanted} updated"
    if updated < wanted:
        return "wait", f"{updated} of {plural(wanted, 'pod')} made"
    if current > updated:
        left = "last old pod has" if current - updated == 1 else f"{current - updated} old pods have"
        return "wait", f"{how}: all {wanted} updated, the {left} yet to go"
    if available < wanted:
        return "wait", f"{available} of {wanted} available"
    return _whole(wanted)


def _stateful_set(manifest: Manifest) -> Said:
    wanted, (current, updated, ready, _) = desired(manifest) or 0, _counts(manifest)
    spec, status = spec_of(manifest), status_of(manifest)
    strategy = spec.get("updateStrategy") or {}
    partition = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    if status.get("currentRevision") != status.get("updateRevision") and updated < wanted - partition:
        if strategy.get("type") == "OnDelete":
            return "wait", f"OnDelete: {updated} of {wanted} updated; the others when somebody deletes them"
        return "wait", f"rolling update, from the highest number down: {updated} of {wanted - partition} updated"
    if ready < wanted or current != wanted:
        one_by_one = spec.get("podManagementPolicy") != "Parallel"
        return "wait", f"{ready} of {wanted} ready{', one after the other' if one_by_one else ''}"
    return _whole(wanted)


def _daemon_set(manifest: Manifest) -> Said:
    wanted, (_, updated, ready, _) = desired(manifest) or 0, _counts(manifest)
    wrong = int(status_of(manifest).get("numberMisscheduled") or 0)
    note = f"; {plural(wrong, 'pod')} where none should run" if wrong else ""
    if not wanted:
        return "", f"no node is meant for it{note}"
    if updated < wanted:
        return "wait", f"rolling update: {updated} of {plural(wanted, 'node')} updated{note}"
    if ready < wanted:
        return "wait", f"ready on {ready} of {plural(wanted, 'node')}{note}"
    return "yes", f"one on each of {plural(wanted, 'node')}{note}"


def _replica_set(manifest: Manifest) -> Said:
    wanted, (current, _, ready, _) = desired(manifest) or 0, _counts(manifest)
    if current < wanted:
        return "wait", f"{current} of {plural(wanted, 'pod')} made"
    return ("wait", f"{ready} of {wanted} ready") if ready < wanted else _whole(wanted)


def _job(manifest: Manifest) -> Said:
    spec, status = spec_of(manifest), status_of(manifest)
    done, failed = int(status.get("succeeded") or 0), int(status.get("failed") or 0)
    wanted = desired(manifest)
    of = "" if wanted is None else f" of {wanted}"
    text = f"{done}{of} succeeded, {failed} failed"
    ended = {item.get("type"): item for item in status.get("conditions") or () if item.get("status") == "True"}
    if "Complete" in ended:
        return "yes", f"{text}: complete"
    if "Failed" in ended:
        return "", f"{text}: given up"
    if "Suspended" in ended:
        return "wait", f"{text}; suspended"
    return "wait", f"{text}; at most {spec.get('parallelism', 1)} at a time"


def _whole(wanted: int) -> Said:
    if not wanted:
        return "", "scaled to 0"
    return "yes", {1: "the one pod is ready", 2: "both pods are ready"}.get(wanted, f"all {wanted} pods are ready")


WORDS: dict[str, Callable[[Manifest], Said]] = {
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "ReplicaSet": _replica_set,
    "ReplicationController": _replica_set,
    "Job": _job,
}
