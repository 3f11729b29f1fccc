"""For tests: builders of manifests, and a cluster to try them in. See docs/testing.md."""

from scheduler_engine.api.topology import HOSTNAME, ZONE
from scheduler_engine.testing.builders import (
    PREFERRED,
    REGION,
    REQUIRED,
    Builder,
    NodeBuilder,
    PodBuilder,
    make_budget,
    make_node,
    make_pod,
    make_priority_class,
)
from scheduler_engine.testing.cluster import Cluster

__all__ = [
    "HOSTNAME",
    "PREFERRED",
    "REGION",
    "REQUIRED",
    "ZONE",
    "Builder",
    "Cluster",
    "NodeBuilder",
    "PodBuilder",
    "make_budget",
    "make_node",
    "make_pod",
    "make_priority_class",
]
