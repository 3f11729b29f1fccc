"""One more node of the shape of an existing one, as a remedy for a pod that fits nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_engine.answers.changes import Change, Edit, change, fresh
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.simulation import Simulation

CONDITION_TAINTS = "node.kubernetes.io/"
"""Taints with this prefix follow from a node's condition or cordon: a new node has none of them."""
LEFT_OUT = ("conditions", "nodeInfo", "addresses", "volumesAttached", "volumesInUse")


def new_nodes(simulation: Simulation) -> Iterator[Change]:
    """Yield one more node of each shape: nodes that differ in more than their name, in the API server's order."""
    nodes = simulation.api.list("Node")
    shapes: dict[str, None] = {}
    for node in nodes:
        name = _free_name(simulation, node.name)
        manifest = _another(node, name)
        shape = repr(_another(node, ""))
        if shape not in shapes:
            shapes[shape] = None
            yield change("node", [Edit("Node", name, "create", value=manifest)], len(shapes), node=name, like=node.name)


def _free_name(simulation: Simulation, name: str) -> str:
    number = 2
    while simulation.api.get("Node", f"{name}-{number}") is not None:
        number += 1
    return f"{name}-{number}"


def _another(node: KubeObject, name: str) -> dict[str, object]:
    manifest = fresh(node.manifest)
    labels = {**node.labels, **({HOSTNAME: name} if HOSTNAME in node.labels else {})}
    manifest["metadata"] = {"name": name, "labels": labels}
    taints = [item for item in node.spec.get("taints") or () if not item["key"].startswith(CONDITION_TAINTS)]
    manifest["spec"] = {"taints": taints} if taints else {}
    manifest["status"] = {key: value for key, value in node.status.items() if key not in LEFT_OUT}
    return manifest
