"""A pod's tolerations against a taint, as facts. Source: seed 002 §5; upstream ``plugins/tainttoleration``."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_engine.api.taints import GREATER, LESS, TOLERATED_BY_ADMISSION, Taint, Toleration, whole_number
from scheduler_engine.framework.facts import Fact, Parts, fact

COMPARISONS = {LESS: "taints.toleration-below", GREATER: "taints.toleration-above"}
"""Operator → how to show a toleration with it."""


def tolerance_fact(
    taint: Taint, tolerations: Sequence[Toleration], compares: bool, counted: Sequence[Toleration] | None = None
) -> Fact:
    """Return the matching toleration, or why none matches. Name those of admission only for their own taints.

    ``compares``: as in ``Toleration.differs_in``. ``counted``: the tolerations that the decision used, None = all of
    them.
    """
    used = tolerations if counted is None else counted
    matching = next((item for item in used if not item.differs_in(taint, compares)), None)
    if matching is not None:
        return fact("taints.tolerated", True, toleration=_toleration(matching))
    looked_at = [item for item in tolerations if item.key == taint.key or item.key not in TOLERATED_BY_ADMISSION]
    if not looked_at:
        return fact("taints.no-toleration", False)
    return fact(
        "taints.not-tolerated", False, why=Parts(_difference(item, taint, compares, item in used) for item in looked_at)
    )


def _difference(item: Toleration, taint: Taint, compares: bool, counts: bool) -> Fact:
    return fact(
        f"taints.{_reason(item, taint, compares)}" if counts else "taints.not-counted",
        False,
        toleration=_toleration(item),
        effect=item.effect,
        value=item.value,
        has=taint.value,
    )


def _reason(item: Toleration, taint: Taint, compares: bool) -> str:
    """Return the row that says why ``item`` does not match."""
    differs = item.differs_in(taint, compares)
    if item.operator not in COMPARISONS or differs not in ("value", "operator"):
        return f"another-{differs}"
    if differs == "operator":
        return "comparison-off"
    return "comparison-fails" if whole_number(taint.value) is not None else "not-a-number"


def _toleration(item: Toleration) -> Fact:
    exists = "taints.toleration-exists" if item.key else "taints.toleration-of-any-key"
    return fact(
        exists if item.operator == "Exists" else COMPARISONS.get(item.operator, "taints.toleration"),
        key=item.key,
        value=item.value,
        effect=item.effect or fact("taints.any-effect"),
    )
