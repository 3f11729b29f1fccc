"""PodDisruptionBudgets: how many pods may go at this moment, why, and which pods each one counts.

Source: seed 002 §9 and §11.
"""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.labels import selector_from

from .amounts import short_name
from .owned import Alike, Manifest, key_of
from .state import PodState
from .world import World

KIND = "PodDisruptionBudget"


def budgets(world: World, groups: Alike, most: int) -> tuple[list[tuple[dict[str, Any], list[PodState]]], int]:
    """The first ``most`` budgets, each with the pods that it selects; and how many there are."""
    held = list(world.objects.get(KIND, {}).values())
    return [(_row(item), _selected(groups, item)) for item in held[:most]], len(held)


def _selected(groups: Alike, manifest: Manifest) -> list[PodState]:
    namespace = key_of(manifest).partition("/")[0]
    selector = selector_from((manifest.get("spec") or {}).get("selector"))
    chosen = (pods for group, pods in groups.items() if group[0] == namespace and selector.matches(dict(group[1])))
    return [pod for pods in chosen for pod in pods]


def _row(manifest: Manifest) -> dict[str, Any]:
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    allowed = int(status.get("disruptionsAllowed") or 0)
    rule = next(
        (f"{name} {spec[name]}" for name in ("minAvailable", "maxUnavailable") if name in spec), "minAvailable 1"
    )
    told = [item for item in status.get("conditions") or () if item.get("type") == "DisruptionAllowed"]
    return {
        "key": key_of(manifest),
        "name": short_name(key_of(manifest)),
        "rule": rule,
        "selector": str(selector_from(spec.get("selector"))) or "every pod",
        "allowed": allowed,
        "said": "yes" if allowed else "no",
        "healthy": int(status.get("currentHealthy") or 0),
        "needed": int(status.get("desiredHealthy") or 0),
        "expected": int(status.get("expectedPods") or 0),
        "reason": str(told[0].get("reason") or "") if told else "",
        "message": str(told[0].get("message") or "") if told else "",
        "disrupted": len(status.get("disruptedPods") or {}),
    }
