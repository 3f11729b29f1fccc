"""Manifests from the values of a form: plain dicts, in the order in which people write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from scheduler_engine.api.simulated import IMAGEFS
from scheduler_engine.api.topology import HOSTNAME, REGION, ZONE

Manifest = dict[str, Any]
Row = dict[str, Any]

IMAGE = "registry.k8s.io/pause:3.10"
PAIRS = ("labels", "matchLabels", "nodeSelector", "attributes")
RULES = {
    "required": "requiredDuringSchedulingIgnoredDuringExecution",
    "preferred": "preferredDuringSchedulingIgnoredDuringExecution",
}


def node(name: str, data: dict[str, Any]) -> Manifest:
    """Return a Node. It has no allocatable: the API server's default is the capacity."""
    labels = {HOSTNAME: name, REGION: data["region"], ZONE: data["zone"]}
    capacity = {resource: data[resource] for resource in ("cpu", "memory", "pods")}
    return without_empty(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": without_empty(labels) | data["labels"],
                "annotations": {IMAGEFS: data["imagefs"]},
            },
            "spec": {"unschedulable": data["unschedulable"], "taints": data["taints"]},
            "status": {"capacity": capacity | data["extended"]},
        }
    )


def pod(name: str, data: dict[str, Any]) -> Manifest:
    """Return a Pod with one container."""
    metadata = {"name": name, "namespace": data["namespace"], "labels": data["labels"]}
    return without_empty({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _pod_spec(data)})


def workload(name: str, data: dict[str, Any]) -> Manifest:
    """Return a workload of the kind ``workload`` in the form, with the pod's fields as its template."""
    kind = data["workload"]
    labels = data["labels"] or {"app": name}
    template = {"metadata": {"labels": labels}, "spec": _pod_spec(data | {"labels": labels})}
    version, spec_of = WORKLOADS[kind]
    return without_empty(
        {
            "apiVersion": version,
            "kind": kind,
            "metadata": {"name": name, "namespace": data["namespace"]},
            "spec": spec_of(name, data, {"selector": {"matchLabels": labels}, "template": template}),
        }
    )


def priority_class(name: str, data: dict[str, Any]) -> Manifest:
    """Return a PriorityClass."""
    return without_empty(
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
    """Return a PodDisruptionBudget. An empty selector stays: it selects all pods, a missing one selects none."""
    manifest = without_empty(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": data["namespace"]},
            "spec": {
                "minAvailable": whole_number(data["min_available"]),
                "maxUnavailable": whole_number(data["max_unavailable"]),
            },
        }
    )
    selector = {"matchLabels": data["selector"]} if data["selector"] else {}
    return manifest | {"spec": manifest.get("spec", {}) | {"selector": selector}}


def claim(name: str, data: dict[str, Any]) -> Manifest:
    """Return a PersistentVolumeClaim."""
    return without_empty(
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


def _job(name: str, data: dict[str, Any], rest: Manifest) -> Manifest:
    """Return the spec of a Job. It has no selector: Kubernetes creates it."""
    template = rest["template"]
    ending = {**template, "spec": {"restartPolicy": "Never", **template["spec"]}}
    return {"completions": data["completions"], "parallelism": data["parallelism"], "template": ending}


WORKLOADS: dict[str, tuple[str, Callable[[str, dict[str, Any], Manifest], Manifest]]] = {
    "Deployment": ("apps/v1", lambda name, data, rest: {"replicas": data["replicas"], **rest}),
    "StatefulSet": ("apps/v1", lambda name, data, rest: {"replicas": data["replicas"], "serviceName": name, **rest}),
    "DaemonSet": ("apps/v1", lambda name, data, rest: rest),
    "Job": ("batch/v1", _job),
}
"""Kind → its apiVersion, and the function that returns its spec."""


def _pod_spec(data: dict[str, Any]) -> Manifest:
    ports = [{"containerPort": data["host_port"], "hostPort": data["host_port"]}] if data["host_port"] else []
    entries = data["device_claims"]
    resources = {
        "requests": {"cpu": data["cpu"], "memory": data["memory"]},
        "limits": data["extended"],
        "claims": [{"name": entry["name"]} for entry in entries if entry["name"]],
    }
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
        "tolerations": [
            {**row, "tolerationSeconds": whole_number(row["tolerationSeconds"])} for row in data["tolerations"]
        ],
        "topologySpreadConstraints": [_spread(row, data["labels"]) for row in data["spread"]],
        "containers": [{"name": "main", "image": data["image"] or IMAGE, "resources": resources, "ports": ports}],
        "volumes": volumes,
        "resourceClaims": entries,
    }


def _spread(row: Row, labels: dict[str, str]) -> Manifest:
    """Return a spread constraint. Without a selector in the row, it selects pods with this pod's own labels."""
    return {
        "maxSkew": whole_number(row["maxSkew"]),
        "topologyKey": row["topologyKey"],
        "whenUnsatisfiable": row["whenUnsatisfiable"],
        "minDomains": whole_number(row["minDomains"]),
        "nodeAffinityPolicy": row["nodeAffinityPolicy"],
        "nodeTaintsPolicy": row["nodeTaintsPolicy"],
        "labelSelector": {"matchLabels": pairs(row["labelSelector"]) or labels},
        "matchLabelKeys": listed(row["matchLabelKeys"]),
    }


def _node_affinity(rows: list[Row]) -> Manifest:
    terms = [(row, {"matchExpressions": _expressions(row)}) for row in rows]
    required = [term for row, term in terms if row["rule"] == "required"]
    preferred = [
        {"weight": whole_number(row["weight"]), "preference": term} for row, term in terms if row["rule"] == "preferred"
    ]
    return {RULES["required"]: {"nodeSelectorTerms": required} if required else {}, RULES["preferred"]: preferred}


def _pod_affinity(data: dict[str, Any]) -> Manifest:
    affinity: Manifest = {}
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
        entry = term if row["rule"] == "required" else {"weight": whole_number(row["weight"]), "podAffinityTerm": term}
        affinity.setdefault(row["kind"], {}).setdefault(RULES[row["rule"]], []).append(entry)
    return affinity


def _expressions(row: Row) -> list[Manifest]:
    return [{**expression, "values": listed(expression["values"])} for expression in row["rows"]]


def listed(text: str) -> list[str]:
    """Return the values in a text, separated by line ends or commas."""
    return [part.strip() for part in re.split(r"[,\n]", text) if part.strip()]


def pairs(text: str) -> dict[str, str]:
    """Return the ``key=value`` pairs in a text, separated by line ends or commas."""
    parts = (pair.partition("=") for pair in listed(text))
    return {key.strip(): value.strip() for key, _, value in parts}


def whole_number(text: str) -> int | str:
    """Return a text as a whole number, or the text itself, which the API server will judge."""
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,19}", text) else text


def without_empty(value: Any) -> Any:
    """Return a value without empty members, at every depth. Empty values of labels stay: they mean something."""
    if isinstance(value, list):
        return [without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {key: item if key in PAIRS else without_empty(item) for key, item in value.items()}
    return {
        key: item
        for key, item in members.items()
        if item is not None and item is not False and item not in ("", [], {})
    }
