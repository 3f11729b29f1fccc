"""Manifests from what a form holds: plain dicts, in the order in which people write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from scheduler_engine.api.simulated import IMAGEFS
from scheduler_engine.api.topology import HOSTNAME, REGION, ZONE

Manifest = dict[str, Any]
Row = dict[str, Any]

IMAGE = "registry.k8s.io/pause:3.10"
PAIRS = ("labels", "matchLabels", "nodeSelector")
RULES = {
    "required": "requiredDuringSchedulingIgnoredDuringExecution",
    "preferred": "preferredDuringSchedulingIgnoredDuringExecution",
}


def node(name: str, data: dict[str, Any]) -> Manifest:
    """A Node. Its allocatable is left to the API server's default, which is its capacity."""
    labels = {
        HOSTNAME: name,
        REGION: data["region"],
        ZONE: data["zone"],
    }
    capacity = {resource: data[resource] for resource in ("cpu", "memory", "pods")}
    return _without_empty(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": _without_empty(labels) | data["labels"],
                "annotations": {IMAGEFS: data["imagefs"]},
            },
            "spec": {"unschedulable": data["unschedulable"], "taints": data["taints"]},
            "status": {"capacity": capacity | data["extended"]},
        }
    )


def pod(name: str, data: dict[str, Any]) -> Manifest:
    """A Pod of one container."""
    metadata = {"name": name, "namespace": data["namespace"], "labels": data["labels"]}
    return _without_empty({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _pod_spec(data)})


def workload(name: str, data: dict[str, Any]) -> Manifest:
    """What the form calls ``workload``, with the pod's fields as its template."""
    kind = data["workload"]
    labels = data["labels"] or {"app": name}
    template = {"metadata": {"labels": labels}, "spec": _pod_spec(data | {"labels": labels})}
    version, spec_of = WORKLOADS[kind]
    return _without_empty(
        {
            "apiVersion": version,
            "kind": kind,
            "metadata": {"name": name, "namespace": data["namespace"]},
            "spec": spec_of(name, data, {"selector": {"matchLabels": labels}, "template": template}),
        }
    )


def priority_class(name: str, data: dict[str, Any]) -> Manifest:
    return _without_empty(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": data["value"],
            "globalDefault": data["global_default"],
            "preemptionPolicy": data["preemption_policy"],
            "description": data["description"],
        }
    )


def budget(name: str, data: dict[str, Any]) -> Manifest:
    """A PodDisruptionBudget. An empty selector is written, as it selects all pods and a missing one none."""
    made = _without_empty(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": data["namespace"]},
            "spec": {
                "minAvailable": _number(data["min_available"]),
                "maxUnavailable": _number(data["max_unavailable"]),
            },
        }
    )
    selector = {"matchLabels": data["selector"]} if data["selector"] else {}
    return made | {"spec": made.get("spec", {}) | {"selector": selector}}


def claim(name: str, data: dict[str, Any]) -> Manifest:
    return _without_empty(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": data["namespace"]},
            "spec": {
                "accessModes": [data["access_mode"]],
                "storageClassName": data["storage_class"],
                "volumeName": data["volume"],
                "resources": {"requests": {"storage": data["storage"]}},
            },
        }
    )


def _replicated(name: str, data: dict[str, Any], rest: Manifest) -> Manifest:
    return {"replicas": data["replicas"], **rest}


def _stateful(name: str, data: dict[str, Any], rest: Manifest) -> Manifest:
    return {"replicas": data["replicas"], "serviceName": name, **rest}


def _on_every_node(name: str, data: dict[str, Any], rest: Manifest) -> Manifest:
    return rest


def _to_the_end(name: str, data: dict[str, Any], rest: Manifest) -> Manifest:
    """A Job makes its selector itself."""
    template = rest["template"]
    ending = {**template, "spec": {"restartPolicy": "Never", **template["spec"]}}
    return {"completions": data["completions"], "parallelism": data["parallelism"], "template": ending}


WORKLOADS: dict[str, tuple[str, Callable[[str, dict[str, Any], Manifest], Manifest]]] = {
    "Deployment": ("apps/v1", _replicated),
    "StatefulSet": ("apps/v1", _stateful),
    "DaemonSet": ("apps/v1", _on_every_node),
    "Job": ("batch/v1", _to_the_end),
}
"""Kind → its apiVersion, and what its spec is made of."""


