"""NodeResourcesFit's score in words and numbers: how full a node would be.

Source: seed 002 §8; upstream ``plugins/noderesources/{resource_allocation,least_allocated,most_allocated,
requested_to_capacity_ratio}.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.panels.explain.model import Case, Explanation, Line, as_it_is, bare, names, written
from sandbox.panels.words.say import say
from scheduler_engine.api.pod_resources import DEFAULT_REQUESTS, amount, is_scalar_resource, pod_requests

DEFAULT_RESOURCES: tuple[Mapping[str, Any], ...] = ({"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1})
Shape = tuple[tuple[int, int], ...]
"""((utilization in percent, score 0–100), …) by rising utilization."""


@dataclass(frozen=True, slots=True)
class Row:
    """One resource of the node. ``counted``: who counts with a default because it asks for none."""

    name: str
    weight: int
    capacity: int
    used: int
    asked: int
    counted: tuple[str, ...] = ()

    @property
    def requested(self) -> int:
        return self.used + self.asked

    @property
    def note(self) -> str:
        used, asked, capacity = written(self.name, self.used, self.asked, self.capacity)
        if not self.counted:
            return say("allocation.used-and-asked", used=used, asked=asked, capacity=capacity)
        return say(
            "allocation.used-and-asked-with-defaults",
            used=used,
            asked=asked,
            capacity=capacity,
            default="100m" if self.name == "cpu" else "200Mi",
            names=names(self.counted),
        )

    def line(self, kind: str, formula: str, unit: str) -> Line:
        note = f"{self.note} {say('allocation.in-unit', unit=unit)}" if unit else self.note
        return Line(f"{kind} {self.name}", formula, note)


def _resources(manifest: Mapping[str, Any]) -> list[tuple[str, int]]:
    return [(item["name"], item.get("weight") or 1) for item in manifest.get("resources") or DEFAULT_RESOURCES]


def rows_of(case: Case, manifest: Mapping[str, Any], defaults: bool) -> tuple[list[Row], list[Line]]:
    """Rows of the resources that count, and lines on those that do not.

    ``defaults``: containers without a request of cpu or memory count, in the pod and on the node.
    """
    plain = pod_requests(case.pod, use_status=False, pod_level=False) if defaults else pod_requests(case.pod)
    full = pod_requests(case.pod, use_status=False, pod_level=False, defaults=DEFAULT_REQUESTS) if defaults else plain
    rows, left_out = [], []
    for name, weight in _resources(manifest):
        asked, capacity = amount(name, full.get(name, 0)), case.info.allocatable.of(name)
        if asked == 0 and is_scalar_resource(name):
            left_out.append(Line(name, say("explain.left-out"), say("allocation.not-asked-for", pod=case.name)))
        elif capacity == 0:
            left_out.append(Line(name, say("explain.left-out"), say("allocation.node-has-none")))
        else:
            used, counted = case.info.requested.of(name), list[str]()
            if defaults and name in ("cpu", "memory"):
                used, counted = _non_zero(case, name)
                if full.get(name, 0) != plain.get(name, 0):
                    counted.append(case.pod.key)
            rows.append(Row(name, weight, capacity, used, asked, tuple(counted)))
    return rows, left_out


def _non_zero(case: Case, name: str) -> tuple[int, list[str]]:
    """What the node's pods count for in scoring, and which of them count more than they ask."""
    basic = case.info.non_zero_requested
    counted = [
        info.pod.key
        for info in case.here
        if (info.resource.non_zero_milli_cpu if name == "cpu" else info.resource.non_zero_memory)
        != info.resource.request.of(name)
    ]
    return (basic.milli_cpu if name == "cpu" else basic.memory), counted


def fit_score(case: Case) -> Explanation:
    strategy = case.args.get("scoringStrategy") or {}
    rows, left_out = rows_of(case, strategy, defaults=True)
    kind = strategy.get("type") or "LeastAllocated"
    if kind == "RequestedToCapacityRatio":
        points = (strategy.get("requestedToCapacityRatio") or {}).get("shape") or ()
        shape = tuple((point.get("utilization") or 0, (point.get("score") or 0) * 10) for point in points)
        return _ratio(case, rows, left_out, shape)
    judge, key = PER_RESOURCE[kind]
    lines, scores = [], []
    for row in rows:
        score, formula, unit = judge(row)
        scores.append((score, row.weight))
        lines.append(row.line(kind, formula, unit))
    mean, line = _mean(scores)
    return as_it_is(say(key, node=case.node.name, pod=case.name, mean=mean), [*lines, *left_out, line], mean)


