"""Facts behind the scores by resource use: the row of each resource, and how the rows become a score.

Source: seed 002 §8; upstream ``plugins/noderesources/resource_allocation.go`` and its strategies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import DEFAULT_REQUESTS, amount
from scheduler_engine.framework.facts import Amount, Fact, Facts, Keys, Sum, Value, cut, fact
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.plugins.resource_allocation import (
    PER_RESOURCE,
    Row,
    Shape,
    Strategy,
    Wish,
    balance,
    balanced_allocation,
    broken_line,
    mean,
    rounded_mean,
    rows_on_node,
    scaled_change,
    utilization_of,
)
from scheduler_engine.plugins.score_facts import as_it_is


class Use(NamedTuple):
    """The row of one resource: the node's capacity, its use and the pod's request."""

    resource: str
    asked: int
    row: Row

    @property
    def over(self) -> bool:
        capacity, requested, _ = self.row
        return requested > capacity

    def amounts(self) -> dict[str, Value]:
        capacity, requested, _ = self.row
        used = requested - self.asked
        numbers = {"used": used, "asked": self.asked, "requested": requested, "capacity": capacity}
        return {"resource": self.resource, **{word: Amount(self.resource, number) for word, number in numbers.items()}}


def _uses(wanted: Sequence[Wish], pod: Pod, info: NodeInfo, *, non_zero: bool) -> tuple[list[Use], list[Fact]]:
    """Return the resources with a row on the node, and why others have none."""
    uses: list[Use] = []
    left_out: list[Fact] = []
    for name, weight, wish in wanted:
        rows = rows_on_node(((name, weight, wish),), info, non_zero=non_zero)
        uses += [Use(name, wish, row) for row in rows]
        if not rows:
            if_asked_for = rows_on_node(((name, weight, 1),), info, non_zero=non_zero)
            key = "allocation.not-asked-for" if if_asked_for else "allocation.node-has-none"
            left_out.append(fact(key, resource=name, pod=Keys((pod.key,))))
    return uses, left_out


# --- NodeResourcesFit ---


def fit_facts(
    strategy: Strategy, wanted: Sequence[Wish], plain: Sequence[Wish], pod: Pod, info: NodeInfo, beside: Sequence[Fact]
) -> Facts:
    """Explain the pod's score on a node. ``plain``: its wishes without defaults; ``beside``: their components."""
    uses, left_out = _uses(wanted, pod, info, non_zero=True)
    raw = strategy.score([use.row for use in uses])
    if strategy.type == "RequestedToCapacityRatio":
        says, shown = "allocation.ratio", _ratio(uses, strategy.shape, raw)
    else:
        most = strategy.type == "MostAllocated"
        says = "allocation.most-allocated" if most else "allocation.least-allocated"
        shown = _allocated(uses, strategy.type, raw)
    if not uses:
        says = "allocation.nothing-counts"
    defaulted = [name for (name, _, wish), (_, _, bare) in zip(wanted, plain, strict=True) if wish != bare]
    shown += [item for use in uses for item in _defaults(use.resource, pod, info, use.resource in defaulted)]
    conclusion = fact(says, node=info.name, pod=Keys((pod.key,)), raw=raw)
    return as_it_is(conclusion, (*shown, *left_out, *beside), raw)


def _allocated(uses: Sequence[Use], kind: str, raw: int) -> list[Fact]:
    shown, scores = list[Fact](), list[tuple[int, int]]()
    row = {"LeastAllocated": "least", "MostAllocated": "most"}[kind]
    rests = (0 if use.over else 100 * use.row[1] % use.row[0] for use in uses)
    for use, remark in zip(uses, cut(*rests), strict=True):
        capacity, requested, weight = use.row
        score = PER_RESOURCE[kind](capacity, requested)
        scores.append((score, weight))
        key = f"allocation.{row}-over" if use.over else f"allocation.{row}"
        shown.append(fact(key, score=score, cut=remark, **use.amounts()))
    return [*shown, _mean("allocation.mean", scores, raw)]


