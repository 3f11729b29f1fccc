"""The forms of the Add drawer, filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.web.presets.preset import FilledIn
from scheduler_engine.api.topology import HOSTNAME, ZONE

GPU_TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
SPREAD_OVER_ZONES = {
    "topologyKey": ZONE,
    "maxSkew": "1",
    "whenUnsatisfiable": "DoNotSchedule",
}


def _apart(app: str) -> Mapping[str, Any]:
    """The term that keeps pods of ``app`` off each other's nodes."""
    return {
        "kind": "podAntiAffinity",
        "rule": "required",
        "topologyKey": HOSTNAME,
        "rows": [{"key": "app", "operator": "In", "values": app}],
    }


NODES = (
    FilledIn("Three equal nodes", {"name": "node", "count": "3", "cpu": "4", "memory": "8Gi", "pods": "110"}),
    FilledIn("Small", {"name": "small", "count": "1", "cpu": "2", "memory": "4Gi", "pods": "30"}),
    FilledIn("Large", {"name": "large", "count": "1", "cpu": "16", "memory": "64Gi", "pods": "110"}),
    FilledIn(
        "Tainted GPU node",
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
    FilledIn("Plain pod", {"name": "web", "replicas": "1", "cpu": "500m", "memory": "512Mi"}),
    FilledIn(
        "Spread over zones",
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
        "One per node",
        {
            "name": "cache",
            "replicas": "3",
            "cpu": "250m",
            "memory": "1Gi",
            "labels": "app=cache",
            "rows": {"pod_term": [_apart("cache")]},
        },
    ),
    FilledIn(
        "GPU job",
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
        "Urgent",
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
        "Gated", {"name": "migrate", "replicas": "1", "cpu": "250m", "memory": "256Mi", "gates": "example.com/quota"}
    ),
)
WORKLOADS = (
    FilledIn(
        "Deployment over zones",
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
        "StatefulSet, one per node",
        {
            "workload": "StatefulSet",
            "name": "db",
            "replicas": "3",
            "cpu": "500m",
            "memory": "1Gi",
            "labels": "app=db",
            "rows": {"pod_term": [_apart("db")]},
        },
    ),
    FilledIn(
        "DaemonSet on every node",
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
        "Job, two at a time",
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
    FilledIn("High", {"name": "high", "value": "100000"}),
    FilledIn("Patient", {"name": "patient", "value": "50000", "preemption_policy": "Never"}),
    FilledIn("Default for all", {"name": "normal", "value": "1000", "global_default": "1"}),
)
BUDGETS = (
    FilledIn("One at a time", {"name": "web", "min_available": "", "max_unavailable": "1", "selector": "app=web"}),
    FilledIn("Half must stay", {"name": "web", "min_available": "50%", "max_unavailable": "", "selector": "app=web"}),
)
CLAIMS = (
    FilledIn("For one node", {"name": "data", "storage": "10Gi", "access_mode": "ReadWriteOnce"}),
    FilledIn("Shared", {"name": "shared", "storage": "50Gi", "access_mode": "ReadWriteMany"}),
)
