"""How many more nodes of a shape a number of copies of a pod needs.

Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_engine.answers.copies import schedule
from scheduler_engine.answers.looking import scratch
from scheduler_engine.answers.new_nodes import free_name, node_like
from scheduler_engine.answers.room import Room, room
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.validation import validate
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.simulation import Simulation


@dataclass(frozen=True, slots=True)
class NodesNeeded:
    """``nodes``: the least number of new nodes; None: no number helps. ``room``: with these nodes, or with as many new
    nodes as copies. It has at most the wanted number of copies.
    """

    nodes: int | None
    room: Room


def nodes_needed(
    simulation: Simulation,
    manifest: Mapping[str, Any],
    copies: int,
    shape: Mapping[str, Any],
    trying: Callable[[int], None] | None = None,
) -> NodesNeeded:
    """Return how many new nodes of ``shape``, a node's manifest, are needed for ``copies`` of a pod.

    ``trying``: called with each number of new nodes before it is tried.
    The number is the least one if more nodes never hold fewer copies: it is enough, and one fewer is not. Raises
    Rejected as ``room`` does, and for an invalid node.
    """
    tried: dict[int, Room] = {}

    def enough(nodes: int) -> bool:
        if trying is not None:
            trying(nodes)
        tried[nodes] = room(with_nodes(simulation, shape, nodes), manifest, copies)
        return tried[nodes].stopped is None

    low, high = -1, 0
    while not enough(high):
        if high >= copies:
            return NodesNeeded(None, tried[high])
        low, high = high, min(copies, max(1, 2 * high))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return NodesNeeded(high, tried[high])


def with_nodes(simulation: Simulation, shape: Mapping[str, Any], count: int) -> Simulation:
    """Return a scratch copy with ``count`` new nodes, on which the pods of DaemonSets have taken their places.

    Raises Rejected for an invalid node.
    """
    twin = scratch(simulation)
    older = {pod.uid for pod in twin.api.pods()}
    for _ in range(count):
        _create(twin, shape)
    twin.deliver()
    for pod in twin.api.pods():
        owner = pod.controller_ref
        if pod.uid not in older and owner is not None and owner["kind"] == "DaemonSet":
            schedule(twin, pod, "")
            twin.scheduler.cycle = None
    return twin


def _create(twin: Simulation, shape: Mapping[str, Any]) -> None:
    base = shape.get("metadata", {}).get("name", "node")
    name = free_name(twin, base)
    manifest = node_like(shape, name)
    if errors := validate(manifest, 0, rules=twin.rules):
        raise Rejected(errors)
    try:
        twin.api.create(set_defaults(manifest))
    except ApiError as problem:
        raise Rejected([FieldError("", problem.reason, problem.message, 0, object_name=f"Node {name}")]) from problem
    limits = twin.api.get("CSINode", base)
    if limits is not None:
        drivers = [{**driver, "nodeID": name} for driver in limits.spec.get("drivers") or ()]
        metadata = {"name": name}
        twin.api.create(
            {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata, "spec": {"drivers": drivers}}
        )
