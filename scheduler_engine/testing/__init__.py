"""For tests: builders of manifests, and a cluster to try them in. See docs/testing.md."""

from scheduler_engine.api.topology import HOSTNAME, ZONE
from scheduler_engine.framework.extender_answers import ExtenderError
from scheduler_engine.framework.extender_calls import Address
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
from scheduler_engine.testing.objects import (
    make_claim,
    make_daemon_set,
    make_deployment,
    make_job,
    make_stateful_set,
    make_storage_class,
    make_volume,
)
from scheduler_engine.testing.settings import SchedulerSettings

__all__ = [
    "HOSTNAME",
    "PREFERRED",
    "REGION",
    "REQUIRED",
    "ZONE",
    "Address",
    "Builder",
    "Cluster",
    "ExtenderError",
    "NodeBuilder",
    "PodBuilder",
    "SchedulerSettings",
    "make_budget",
    "make_claim",
    "make_daemon_set",
    "make_deployment",
    "make_job",
    "make_node",
    "make_pod",
    "make_priority_class",
    "make_stateful_set",
    "make_storage_class",
    "make_volume",
]
