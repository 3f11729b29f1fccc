"""PodGroups as rows: how many pods each needs and has, and which they are."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import Pager, on_page, pager
from sandbox.panels.facts.owned import Alike
from sandbox.panels.facts.pod_groups import count
from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import short_name
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.pod_groups import LABEL, POD_GROUP, min_member


def pod_groups(
    world: World, groups: Alike, view: View, size: int
) -> tuple[list[tuple[dict[str, Any], list[PodState]]], Pager]:
    """Return the PodGroups of the page in view, each with its pods that have not finished; and the pager."""
    held = world.objects.get(POD_GROUP, {})
    pods_of: dict[str, list[PodState]] = {}
    for (namespace, labels), pods in groups.items():
        name = dict(labels).get(LABEL)
        if name:
            pods_of.setdefault(f"{namespace}/{name}", []).extend(pods)
    pages = pager(len(held), view, "workloads.groups", size)
    rows = [(_row(world, KubeObject(held[key])), pods_of.get(key, [])) for key in on_page(list(held), pages)]
    return rows, pages


def _row(world: World, group: KubeObject) -> dict[str, Any]:
    counts = {name: int(group.status.get(name) or 0) for name in ("running", "succeeded", "failed")}
    return {
        "key": group.key,
        "name": short_name(group.key),
        "needed": min_member(group),
        "count": count(world, group.key),
        "phase": str(group.status.get("phase") or ""),
        **counts,
    }
