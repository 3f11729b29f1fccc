"""Filled-in forms of the Add drawer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.web.presets.preset import FilledIn
from sandbox.words.say import say
from scheduler_engine.api.topology import HOSTNAME, ZONE

GPU_TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
SPREAD_OVER_ZONES = {"topologyKey": ZONE, "maxSkew": "1", "whenUnsatisfiable": "DoNotSchedule"}


def _anti_affinity(app: str) -> Mapping[str, Any]:
    """Return the row of a term that keeps pods of ``app`` off each other's nodes."""
    return {
        "kind": "podAntiAffinity",
        "rule": "required",
        "topologyKey": HOSTNAME,
        "rows": [{"key": "app", "operator": "In", "values": app}],
    }


NODES = (
    FilledIn(
        say("presets.three-equal-nodes"), {"name": "node", "count": "3", "cpu": "4", "memory": "8Gi", "pods": "110"}
    ),
    FilledIn(say("presets.small"), {"name": "small", "count": "1", "cpu": "2", "memory": "4Gi", "pods": "30"}),
    FilledIn(say("presets.large"), {"name": "large", "count": "1", "cpu": "16", "memory": "64Gi", "pods": "110"}),
    FilledIn(
        say("presets.tainted-gpu-node"),
        {
            "name": "gpu",
            "count": "1",
            "cpu": "8",
            "memory": "32Gi",
            "pods": "110",
            "extended": "nvidia.com/gpu=4",
            "rows": {"taint": [GPU_TAINT]},
        },
    ),
)
PODS = (
    FilledIn(say("presets.plain-pod"), {"name": "web", "replicas": "1", "cpu": "500m", "memory": "512Mi"}),
    FilledIn(
        say("presets.spread-over-zones"),
        {
            "name": "web",
            "replicas": "6",
            "cpu": "500m",
            "memory": "512Mi",
            "labels": "app=web",
            "rows": {"spread": [SPREAD_OVER_ZONES]},
        },
    ),
    FilledIn(
        say("presets.one-per-node"),
        {
            "name": "cache",
            "replicas": "3",
            "cpu": "250m",
            "memory": "1Gi",
            "labels": "app=cache",
            "rows": {"pod_term": [_anti_affinity("cache")]},
        },
    ),
    FilledIn(
        say("presets.gpu-job"),
        {
            "name": "train",
            "replicas": "1",
            "cpu": "2",
            "memory": "4Gi",
            "labels": "app=train",
            "extended": "nvidia.com/gpu=1",
            "rows": {"toleration": [{"operator": "Equal", **GPU_TAINT}]},
        },
    ),
    FilledIn(
        say("presets.urgent"),
        {
            "name": "payments",
            "replicas": "1",
            "cpu": "3",
            "memory": "2Gi",
            "labels": "app=payments",
            "priority_class": "system-cluster-critical",
        },
    ),
    FilledIn(
        say("presets.gated"),
        {"name": "migrate", "replicas": "1", "cpu": "250m", "memory": "256Mi", "gates": "example.com/quota"},
    ),
)
WORKLOADS = (
    FilledIn(
        say("presets.deployment-over-zones"),
        {
            "workload": "Deployment",
            "name": "shop",
            "replicas": "6",
            "cpu": "250m",
            "memory": "256Mi",
            "labels": "app=shop",
            "rows": {"spread": [SPREAD_OVER_ZONES]},
        },
    ),
    FilledIn(
        say("presets.statefulset-one-per-node"),
        {
            "workload": "StatefulSet",
            "name": "db",
            "replicas": "3",
            "cpu": "500m",
            "memory": "1Gi",
            "labels": "app=db",
            "rows": {"pod_term": [_anti_affinity("db")]},
        },
    ),
    FilledIn(
        say("presets.daemonset-on-every-node"),
        {
            "workload": "DaemonSet",
            "name": "agent",
            "cpu": "100m",
            "memory": "128Mi",
            "labels": "app=agent",
            "rows": {"toleration": [{"operator": "Exists"}]},
        },
    ),
    FilledIn(
        say("presets.job-two-at-a-time"),
        {
            "workload": "Job",
            "name": "report",
            "completions": "6",
            "parallelism": "2",
            "cpu": "500m",
            "memory": "512Mi",
            "labels": "app=report",
        },
    ),
)
PRIORITY_CLASSES = (
    FilledIn(say("presets.high"), {"name": "high", "value": "100000"}),
    FilledIn(say("presets.patient"), {"name": "patient", "value": "50000", "preemption_policy": "Never"}),
    FilledIn(say("presets.default-for-all"), {"name": "normal", "value": "1000", "global_default": "1"}),
)
BUDGETS = (
    FilledIn(
        say("presets.one-at-a-time"),
        {"name": "web", "min_available": "", "max_unavailable": "1", "selector": "app=web"},
    ),
    FilledIn(
        say("presets.half-must-stay"),
        {"name": "web", "min_available": "50%", "max_unavailable": "", "selector": "app=web"},
    ),
)
CLAIMS = (
    FilledIn(say("presets.for-one-node"), {"name": "data", "storage": "10Gi", "access_mode": "ReadWriteOnce"}),
    FilledIn(say("presets.shared"), {"name": "shared", "storage": "50Gi", "access_mode": "ReadWriteMany"}),
)
