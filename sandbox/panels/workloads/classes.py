"""PriorityClasses as rows, and the pods that have each one."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.owned import Manifest
from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World

PREEMPTS = "PreemptLowerPriority"


def classes(world: World, most: int) -> tuple[list[tuple[dict[str, Any], list[PodState]]], int]:
    """The ``most`` highest classes, each with its pods; and how many there are."""
    found = sorted(world.objects.get("PriorityClass", {}).items(), key=lambda item: (-_value(item[1]), item[0]))
    having: dict[str, list[PodState]] = {}
    for pod in world.pods.values():
        having.setdefault(str(pod.pod.spec.get("priorityClassName") or ""), []).append(pod)
    return [(_row(name, manifest), having.get(name, [])) for name, manifest in found[:most]], len(found)


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
