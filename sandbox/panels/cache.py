"""The scheduler's cache and the snapshot: what was cloned, the nodeTree with its order, the lists, the assumed pods."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing import markup
from sandbox.panels.drawing.markup import Markup, esc
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.words.phrases import plural, zone_title

MOST = 24
"""Most NodeInfos drawn in the recency list."""

LISTS = (
    ("nodeInfoList", "every node, in the order of the search"),
    ("havePodsWithAffinityNodeInfoList", "nodes with a pod that has (anti-)affinity"),
    ("havePodsWithRequiredAntiAffinityNodeInfoList", "nodes with a pod that keeps others off"),
    ("usedPVCSet", "claims in use"),
)


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    taken = cycle.snapshot if cycle and cycle.snapshot else world.snapshot
    assumed = [pod for pod in world.pods.values() if pod.state == "assumed"]
    tree = _tree(world)
    base = {
        "has": bool(world.nodes or taken),
        "tree": tree,
        "order_text": ", ".join(" ".join(group) for group in _rounds(world)[:12]),
        "assumed": markup.join(markup.pod_block(pod) for pod in assumed),
        "assumed_count": len(assumed),
        "taken": None,
    }
    if taken is None:
        return base | {"recency": [], "note": "No snapshot has been taken yet."}
    seen_by = world.by_number.get(taken.cycle)
    recency = _recency(world, taken.recency, set(taken.cloned), taken.stopped_at)
    return base | {
        "taken": {"generation": taken.generation, "cycle": taken.cycle},
        "recency": recency,
        "recency_more": max(0, len(taken.recency) - MOST),
        "note": _note(len(taken.cloned), taken.stopped_at),
        "lists": [_list(world, seen_by, name, says, taken.rebuilt) for name, says in LISTS],
    }


def _note(cloned: int, stopped_at: str) -> str:
    if stopped_at:
        return f"UpdateSnapshot walks from the head and stops at the first one that has not changed: {stopped_at}"
    if cloned:
        return "UpdateSnapshot walked the whole list: every NodeInfo is newer than the last snapshot"
    return "The list is empty or nothing in it is newer than the last snapshot"


def _recency(world: World, recency: tuple[tuple[str, int], ...], cloned: set[str], stop: str) -> list[dict[str, Any]]:
    cards: list[dict[str, Any]] = []
    passed = False
    for index, (name, generation) in enumerate(recency[:MOST]):
        node = world.nodes.get(name)
        tag = below = ""
        if index == 0:
            tag = "head, highest generation"
            below = "cloned into the snapshot" if name in cloned else ""
        if name == stop:
            tag = "first unchanged: stop here"
        elif passed and not any(card["below"].endswith("looked at") for card in cards):
            below = f"{len(recency) - index} more not even looked at"
        if node is not None and node.ghost:
            tag = tag or "ghost"
        if index == len(recency) - 1 and index:
            tag = tag or "tail"
        cards.append(
            {
                "name": name,
                "generation": generation,
                "what": world.scheduler.changes.get(name, "") if node else "gone",
                "cloned": name in cloned,
                "stop": name == stop,
                "ghost": bool(node and node.ghost),
                "tag": tag,
                "below": below,
            }
        )
        passed = passed or name == stop
    return cards


def _rounds(world: World) -> list[list[str]]:
    """Places grouped by round: 1 2 3, 4 5 6, 7 8."""
    rounds: list[list[str]] = []
    place, depth = 0, 0
    while place < len(world.order):
        size = sum(1 for _, names in world.zones if len(names) > depth)
        rounds.append([str(place + step + 1) for step in range(size)])
        place, depth = place + max(size, 1), depth + 1
    return rounds


def _tree(world: World) -> dict[str, Any]:
    """Rows are zones, columns are rounds; an arrow leads from each place to the next."""
    places = {name: place for place, name in enumerate(world.order, 1)}
    rounds = max((len(names) for _, names in world.zones), default=0)
    zones = []
    for key, names in world.zones:
        cells = [
            {
                "name": name,
                "place": places.get(name, 0),
                "first": places.get(name) == 1,
                "last": places.get(name) == len(world.order),
            }
            for name in names[:MOST]
        ]
        zones.append(
            {
                "title": zone_title(key),
                "count": plural(len(names), "node"),
                "cells": cells,
                "more": max(0, len(names) - MOST),
            }
        )
    ghosts = [node.name for node in world.nodes.values() if node.ghost]
    return {"zones": zones, "rounds": range(1, min(rounds, MOST) + 1), "ghosts": ghosts}


def _list(world: World, cycle: Cycle | None, name: str, says: str, rebuilt: tuple[str, ...]) -> dict[str, Any]:
    members = _members(world, cycle, name)
    shown = members[:MOST]
    if name == "usedPVCSet":
        tokens = Markup("".join(f'<span class="tok">{esc(claim)}</span>' for claim in shown))
    else:
        tokens = markup.join(markup.token(node) for node in shown)
    before = world.by_number.get(cycle.before) if cycle else None
    same = before is not None and _members(world, before, name) == members
    return {
        "name": name.removesuffix("NodeInfoList"),
        "title": markup.camel(name.removesuffix("NodeInfoList")),
        "says": f"{name}: {says}",
        "rebuilt": name in rebuilt,
        "note": ("rebuilt, the same as before" if same else "rebuilt") if name in rebuilt else "kept as it was",
        "more": max(0, len(members) - MOST),
        "tokens": tokens,
    }


def _members(world: World, cycle: Cycle | None, name: str) -> tuple[str, ...]:
    """What a list of the snapshot held in a cycle."""
    if cycle is None:
        return world.snapshot_order if name == "nodeInfoList" else ()
    return {
        "nodeInfoList": cycle.order,
        "havePodsWithAffinityNodeInfoList": cycle.with_affinity,
        "havePodsWithRequiredAntiAffinityNodeInfoList": cycle.with_anti_affinity,
        "usedPVCSet": cycle.claims,
    }[name]
