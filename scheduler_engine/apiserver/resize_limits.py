"""The admission plugin PodResizeValidator: a pod is resized only up to what its node has.

Source: upstream ``plugin/pkg/admission/podresize``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.pod_resources import amount, pod_requests
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.apiserver.declared_features import Server
from scheduler_engine.apiserver.errors import forbidden

OS = "kubernetes.io/os"


def check_node_has(server: Server, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Check a pod after a resize against its node. Raises ApiError if the node does not have what the pod requests."""
    node_name, pod = old["spec"].get("nodeName") or "", old["metadata"]["name"]
    if not server.rules.resize_checks_node or not node_name or old["spec"] == new["spec"]:
        return
    node = server.get("Node", node_name)
    if node is None:
        raise forbidden("pods", pod, f'node "{node_name}" not found')
    system = (node.metadata.get("labels") or {}).get(OS, "linux")
    if system != "linux":
        text = f'pod resize is only supported on linux nodes, node "{node_name}" is "{system}"'
        raise forbidden("pods", pod, text)
    if lacking := "; ".join(_lacking(Pod(dict(new)), node)):
        raise forbidden("pods", pod, f"node didn't have enough allocatable resources: {lacking}")


def _lacking(pod: Pod, node: KubeObject) -> Iterator[str]:
    requests, allocatable = pod_requests(pod, use_status=False), node.status.get("allocatable") or {}
    for name in ("cpu", "memory"):
        asked, there = requests.get(name, 0), parse_quantity(allocatable.get(name, "0")).nano
        if asked > there:
            yield f"{name}, requested: {amount(name, asked)}, allocatable: {amount(name, there)}"
