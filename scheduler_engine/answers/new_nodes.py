"""New nodes of the shape of existing ones: as a remedy for a pod that fits nowhere, and for counts of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_engine.answers.changes import Change, Edit, change
from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.simulation import Simulation

CONDITION_TAINTS = "node.kubernetes.io/"
"""Taints with this prefix follow from a node's condition or cordon: a new node has none of them."""
LONGEST_BASE = 55
"""Of a label's 63 characters, as many as leave room for a number."""
SHAPE = ("capacity", "allocatable")
"""What a new node has of another one's status."""


def new_nodes(simulation: Simulation) -> Iterator[Change]:
    """Yield one more node of each shape: nodes that differ in more than their name, in the API server's order."""
    nodes = simulation.api.list("Node")
    shapes: dict[str, None] = {}
    for node in nodes:
        name = free_name(simulation, node.name)
        manifest, shape = node_like(node.manifest, name), repr(node_like(node.manifest, ""))
        if shape not in shapes:
            shapes[shape] = None
            yield change("node", [Edit("Node", name, "create", value=manifest)], len(shapes), node=name, like=node.name)


def free_name(simulation: Simulation, name: str) -> str:
    """Return a name for another node like ``name`` that no node has, and that its hostname label can hold."""
    base, number = name[:LONGEST_BASE].rstrip("-."), 2
    while simulation.api.get("Node", f"{base}-{number}") is not None:
        number += 1
    return f"{base}-{number}"


def node_like(shape: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a node of the shape of another one, as it joins the cluster: ready, not cordoned, without images."""
    metadata, spec, status = (shape.get(part) or {} for part in ("metadata", "spec", "status"))
    labels = {key: name if key == HOSTNAME else value for key, value in (metadata.get("labels") or {}).items()}
    taints = [taint for taint in spec.get("taints") or () if not taint["key"].startswith(CONDITION_TAINTS)]
    annotations = {**(metadata.get("annotations") or {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, **({"annotations": annotations} if annotations else {})},
        "spec": {"taints": taints} if taints else {},
        "status": {part: status[part] for part in SHAPE if part in status},
    }
