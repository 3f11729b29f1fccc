"""Defaults of the workloads. Source: upstream ``pkg/apis/{apps,batch,core}/v1/defaults.go``."""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.defaults_pod import fill, persistent_volume_claim, pod_spec

Data = dict[str, Any]

MOST_RETRIES = 2**31 - 1
"""``backoffLimit`` of a Job that counts retries per index instead."""


def replica_set(data: Data) -> None:
    fill(_with_template(data), replicas=1)


def replication_controller(data: Data) -> None:
    spec = _with_template(data) if "template" in (data.get("spec") or {}) else data.setdefault("spec", {})
    fill(spec, replicas=1)
    labels = _template_labels(spec)
    if labels:
        fill(spec, selector=dict(labels))
        _label(data, labels)


def deployment(data: Data) -> None:
    spec = _with_template(data)
    fill(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = spec.setdefault("strategy", {})
    fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        fill(strategy.setdefault("rollingUpdate", {}), maxUnavailable="25%", maxSurge="25%")


def daemon_set(data: Data) -> None:
    spec = _with_template(data)
    fill(spec, revisionHistoryLimit=10)
    strategy = spec.setdefault("updateStrategy", {})
    fill(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        fill(strategy.setdefault("rollingUpdate", {}), maxUnavailable=1, maxSurge=0)


def stateful_set(data: Data) -> None:
    spec = _with_template(data)
    fill(spec, replicas=1, podManagementPolicy="OrderedReady", revisionHistoryLimit=10)
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        fill(strategy, type="RollingUpdate", rollingUpdate={})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        fill(strategy["rollingUpdate"], partition=0)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    fill(retention, whenDeleted="Retain", whenScaled="Retain")
    for claim in spec.get("volumeClaimTemplates") or ():
        persistent_volume_claim(claim)


def job(data: Data) -> None:
    spec = _with_template(data)
    if "completions" not in spec and "parallelism" not in spec:
        fill(spec, completions=1)
    policy = spec.get("podFailurePolicy")
    fill(
        spec,
        parallelism=1,
        backoffLimit=MOST_RETRIES if "backoffLimitPerIndex" in spec else 6,
        completionMode="NonIndexed",
        suspend=False,
        manualSelector=False,
        podReplacementPolicy="TerminatingOrFailed" if policy is None else "Failed",
    )
    for rule in (policy or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            pattern["status"] = pattern.get("status") or "True"
    _label(data, _template_labels(spec))


def _with_template(data: Data) -> Data:
    """Return the spec with the pod template's defaults; a missing template counts as an empty one."""
    spec: Data = data.setdefault("spec", {})
    pod_spec(spec.setdefault("template", {}).setdefault("spec", {}))
    return spec


def _template_labels(spec: Data) -> Data:
    labels: Data = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    return labels


def _label(data: Data, labels: Data) -> None:
    """Copy the template's labels to an owner without labels."""
    metadata = data.setdefault("metadata", {})
    if labels and not metadata.get("labels"):
        metadata["labels"] = dict(labels)
