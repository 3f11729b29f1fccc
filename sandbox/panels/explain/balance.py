"""NodeResourcesBalancedAllocation in words and numbers: how evenly a node's resources would be used.

Source: upstream ``plugins/noderesources/balanced_allocation.go``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sandbox.panels.explain.allocation import rows_of
from sandbox.panels.explain.model import Case, Explanation, Line, as_it_is, written


def balanced_score(case: Case) -> Explanation:
    """Here the pod and the node's pods count with what they ask for: no defaults."""
    rows, left_out = rows_of(case, case.args, defaults=False)
    lines, fractions = [], []
    for row in rows:
        fraction = min(row.requested / row.capacity, 1.0)
        fractions.append(fraction)
        requested, capacity = written(row.name, row.requested, row.capacity)
        lines.append(Line(row.name, f"{requested} / {capacity} = {_digits(fraction)}", row.note))
    deviation, formula = _deviation(fractions)
    raw = int((1 - deviation) * 100)
    lines.append(Line("Deviation", formula, "how far the fractions are apart"))
    lines.append(Line("Raw", f"(1 − {_digits(deviation)}) × 100 = {raw}", "cut to a whole number"))
    text = (
        f"With {case.name} on it, the resources of {case.node.name} would be used {_evenly(raw)}; even use is better."
    )
    return as_it_is(text, [*lines, *left_out], raw)


def _evenly(raw: int) -> str:
    return "evenly" if raw >= 90 else "rather unevenly" if raw >= 70 else "very unevenly"


def _deviation(fractions: Sequence[float]) -> tuple[float, str]:
    if len(fractions) < 2:
        return 0.0, "0 (fewer than two resources)"
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
        return deviation, f"|{_digits(fractions[0])} − {_digits(fractions[1])}| / 2 = {_digits(deviation)}"
    mean = _added(fractions) / len(fractions)
    deviation = math.sqrt(_added([(fraction - mean) * (fraction - mean) for fraction in fractions]) / len(fractions))
    return deviation, f"standard deviation around the mean {_digits(mean)} = {_digits(deviation)}"


def _added(numbers: Sequence[float]) -> float:
    """One after the other, as the scheduler does: rounding errors are part of the score."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _digits(number: float) -> str:
    return f"{number:.4f}".rstrip("0").rstrip(".")
