"""Compare what a group of pods needs with what all nodes have left.

Source: kubernetes-sigs/scheduler-plugins ``pkg/coscheduling/core/core.go`` and ``pkg/util/resource.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_engine.api.pod_groups import group_of
from scheduler_engine.api.pod_resources import Resource
from scheduler_engine.api.quantity import NANO, Quantity, added, negated, parse_quantity
from scheduler_engine.framework.node_info import NodeInfo


def resource_gap(nodes: Sequence[NodeInfo], needed: Mapping[str, str | int], group: str) -> str:
    """Return what is missing, as Go prints a map of quantities; "" if the nodes together have enough.

    Pods of the ``group`` do not count as using anything. Where the pods would go is not asked: a sum over nodes says
    nothing about a single one.
    """
    missing = {name: parse_quantity(quantity) for name, quantity in needed.items()}
    for node in nodes:
        left = _left(node, group)
        for name, quantity in tuple(missing.items()):
            rest = added(quantity, negated(left.get(name, Quantity(0, wide=False))))
            if rest.nano <= 0:
                del missing[name]
            else:
                missing[name] = rest
        if not missing:
            return ""
    return f"map[{' '.join(f'{name}:{_in_go(missing[name])}' for name in sorted(missing))}]"


def _left(node: NodeInfo, group: str) -> dict[str, Quantity]:
    """Return what the node has free without the pods of the group."""
    own = [info for info in node.pods if group_of(info.pod) == group]
    free = node.allocatable.clone()
    free.add(node.requested, sign=-1)
    for info in own:
        free.add(info.resource.request)
    return _quantities(free, node.allocatable.allowed_pod_number - len(node.pods) + len(own))


def _quantities(free: Resource, pods: int) -> dict[str, Quantity]:
    cpu = Quantity(free.milli_cpu * NANO // 1000, "DecimalSI", "", free.milli_cpu, -3, wide=False)
    sizes = {"memory": free.memory, "pods": pods, "ephemeral-storage": free.ephemeral_storage}
    notations = {name: "BinarySI" if name.startswith("hugepages-") else "DecimalSI" for name in free.scalar}
    counted = {**sizes, **free.scalar}
    return {"cpu": cpu} | {
        name: Quantity(number * NANO, notations.get(name, "BinarySI"), "", number, 0, wide=False)
        for name, number in counted.items()
    }


def _in_go(quantity: Quantity) -> str:
    """Return the fields of a Go quantity after a subtraction, which has no text of its own."""
    return f"{{{{{quantity.digits} {quantity.scale}}} {{<nil>}}  {quantity.notation}}}"
