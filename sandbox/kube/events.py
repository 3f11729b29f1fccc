"""Kubernetes events as objects: one fact of the trace in the forms of ``v1`` and of ``events.k8s.io/v1``.

Source: upstream ``client-go/tools/record``, ``client-go/tools/events`` (who fills which fields) and
``pkg/apis/events/v1/conversion.go`` (the names in both forms).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.panels.model.state import KubeEvent
from sandbox.panels.model.world import World
from scheduler_engine.api.objects import timestamp
from scheduler_engine.api.scheme import KINDS

SCHEDULER, KUBELET = "default-scheduler", "kubelet"
DEFAULT = "default"
"""The namespace of events about objects without one."""
ACTIONS = {"Scheduled": "Binding", "FailedScheduling": "Scheduling", "Preempted": "Preempting"}
"""Reason → action of the events of schedulers, which use the newer API."""
COMPONENTS: dict[tuple[str, str], str] = {
    ("Pod", "TaintManagerEviction"): "taint-eviction-controller",
    ("Pod", "FailedBinding"): "ephemeral_volume",
    ("Pod", "FailedResourceClaimCreation"): "resource_claim",
    ("Pod", "NodeNotReady"): "node-controller",
    ("Node", "NodeNotReady"): "node-controller",
    ("Lease", "LeaderElection"): SCHEDULER,
}
"""Kind and reason → component that records it. Others are by kind."""
OF_KIND = {
    "Pod": KUBELET,
    "Node": KUBELET,
    "PersistentVolumeClaim": "persistentvolume-controller",
    "ReplicationController": "replication-controller",
    "PodDisruptionBudget": "controllermanager",
    **{kind: f"{kind.lower()}-controller" for kind in ("DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet")},
}
GROUP = "events.k8s.io"
RENAMED = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
"""Field of ``v1`` → field of ``events.k8s.io/v1``."""


def recorded_events(world: World, group: str = "") -> dict[str, dict[str, Any]]:
    """Return the Kubernetes events by key, in the form of a group."""
    rows = (recorded_event(world, number, group) for number in range(1, len(world.kube_events) + 1))
    return {event_key(row): row for row in rows}


def event_key(event: Mapping[str, Any]) -> str:
    return f"{event['metadata']['namespace']}/{event['metadata']['name']}"


def recorded_event(world: World, number: int, group: str = "") -> dict[str, Any]:
    """Return a Kubernetes event by its number in the sandbox, from 1."""
    recorded = world.kube_events[number - 1]
    event, began_us = recorded.event, world.entries[recorded.first - 1].at_us
    namespace, _, name = event.regarding.rpartition("/")
    kind = KINDS.get(event.regarding_kind)
    core = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {
            "name": f"{name}.{number:016x}",
            "namespace": namespace or DEFAULT,
            "uid": f"00000000-0000-4000-9000-{number:012x}",
            "creationTimestamp": timestamp(began_us),
            "resourceVersion": str(recorded.last),
        },
        "involvedObject": {
            "kind": event.regarding_kind,
            "name": name,
            **({"namespace": namespace} if namespace else {}),
            **({"uid": recorded.uid} if recorded.uid else {}),
            **({"apiVersion": kind.api_versions[0]} if kind else {}),
        },
        "reason": event.reason,
        "message": event.message,
        "type": event.type,
        **(_newer(recorded, began_us) if event.reason in ACTIONS else _older(recorded, began_us)),
    }
    if group != GROUP:
        return core
    return {RENAMED.get(field, field): value for field, value in core.items()} | {"apiVersion": f"{GROUP}/v1"}


def _older(recorded: KubeEvent, began_us: int) -> dict[str, Any]:
    """Return what controllers and kubelets fill."""
    event = recorded.event
    component = COMPONENTS.get((event.regarding_kind, event.reason)) or OF_KIND.get(event.regarding_kind, "")
    node = event.regarding if event.regarding_kind == "Node" else recorded.node
    host = node if component == KUBELET else ""
    return {
        "source": {"component": component, **({"host": host} if host else {})} if component else {},
        "firstTimestamp": timestamp(began_us),
        "lastTimestamp": timestamp(recorded.at_us),
        "count": recorded.count,
        "eventTime": None,
        "reportingComponent": component,
        "reportingInstance": host,
    }


def _newer(recorded: KubeEvent, began_us: int) -> dict[str, Any]:
    """Return what schedulers fill. The sandbox has no host, which would be the end of the instance."""
    series = {"count": recorded.count, "lastObservedTime": _with_micros(recorded.at_us)}
    return {
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": _with_micros(began_us),
        "action": ACTIONS[recorded.event.reason],
        **({"series": series} if recorded.count > 1 else {}),
        "reportingComponent": SCHEDULER,
        "reportingInstance": SCHEDULER,
    }


def _with_micros(at_us: int) -> str:
    return f"{timestamp(at_us)[:-1]}.{at_us % 1_000_000:06}Z"


def in_core_form(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an event with the names of ``v1``."""
    back = {new: old for old, new in RENAMED.items()}
    return {back.get(field, field): value for field, value in event.items()}


def source_of(event: Mapping[str, Any]) -> str:
    """Return who recorded an event, in either form."""
    core = in_core_form(event)
    return str((core.get("source") or {}).get("component") or core.get("reportingComponent") or "")
