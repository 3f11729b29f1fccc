"""The pods that a PodDisruptionBudget selects. Source: upstream ``policy/v1`` (``spec.selector``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_engine.api.labels import Selector, selector_from
from scheduler_engine.api.objects import KubeObject


@dataclass(frozen=True, slots=True)
class Selection:
    """Pods of one namespace with certain labels."""

    namespace: str
    selector: Selector

    def holds(self, namespace: str, labels: Mapping[str, str]) -> bool:
        return self.namespace == namespace and self.selector.matches(labels)


def selection(budget: KubeObject) -> Selection:
    """Return a budget's selection; without a selector it is empty."""
    return Selection(budget.namespace, selector_from(budget.spec.get("selector")))
