"""The forms of the Add drawer, filled in."""

from __future__ import annotations

from sandbox.presets.preset import FilledIn

ZONE = "topology.kubernetes.io/zone"
GPU_TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
NODES = (
    FilledIn("Three equal nodes", {"name": "node", "count": "3", "cpu": "4", "memory": "8Gi", "pods": "110"}),
    FilledIn("Small", {"name": "small", "count": "1", "cpu": "2", "memory": "4Gi", "pods": "30"}),
    FilledIn("Large", {"name": "large", "count": "1", "cpu": "16", "memory": "64Gi", "pods": "110"}),
    FilledIn(
        "Tainted GPU node",
        {"name": "gpu", "count": "1", "cpu": "8", "memory": "32Gi", "pods": "110", "rows": {"taint": [GPU_TAINT]}},
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
            "spread_key": ZONE,
            "spread_max_skew": "1",
            "spread_when": "DoNotSchedule",
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
            "affinity_kind": "pod-anti-affinity",
            "affinity_key": "app",
            "affinity_values": "cache",
            "affinity_topology": "kubernetes.io/hostname",
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
            "priority": "10000",
        },
    ),
    FilledIn(
        "Gated", {"name": "migrate", "replicas": "1", "cpu": "250m", "memory": "256Mi", "gates": "example.com/quota"}
    ),
)
