"""NodeResourcesBalancedAllocation in words and numbers: how evenly a node's resources would be used.

Source: upstream ``plugins/noderesources/balanced_allocation.go``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sandbox.panels.explain.allocation import rows_of
from sandbox.panels.explain.model import Case, Explanation, Line, as_it_is, written
from sandbox.panels.words.say import say


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
    lines.append(Line(say("allocation.deviation"), formula, say("allocation.deviation-note")))
    lines.append(Line(say("explain.raw"), f"(1 − {_digits(deviation)}) × 100 = {raw}", say("allocation.cut")))
    return as_it_is(say(_evenly(raw), pod=case.name, node=case.node.name), [*lines, *left_out], raw)


def _evenly(raw: int) -> str:
    """Key of the sentence."""
    if raw >= 90:
        return "allocation.evenly"
    return "allocation.rather-unevenly" if raw >= 70 else "allocation.very-unevenly"


def _deviation(fractions: Sequence[float]) -> tuple[float, str]:
    if len(fractions) < 2:
        return 0.0, say("allocation.fewer-than-two")
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
        return deviation, f"|{_digits(fractions[0])} − {_digits(fractions[1])}| / 2 = {_digits(deviation)}"
    mean = _added(fractions) / len(fractions)
    deviation = math.sqrt(_added([(fraction - mean) * (fraction - mean) for fraction in fractions]) / len(fractions))
    return deviation, say("allocation.standard-deviation", mean=_digits(mean), deviation=_digits(deviation))


def _added(numbers: Sequence[float]) -> float:
    """One after the other, as the scheduler does: rounding errors are part of the score."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _digits(number: float) -> str:
    return f"{number:.4f}".rstrip("0").rstrip(".")