def _ratio(uses: Sequence[Use], shape: Shape, raw: int) -> list[Fact]:
    shown, scores = list[Fact](), list[tuple[int, int]]()
    rests = [rest for use in uses for rest in _rests(use, shape)]
    remarks = cut(*rests)
    for index, use in enumerate(uses):
        capacity, requested, weight = use.row
        percent = utilization_of(capacity, requested)
        over, (remark, on_the_line) = use.over, remarks[2 * index : 2 * index + 2]
        shown.append(
            fact("allocation.use-over" if over else "allocation.use", use=percent, cut=remark, **use.amounts())
        )
        score, (left, low), (right, high) = broken_line(shape, percent)
        key = "line" if left < right else "below-the-line" if percent <= right else "above-the-line"
        points = {"left": left, "low": low, "right": right, "high": high}
        shown.append(
            fact(f"allocation.{key}", resource=use.resource, use=percent, score=score, cut=on_the_line, **points)
        )
        if score > 0:
            scores.append((score, weight))
    shown.append(_mean("allocation.rounded-mean", scores, raw))
    if scores:
        tenths = [(score // 10, weight) for score, weight in scores]
        total, weights = sum(score * weight for score, weight in tenths), sum(weight for _, weight in tenths)
        shown.append(_mean("allocation.from-0-to-10", tenths, rounded_mean(total, weights)))
    return [*shown, fact("allocation.shape", points=", ".join(f"{use} %: {score}" for use, score in shape))]


def _rests(use: Use, shape: Shape) -> tuple[int, int]:
    """Return the remainders of the divisions for the use, and for the score on the line through the points."""
    capacity, requested, _ = use.row
    percent = utilization_of(capacity, requested)
    _, (left, low), (right, high) = broken_line(shape, percent)
    of_the_line = (high - low) * (percent - left) % (right - left) if left < right else 0
    return 0 if use.over else 100 * requested % capacity, of_the_line


def _mean(key: str, scores: Sequence[tuple[int, int]], raw: int) -> Fact:
    weights = sum(weight for _, weight in scores)
    return fact(key if scores else "allocation.no-mean", scores=Sum((*scores,)), weights=weights, raw=raw)


def _defaults(name: str, pod: Pod, info: NodeInfo, by_pod: bool) -> Iterator[Fact]:
    """Name the pods that count more than they request, because containers have no request."""
    pods = [held.pod.key for held in info.pods if held.resource.scored(name) != held.resource.request.of(name)]
    pods += [pod.key] if by_pod else []
    if pods:
        default = Amount(name, amount(name, DEFAULT_REQUESTS[name]))
        yield fact("allocation.default-requests", resource=name, default=default, pods=Keys(pods))


# --- NodeResourcesBalancedAllocation ---


def balance_change_facts(wanted: Sequence[Wish], pod: Pod, info: NodeInfo, beside: Sequence[Fact]) -> Facts:
    """Explain how much ``pod`` changes how evenly the node is used."""
    uses, left_out = _uses(wanted, pod, info, non_zero=False)
    rows = [use.row for use in uses]
    after, before = (
        balanced_allocation(rows),
        balanced_allocation(rows_on_node(wanted, info, non_zero=False, with_pod=False)),
    )
    raw = scaled_change(after, before)
    shown, deviation = _evenness(uses, rows)
    shown.append(fact("balance.after", deviation=deviation, after=after))
    shown.append(fact("balance.before", before=before))
    shown.append(fact("balance.change", after=after, before=before, raw=raw))
    key = "unchanged" if after == before else "improved" if after > before else "disturbed"
    conclusion = fact(f"balance.{key}", node=info.name, pod=Keys((pod.key,)))
    return as_it_is(conclusion, (*shown, *left_out, *beside), raw)


def balance_facts(wanted: Sequence[Wish], pod: Pod, info: NodeInfo, beside: Sequence[Fact]) -> Facts:
    """Explain how evenly the node would be used with ``pod``; here every pod counts with its requests."""
    uses, left_out = _uses(wanted, pod, info, non_zero=False)
    rows = [use.row for use in uses]
    raw = balanced_allocation(rows)
    shown, deviation = _evenness(uses, rows)
    below = raw + 1 - balance(rows)[2] < 0.01
    shown.append(fact("balance.raw-below" if below else "balance.raw", deviation=deviation, raw=raw, whole=raw + 1))
    key = "evenly" if raw >= 90 else "somewhat-unevenly" if raw >= 70 else "very-unevenly"
    conclusion = fact(f"balance.{key}", node=info.name, pod=Keys((pod.key,)))
    return as_it_is(conclusion, (*shown, *left_out, *beside), raw)


def _evenness(uses: Sequence[Use], rows: Sequence[Row]) -> tuple[list[Fact], float]:
    """Return the use of each resource with how far these are apart, and that deviation."""
    fractions, deviation, _ = balance(rows)
    shown = [
        fact("balance.use-over" if use.over else "balance.use", fraction=fraction, **use.amounts())
        for use, fraction in zip(uses, fractions, strict=True)
    ]
    return [*shown, *_deviation(fractions, deviation)], deviation


def nothing_asked(pod: Pod, info: NodeInfo) -> Facts:
    """Explain a score of 0 without PreScore: the pod requests none of the resources."""
    conclusion = fact("balance.nothing-asked", node=info.name, pod=Keys((pod.key,)))
    return as_it_is(conclusion, (), 0)


def _deviation(fractions: Sequence[float], deviation: float) -> Iterator[Fact]:
    if len(fractions) < 2:
        yield fact("balance.deviation-of-none", deviation=deviation)
    elif len(fractions) == 2:
        yield fact("balance.deviation-of-two", first=fractions[0], second=fractions[1], deviation=deviation)
    else:
        yield fact("balance.deviation", mean=mean(fractions), deviation=deviation)