def _pod_spec(data: dict[str, Any]) -> Manifest:
    ports = [{"containerPort": data["host_port"], "hostPort": data["host_port"]}] if data["host_port"] else []
    resources = {"requests": {"cpu": data["cpu"], "memory": data["memory"]}, "limits": data["extended"]}
    volumes = [
        {"name": f"volume-{number}", "persistentVolumeClaim": {"claimName": claim_name}}
        for number, claim_name in enumerate(data["claims"], 1)
    ]
    return {
        "schedulingGates": [{"name": gate} for gate in data["gates"]],
        "priorityClassName": data["priority_class"],
        "priority": data["priority"],
        "nodeSelector": data["node_selector"],
        "affinity": {"nodeAffinity": _node_affinity(data["node_affinity"]), **_pod_affinity(data)},
        "tolerations": [{**row, "tolerationSeconds": _number(row["tolerationSeconds"])} for row in data["tolerations"]],
        "topologySpreadConstraints": [_spread(row, data["labels"]) for row in data["spread"]],
        "containers": [{"name": "main", "image": data["image"] or IMAGE, "resources": resources, "ports": ports}],
        "volumes": volumes,
    }


def _spread(row: Row, labels: dict[str, str]) -> Manifest:
    """Over the pods that the row selects, or those that carry the same labels as this one."""
    return {
        "maxSkew": _number(row["maxSkew"]),
        "topologyKey": row["topologyKey"],
        "whenUnsatisfiable": row["whenUnsatisfiable"],
        "minDomains": _number(row["minDomains"]),
        "nodeAffinityPolicy": row["nodeAffinityPolicy"],
        "nodeTaintsPolicy": row["nodeTaintsPolicy"],
        "labelSelector": {"matchLabels": pairs(row["labelSelector"]) or labels},
        "matchLabelKeys": listed(row["matchLabelKeys"]),
    }


def _node_affinity(rows: list[Row]) -> Manifest:
    terms = [(row, {"matchExpressions": _expressions(row)}) for row in rows]
    required = [term for row, term in terms if row["rule"] == "required"]
    preferred = [
        {"weight": _number(row["weight"]), "preference": term} for row, term in terms if row["rule"] == "preferred"
    ]
    return {RULES["required"]: {"nodeSelectorTerms": required} if required else {}, RULES["preferred"]: preferred}


def _pod_affinity(data: dict[str, Any]) -> Manifest:
    made: Manifest = {}
    for row in data["pod_affinity"]:
        expressions = _expressions(row)
        selector = {"matchExpressions": expressions} if expressions else {"matchLabels": data["labels"]}
        term = {
            "labelSelector": selector,
            "namespaces": listed(row["namespaces"]),
            "matchLabelKeys": listed(row["matchLabelKeys"]),
            "mismatchLabelKeys": listed(row["mismatchLabelKeys"]),
            "topologyKey": row["topologyKey"],
        }
        entry = term if row["rule"] == "required" else {"weight": _number(row["weight"]), "podAffinityTerm": term}
        made.setdefault(row["kind"], {}).setdefault(RULES[row["rule"]], []).append(entry)
    return made


def _expressions(row: Row) -> list[Manifest]:
    return [{**expression, "values": listed(expression["values"])} for expression in row["rows"]]


def listed(text: str) -> list[str]:
    """Values, one on each line or parted by commas."""
    return [part.strip() for part in re.split(r"[,\n]", text) if part.strip()]


def pairs(text: str) -> dict[str, str]:
    """``key=value``, one on each line or parted by commas."""
    parts = (pair.partition("=") for pair in listed(text))
    return {key.strip(): value.strip() for key, _, value in parts}


def _number(text: str) -> int | str:
    """A whole number, or the text that is none, for the API server to judge."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,19}", text) else text


def _without_empty(value: Any) -> Any:
    """Leaves out, at every depth, the members of mappings that say nothing. In labels an empty value says something."""
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: item if key in PAIRS else _without_empty(item) for key, item in value.items()}
    return {
        key: item for key, item in kept.items() if item is not None and item is not False and item not in ("", [], {})
    }
