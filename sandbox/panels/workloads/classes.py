"""PriorityClasses as rows, and the pods that have each one."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import Pager, on_page, pager
from sandbox.panels.facts.owned import Manifest
from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.panels.view import View

PREEMPTS = "PreemptLowerPriority"


def classes(world: World, view: View, size: int) -> tuple[list[tuple[dict[str, Any], list[PodState]]], Pager]:
    """Return the classes of the page in view, the highest first, each with its pods; and the pager."""
    by_value = sorted(world.objects.get("PriorityClass", {}).items(), key=lambda item: (-_value(item[1]), item[0]))
    pods_of: dict[str, list[PodState]] = {}
    for pod in world.pods.values():
        pods_of.setdefault(str(pod.pod.spec.get("priorityClassName") or ""), []).append(pod)
    pages = pager(len(by_value), view, "workloads.classes", size)
    return [(_row(name, manifest), pods_of.get(name, [])) for name, manifest in on_page(by_value, pages)], pages


def _value(manifest: Manifest) -> int:
    return int(manifest.get("value") or 0)


def _row(name: str, manifest: Manifest) -> dict[str, Any]:
    policy = str(manifest.get("preemptionPolicy") or PREEMPTS)
    return {
        "name": name,
        "value": _value(manifest),
        "default": bool(manifest.get("globalDefault")),
        "policy": policy,
        "preempts": policy == PREEMPTS,
        "description": str(manifest.get("description") or ""),
    }
