"""Manifests from what a form holds: plain dicts, in the order in which people write them."""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]

IMAGE = "registry.k8s.io/pause:3.10"
PAIRS = ("labels", "matchLabels", "nodeSelector")


def node(name: str, data: dict[str, Any]) -> Manifest:
    """A Node. Its allocatable is left to the API server's default, which is its capacity."""
    labels = {
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/region": data["region"],
        "topology.kubernetes.io/zone": data["zone"],
    }
    return _without_empty(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": _without_empty(labels) | data["labels"]},
            "spec": {"unschedulable": data["unschedulable"], "taints": [_without_empty(row) for row in data["taints"]]},
            "status": {"capacity": {resource: data[resource] for resource in ("cpu", "memory", "pods")}},
        }
    )


def pod(name: str, data: dict[str, Any]) -> Manifest:
    """A Pod of one container."""
    ports = [{"containerPort": data["host_port"], "hostPort": data["host_port"]}] if data["host_port"] else []
    container = {
        "name": "main",
        "image": IMAGE,
        "resources": {"requests": {"cpu": data["cpu"], "memory": data["memory"]}},
        "ports": ports,
    }
    spec = {
        "schedulingGates": [{"name": gate} for gate in data["gates"]],
        "priorityClassName": data["priority_class"],
        "priority": data["priority"],
        "nodeSelector": data["node_selector"],
        "affinity": _affinity(data),
        "tolerations": [_without_empty(row) for row in data["tolerations"]],
        "topologySpreadConstraints": _spread(data),
        "containers": [container],
    }
    return _without_empty(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": data["namespace"], "labels": data["labels"]},
            "spec": spec,
        }
    )


def _spread(data: dict[str, Any]) -> list[Manifest]:
    """Over the pods that carry the same labels as this one."""
    if not data["spread_key"]:
        return []
    constraint = {
        "maxSkew": data["spread_max_skew"] or 1,
        "topologyKey": data["spread_key"],
        "whenUnsatisfiable": data["spread_when"] or "DoNotSchedule",
        "labelSelector": {"matchLabels": data["labels"]},
    }
    return [constraint]


def _affinity(data: dict[str, Any]) -> Manifest:
    kind, key, values = data["affinity_kind"], data["affinity_key"], data["affinity_values"]
    if kind in ("", "none"):
        return {}
    # Empty only where the visitor left it empty: the API server then names the missing field.
    expression = {"key": key, "operator": "In", "values": values} if values else {"key": key, "operator": "Exists"}
    if kind == "node-required":
        terms = [{"matchExpressions": [expression]}]
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    term = {"labelSelector": {"matchExpressions": [expression]}, "topologyKey": data["affinity_topology"]}
    group = "podAntiAffinity" if kind == "pod-anti-affinity" else "podAffinity"
    return {group: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _without_empty(value: Any) -> Any:
    """Leaves out, at every depth, the members of mappings that say nothing. In labels an empty value says something."""
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: item if key in PAIRS else _without_empty(item) for key, item in value.items()}
    return {key: item for key, item in kept.items() if item not in (None, "", False, [], {})}