def _least(row: Row) -> tuple[int, str, str]:
    (requested, capacity), unit = bare(row.name, row.requested, row.capacity)
    if row.requested > row.capacity:
        return 0, say("allocation.over", requested=requested, capacity=capacity), unit
    score = (row.capacity - row.requested) * 100 // row.capacity
    return score, f"({capacity} − {requested}) × 100 / {capacity} = {score}", unit


def _most(row: Row) -> tuple[int, str, str]:
    (requested, capacity), unit = bare(row.name, min(row.requested, row.capacity), row.capacity)
    score = min(row.requested, row.capacity) * 100 // row.capacity
    return score, f"{requested} × 100 / {capacity} = {score}", unit


PER_RESOURCE: dict[str, tuple[Callable[[Row], tuple[int, str, str]], str]] = {
    "LeastAllocated": (_least, "allocation.least-allocated"),
    "MostAllocated": (_most, "allocation.most-allocated"),
}
"""Type of the strategy → how it scores a resource, and the key of its sentence."""


def _mean(scores: Sequence[tuple[int, int]]) -> tuple[int, Line]:
    weights = sum(weight for _, weight in scores)
    if not weights:
        return 0, Line(say("explain.raw"), "0", say("allocation.nothing-counts"))
    total = sum(score * weight for score, weight in scores)
    mean = total // weights
    summed = " + ".join(f"{score} × {weight}" for score, weight in scores)
    return mean, Line(say("explain.raw"), f"({summed}) / {weights} = {mean}", say("allocation.mean-cut"))


def _ratio(case: Case, rows: list[Row], left_out: list[Line], shape: Shape) -> Explanation:
    """Resources that score 0 are left out of the mean; it is rounded half up."""
    lines, scores = [], []
    for row in rows:
        use = 100 if row.requested > row.capacity else row.requested * 100 // row.capacity
        score, how = broken_line(shape, use)
        (requested, capacity), unit = bare(row.name, row.requested, row.capacity)
        formula = f"{requested} × 100 / {capacity} = {use} %; {how}"
        lines.append(row.line("RequestedToCapacityRatio", formula, unit))
        if score > 0:
            scores.append((score, row.weight))
    raw, formula = _rounded(scores)
    lines.append(Line(say("explain.raw"), formula, say("allocation.mean-rounded")))
    if scores:
        tenth = _rounded([(score // 10, weight) for score, weight in scores])[1]
        lines.append(Line(say("allocation.from-0-to-10"), tenth, say("allocation.from-0-to-10-note")))
    points = ", ".join(f"{use} %: {score}" for use, score in shape)
    lines.append(Line(say("allocation.shape"), points, say("allocation.shape-note")))
    text = say("allocation.ratio", node=case.node.name, score=raw, pod=case.name)
    return as_it_is(text, [*lines, *left_out], raw)


def broken_line(shape: Shape, use: int) -> tuple[int, str]:
    """The score on the line through the points, level outside them, and how it comes about."""
    for index, (right, high) in enumerate(shape):
        if use > right:
            continue
        if index == 0:
            return high, say("allocation.below-the-line", use=right, score=high)
        left, low = shape[index - 1]
        rise = (high - low) * (use - left)
        score = low + (abs(rise) // (right - left)) * (1 if rise >= 0 else -1)
        return score, f"{low} + ({high} − {low}) × ({use} − {left}) / ({right} − {left}) = {score}"
    right, high = shape[-1]
    return high, say("allocation.above-the-line", use=right, score=high)


def _rounded(scores: Sequence[tuple[int, int]]) -> tuple[int, str]:
    """The mean of (score, weight) rounded half up, and its formula."""
    weights, total = sum(weight for _, weight in scores), sum(score * weight for score, weight in scores)
    if not weights:
        return 0, "0"
    mean = (2 * total + weights) // (2 * weights)
    return mean, f"({' + '.join(f'{score} × {weight}' for score, weight in scores)}) / {weights} = {mean}"
