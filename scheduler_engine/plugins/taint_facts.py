"""A pod's tolerations against a taint, as facts. Source: seed 002 §5; upstream ``plugins/tainttoleration``."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_engine.api.taints import TOLERATED_BY_ADMISSION, Taint, Toleration
from scheduler_engine.framework.facts import Fact, Parts, fact


def tolerance_fact(
    taint: Taint, tolerations: Sequence[Toleration], counted: Sequence[Toleration] | None = None
) -> Fact:
    """Return the matching toleration, or why none matches. Name those of admission only for their own taints.

    ``counted``: the tolerations that the decision used; None: all of them.
    """
    used = tolerations if counted is None else counted
    matching = next((item for item in used if not item.differs_in(taint)), None)
    if matching is not None:
        return fact("taints.tolerated", True, toleration=_toleration(matching))
    looked_at = [item for item in tolerations if item.key == taint.key or item.key not in TOLERATED_BY_ADMISSION]
    if not looked_at:
        return fact("taints.no-toleration", False)
    return fact("taints.not-tolerated", False, why=Parts(_difference(item, taint, item in used) for item in looked_at))


def _difference(item: Toleration, taint: Taint, counts: bool) -> Fact:
    return fact(
        f"taints.another-{item.differs_in(taint)}" if counts else "taints.not-counted",
        False,
        toleration=_toleration(item),
        effect=item.effect,
        value=item.value,
        has=taint.value,
    )


def _toleration(item: Toleration) -> Fact:
    exists = "taints.toleration-exists" if item.key else "taints.toleration-of-any-key"
    return fact(
        exists if item.operator == "Exists" else "taints.toleration",
        key=item.key,
        value=item.value,
        effect=item.effect or fact("taints.any-effect"),
    )
