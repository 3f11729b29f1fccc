"""Scoring by resource use: LeastAllocated, MostAllocated, RequestedToCapacityRatio and balanced allocation.

All of them use the same rows, one per configured resource that the node has: its capacity, the requests including the
pod, and the resource's weight.
Source: seed 002 §8; upstream ``plugins/noderesources/resource_allocation.go`` and its strategies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from scheduler_engine.api.pod_resources import amount, is_scalar_resource
from scheduler_engine.framework.amounts import MOST, IntArray, NodeAmounts
from scheduler_engine.framework.interface import MAX_NODE_SCORE
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes

MAX_UTILIZATION = 100

Wish = tuple[str, int, int]
"""(resource, weight, the pod's request for it in millicores or whole units)"""
Row = tuple[int, int, int]
"""(capacity, requested with the pod, weight)"""
Point = tuple[int, int]
"""(utilization in percent, score)"""
Shape = tuple[Point, ...]
"""By ascending utilization."""
Balance = TypeVar("Balance", int, IntArray)


@dataclass(frozen=True, slots=True)
class Strategy:
    """The scoring of NodeResourcesFit: ``resources`` ((name, weight), …); RequestedToCapacityRatio has a ``shape``."""

    type: str
    resources: tuple[tuple[str, int], ...]
    shape: Shape = ()

    def score(self, rows: Sequence[Row]) -> int:
        if self.type == "RequestedToCapacityRatio":
            return requested_to_capacity_ratio(rows, self.shape)
        return weighted_mean(rows, PER_RESOURCE[self.type])


def strategy_from(args: Mapping[str, Any]) -> Strategy:
    """Read ``scoringStrategy`` of NodeResourcesFitArgs. Shape scores are scaled from 0–10 to 0–100."""
    manifest = args.get("scoringStrategy") or {}
    points = (manifest.get("requestedToCapacityRatio") or {}).get("shape") or ()
    scale = MAX_NODE_SCORE // 10
    shape = tuple((point.get("utilization") or 0, (point.get("score") or 0) * scale) for point in points)
    return Strategy(manifest.get("type") or "LeastAllocated", resource_specs(manifest), shape)


def resource_specs(manifest: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """Return (name, weight) of every configured resource."""
    return tuple((item["name"], item.get("weight") or 1) for item in manifest.get("resources") or ())


def wishes(resources: Sequence[tuple[str, int]], requests: Mapping[str, int]) -> tuple[Wish, ...]:
    """Return the requests (from nano-units) for the configured resources."""
    return tuple((name, weight, amount(name, requests.get(name, 0))) for name, weight in resources)


def rows_on_node(wanted: Sequence[Wish], node_info: NodeInfo, *, non_zero: bool, with_pod: bool = True) -> list[Row]:
    """Return the node's rows, without resources that it lacks and extended ones that the pod does not request.

    ``non_zero``: running containers without a request of cpu or memory count with the defaults. ``with_pod``: count the
    pod's own request.
    """
    allocatable, used = node_info.allocatable, node_info.requested
    basic = node_info.non_zero_requested if non_zero else used
    rows: list[Row] = []
    for name, weight, wish in wanted:
        if name == "cpu":
            have, taken = allocatable.milli_cpu, basic.milli_cpu
        elif name == "memory":
            have, taken = allocatable.memory, basic.memory
        elif name == "ephemeral-storage":
            have, taken = allocatable.ephemeral_storage, used.ephemeral_storage
        elif wish == 0 and is_scalar_resource(name):
            continue
        else:
            have, taken = allocatable.scalar.get(name, 0), used.scalar.get(name, 0)
        if have:
            rows.append((have, taken + wish if with_pod else taken, weight))
    return rows


def least_allocated(capacity: int, requested: int) -> int:
    return 0 if requested > capacity else (capacity - requested) * MAX_NODE_SCORE // capacity


def most_allocated(capacity: int, requested: int) -> int:
    return min(requested, capacity) * MAX_NODE_SCORE // capacity


PER_RESOURCE: dict[str, Callable[[int, int], int]] = {
    "LeastAllocated": least_allocated,
    "MostAllocated": most_allocated,
}


def weighted_mean(rows: Sequence[Row], resource_score: Callable[[int, int], int]) -> int:
    total = weights = 0
    for capacity, requested, weight in rows:
        total += resource_score(capacity, requested) * weight
        weights += weight
    return total // weights if weights else 0


def requested_to_capacity_ratio(rows: Sequence[Row], shape: Shape) -> int:
    """Return the weighted mean, rounded half up, without the resources that score 0."""
    total = weights = 0
    for capacity, requested, weight in rows:
        score, _, _ = broken_line(shape, utilization_of(capacity, requested))
        if score > 0:
            total += score * weight
            weights += weight
    return rounded_mean(total, weights)


def utilization_of(capacity: int, requested: int) -> int:
    """Return a percentage, cut to a whole number."""
    return MAX_UTILIZATION if requested > capacity else requested * MAX_UTILIZATION // capacity


def rounded_mean(total: int, weights: int) -> int:
    return (2 * total + weights) // (2 * weights) if weights else 0


def broken_line(shape: Shape, utilization: int) -> tuple[int, Point, Point]:
    """Return the score on the line through the points, and the points before and after; fractions are cut towards zero.

    Outside the points the line is level, and both are the outermost one.
    """
    before = after = shape[0]
    for after in shape:
        if utilization <= after[0]:
            break
        before = after
    left, low = before
    right, high = after
    if left == right:
        return high, before, after
    rise = (high - low) * (utilization - left)
    step = abs(rise) // (right - left)
    return low + (step if rise >= 0 else -step), before, after


def balanced_allocation(rows: Sequence[Row]) -> int:
    """Return 100 if all resources would have the same fraction in use; less by their standard deviation."""
    return int(balance(rows)[2])


def balance_change(rows: Sequence[Row], before: Sequence[Row]) -> int:
    """Return 75 if the pod does not change the balance, up to 100 if it improves it, down to 50 if it disturbs it.

    ``before``: the rows without the pod.
    """
    return scaled_change(balanced_allocation(rows), balanced_allocation(before))


def scaled_change(after: Balance, before: Balance) -> Balance:
    """Return the score of a change between two balances, numbers or arrays of them."""
    half = MAX_NODE_SCORE // 2
    return half + (half + after - before) // 2


def balance(rows: Sequence[Row]) -> tuple[list[float], float, float]:
    """Return the used fraction of each resource, 0 to 1, the standard deviation, and the score before it is cut."""
    fractions = [1.0 if requested > capacity else float(requested) / float(capacity) for capacity, requested, _ in rows]
    deviation = 0.0
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        middle = mean(fractions)
        deviation = math.sqrt(mean([(fraction - middle) * (fraction - middle) for fraction in fractions]))
    return fractions, deviation, (1 - deviation) * MAX_NODE_SCORE


def mean(numbers: Sequence[float]) -> float:
    """Add one after the other, as Go does; ``sum`` corrects rounding errors since Python 3.12."""
    total = 0.0
    for number in numbers:
        total += number
    return total / len(numbers)


# --- all nodes at once ---


class Column(NamedTuple):
    """The rows of one resource on many nodes; a ``capacity`` of 0 means that the node has no such row.

    ``wish`` is the pod's part of ``requested``.
    """

    capacity: IntArray
    requested: IntArray
    weight: int
    wish: int

    def without_pod(self) -> Column:
        return self._replace(requested=self.requested - self.wish, wish=0)


def columns_of(wanted: Sequence[Wish], nodes: Nodes, amounts: NodeAmounts, *, non_zero: bool) -> list[Column] | None:
    """Return for each resource what ``rows_on_node`` returns for each node; None if a node or the pod has an amount
    that is too large to be counted in 64 bits.
    """
    if amounts.large or any(wish > MOST for _, _, wish in wanted):
        return None
    slots, used = nodes.slots, amounts.non_zero_requested if non_zero else amounts.requested
    return [
        Column(amounts.allocatable(name)[slots], used(name)[slots] + wish, weight, wish)
        for name, weight, wish in wanted
        if wish or not is_scalar_resource(name)
    ]


def _least_allocated_all(capacity: IntArray, requested: IntArray) -> IntArray:
    score: IntArray = np.maximum(capacity - requested, 0) * MAX_NODE_SCORE // np.maximum(capacity, 1)
    return score


def _most_allocated_all(capacity: IntArray, requested: IntArray) -> IntArray:
    score: IntArray = np.minimum(requested, capacity) * MAX_NODE_SCORE // np.maximum(capacity, 1)
    return score


ManyScores = Callable[[IntArray, IntArray], IntArray]
PER_RESOURCE_ALL: dict[str, ManyScores] = {
    "LeastAllocated": _least_allocated_all,
    "MostAllocated": _most_allocated_all,
}


def weighted_mean_all(columns: Sequence[Column], resource_scores: ManyScores, nodes: int) -> IntArray:
    """Return the scores of so many nodes."""
    total = weights = np.zeros(nodes, dtype=np.int64)
    for capacity, requested, weight, _ in columns:
        has = capacity != 0
        total = total + np.where(has, resource_scores(capacity, requested) * weight, 0)
        weights = weights + np.where(has, weight, 0)
    return total // np.maximum(weights, 1)


def balanced_allocation_all(columns: Sequence[Column]) -> IntArray:
    """Return the scores of nodes that have all resources, added in the order of ``balance``."""
    fractions = [
        np.where(requested > capacity, 1.0, requested.astype(np.float64) / capacity.astype(np.float64))
        for capacity, requested, _, _ in columns
    ]
    deviation = np.zeros(len(fractions[0]))
    if len(fractions) == 2:
        deviation = np.abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        middle = _mean_all(fractions)
        deviation = np.sqrt(_mean_all([(fraction - middle) * (fraction - middle) for fraction in fractions]))
    return ((1 - deviation) * MAX_NODE_SCORE).astype(np.int64)


def balance_change_all(columns: Sequence[Column], before: Sequence[Column]) -> IntArray:
    """Return what ``balance_change`` returns for each node."""
    return scaled_change(balanced_allocation_all(columns), balanced_allocation_all(before))


def _mean_all(numbers: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    total = np.zeros(len(numbers[0]))
    for number in numbers:
        total = total + number
    return total / len(numbers)
