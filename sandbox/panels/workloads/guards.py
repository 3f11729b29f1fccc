"""PodDisruptionBudgets as rows: how many pods may go now, why, and which pods each one counts."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import Pager, on_page, pager
from sandbox.panels.facts.budgets import KIND, Budget, Budgets
from sandbox.panels.facts.owned import Alike
from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import short_name
from sandbox.words.say import say


def budgets(
    world: World, groups: Alike, view: View, size: int
) -> tuple[list[tuple[dict[str, Any], list[PodState]]], Pager]:
    """Return the budgets of the page in view, each with the pods that it selects; and the pager."""
    keys = list(world.objects.get(KIND, {}))
    pages = pager(len(keys), view, "workloads.budgets", size)
    rows = []
    for budget in Budgets(world).named(on_page(keys, pages)):
        chosen = (pods for (namespace, labels), pods in groups.items() if budget.covers(namespace, dict(labels)))
        rows.append((_row(budget), [pod for pods in chosen for pod in pods]))
    return rows, pages


def _row(budget: Budget) -> dict[str, Any]:
    condition = budget.stored.condition("DisruptionAllowed") or {}
    return {
        "key": budget.key,
        "name": short_name(budget.key),
        "rule": budget.rule,
        "selector": str(budget.selection.selector) or say("workloads.selects-every-pod"),
        "allowed": budget.allowed,
        "said": "yes" if budget.allowed else "no",
        "healthy": budget.healthy,
        "needed": budget.needed,
        "expected": budget.expected,
        "reason": str(condition.get("reason") or ""),
        "message": str(condition.get("message") or ""),
        "disrupted": len(budget.stored.status.get("disruptedPods") or {}),
    }
