"""The progress of a workload: its numbers, its conditions in Kubernetes' words, and what it waits for in ours.

Source: seed 002 §4 (rolling updates); the status fields are those of the apps/v1 and batch/v1 APIs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sandbox.panels.facts.owned import Manifest, condition, is_waiting
from sandbox.panels.model.state import PodState
from sandbox.words.amounts import short_name
from sandbox.words.phrases import plural
from sandbox.words.say import say

NUMBERS: dict[str, tuple[str, str, str, str]] = {
    "Deployment": ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    "StatefulSet": ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    "DaemonSet": ("currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable"),
    "ReplicaSet": ("replicas", "", "readyReplicas", "availableReplicas"),
    "ReplicationController": ("replicas", "", "readyReplicas", "availableReplicas"),
    "Job": ("active", "", "ready", ""),
}
"""Kind → its status fields for current, updated, ready and available; "" if it has no such number."""
SCALABLE = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
GROWING = (*SCALABLE, "Job")
"""Kinds that could have more pods. A DaemonSet has one for each node."""
RESTARTABLE = ("Deployment", "StatefulSet", "DaemonSet")
BAD_WHEN_TRUE = ("ReplicaFailure", "Failed", "FailureTarget")
NEUTRAL = ("Suspended", "SuccessCriteriaMet")
RECREATE = ("workloads.recreate", "workloads.recreate-leaving")
ROLLING_UPDATE = ("workloads.rolling-update", "workloads.rolling-update-leaving")
"""Keys: while pods are updated, and then while old ones leave."""
JOB_ENDS = (
    ("Complete", "yes", "workloads.job-complete"),
    ("Failed", "", "workloads.job-failed"),
    ("Suspended", "wait", "workloads.job-suspended"),
)


def spec_of(manifest: Manifest) -> Manifest:
    return manifest.get("spec") or {}


def status_of(manifest: Manifest) -> Manifest:
    return manifest.get("status") or {}


def desired(manifest: Manifest) -> int | None:
    """Return the desired number of pods, None for a Job whose pods decide when it is done."""
    spec, kind = spec_of(manifest), manifest["kind"]
    if kind == "DaemonSet":
        return int(status_of(manifest).get("desiredNumberScheduled") or 0)
    number = spec.get("completions") if kind == "Job" else spec.get("replicas", 1)
    return None if number is None else int(number)


def numbers(manifest: Manifest) -> list[dict[str, Any]]:
    """Return current, updated, ready, available; ``short``: less than desired."""
    target, status = desired(manifest) or 0, status_of(manifest)
    current = "workloads.active-pods" if manifest["kind"] == "Job" else "workloads.current-pods"
    titles = (current, "workloads.updated-pods", "workloads.ready-pods", "workloads.available-pods")
    rows = []
    for title, field in zip(titles, NUMBERS[manifest["kind"]], strict=True):
        number = int(status.get(field) or 0)
        short = bool(field) and number < target and manifest["kind"] != "Job"
        rows.append({"title": say(title), "text": str(number) if field else "–", "short": short})
    return rows


def conditions(manifest: Manifest) -> list[dict[str, Any]]:
    return [_condition(item) for item in status_of(manifest).get("conditions") or ()]


def _condition(item: Manifest) -> dict[str, Any]:
    kind, status = str(item.get("type")), str(item.get("status"))
    good = (status == "True") != (kind in BAD_WHEN_TRUE)
    sign = "" if kind in NEUTRAL else ("yes" if good else "no")
    return {
        "type": kind,
        "status": "" if status == "True" else status,
        "reason": str(item.get("reason") or ""),
        "message": str(item.get("message") or ""),
        "said": sign,
    }


def rollout(manifest: Manifest, pods: Iterable[PodState]) -> dict[str, str]:
    """Return the progress: a ``Verdict`` in ``said`` and ``text``. ``waits`` names a pod that it waits for."""
    sign, text = WORDS[manifest["kind"]](manifest)
    return {"said": sign, "text": text, "waits": _waits_for(pods) if sign != "yes" else ""}


def _waits_for(pods: Iterable[PodState]) -> str:
    waiting = [pod for pod in pods if is_waiting(pod)]
    if not waiting:
        return ""
    first = next((pod for pod in waiting if not pod.node), waiting[0])
    return say("workloads.waits-for", count=len(waiting), pod=short_name(first.key), condition=condition(first))


Verdict = tuple[str, str]
"""(``yes``, ``wait`` or "", the sentence): complete, not yet, nothing to do."""


def _counts(manifest: Manifest) -> list[int]:
    status = status_of(manifest)
    return [int(status.get(field) or 0) for field in NUMBERS[manifest["kind"]]]


def _deployment(manifest: Manifest) -> Verdict:
    target, (current, updated, _, available) = desired(manifest) or 0, _counts(manifest)
    spec = spec_of(manifest)
    if spec.get("paused"):
        return "wait", say("workloads.paused")
    recreates = (spec.get("strategy") or {}).get("type") == "Recreate"
    updating, leaving = RECREATE if recreates else ROLLING_UPDATE
    if updated < target and (current > updated or recreates):
        return "wait", say(updating, updated=updated, wanted=target)
    if updated < target:
        return "wait", say("workloads.created", created=updated, pods=plural(target, "pod"))
    if current > updated:
        return "wait", say(leaving, count=current - updated, wanted=target)
    if available < target:
        return "wait", say("workloads.available", available=available, wanted=target)
    return _whole(target)


def _stateful_set(manifest: Manifest) -> Verdict:
    target, (current, updated, ready, _) = desired(manifest) or 0, _counts(manifest)
    spec, status = spec_of(manifest), status_of(manifest)
    strategy = spec.get("updateStrategy") or {}
    partition = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    if status.get("currentRevision") != status.get("updateRevision") and updated < target - partition:
        if strategy.get("type") == "OnDelete":
            return "wait", say("workloads.on-delete", updated=updated, wanted=target)
        return "wait", say("workloads.rolling-down", updated=updated, wanted=target - partition)
    if ready < target or current != target:
        parallel = spec.get("podManagementPolicy") == "Parallel"
        key = "workloads.ready-of" if parallel else "workloads.ready-one-by-one"
        return "wait", say(key, ready=ready, wanted=target)
    return _whole(target)


def _daemon_set(manifest: Manifest) -> Verdict:
    target, (_, updated, ready, _) = desired(manifest) or 0, _counts(manifest)
    sign, nodes = "wait", plural(target, "node")
    if not target:
        sign, text = "", say("workloads.no-node")
    elif updated < target:
        text = say("workloads.rolling-over-nodes", updated=updated, nodes=nodes)
    elif ready < target:
        text = say("workloads.ready-on", ready=ready, nodes=nodes)
    else:
        sign, text = "yes", say("workloads.one-on-each", nodes=nodes)
    wrong = int(status_of(manifest).get("numberMisscheduled") or 0)
    return sign, say("workloads.misscheduled", text=text, pods=plural(wrong, "pod")) if wrong else text


def _replica_set(manifest: Manifest) -> Verdict:
    target, (current, _, ready, _) = desired(manifest) or 0, _counts(manifest)
    if current < target:
        return "wait", say("workloads.created", created=current, pods=plural(target, "pod"))
    if ready < target:
        return "wait", say("workloads.ready-of", ready=ready, wanted=target)
    return _whole(target)


def _job(manifest: Manifest) -> Verdict:
    status, pods = status_of(manifest), _succeeded(manifest)
    true = {item.get("type") for item in status.get("conditions") or () if item.get("status") == "True"}
    for kind, sign, key in JOB_ENDS:
        if kind in true:
            return sign, say(key, pods=pods)
    return "wait", say("workloads.job-runs", pods=pods, most=spec_of(manifest).get("parallelism", 1))


def _succeeded(manifest: Manifest) -> str:
    status, target = status_of(manifest), desired(manifest)
    done, failed = int(status.get("succeeded") or 0), int(status.get("failed") or 0)
    key = "workloads.succeeded" if target is None else "workloads.succeeded-of"
    return say(key, done=done, wanted=target, failed=failed)


def _whole(target: int) -> Verdict:
    if not target:
        return "", say("workloads.scaled-to-0")
    return "yes", say("workloads.both-ready") if target == 2 else say("workloads.all-ready", count=target)


WORDS: dict[str, Callable[[Manifest], Verdict]] = {
    "Deployment": _deployment,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "ReplicaSet": _replica_set,
    "ReplicationController": _replica_set,
    "Job": _job,
}
