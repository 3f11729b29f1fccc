"""The scheduler's cache and the snapshot: what was cloned, the nodeTree with its order, the lists, the assumed pods."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from sandbox.panels.drawing.blocks import block
from sandbox.panels.drawing.paging import Pager, on_page, pager
from sandbox.panels.facts.searching import start_of
from sandbox.panels.model.cache import CacheState
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import SECOND
from sandbox.words.phrases import camel, listed, plural, zone_and_region
from sandbox.words.say import say

FEW, PAGE = 24, 120
"""NodeInfos of a list at first, and on a page."""

ROUNDS = 12
"""Rounds of the nodeTree that are written out as an example."""
TTLS = (0, 1, 5, 30)
"""Seconds after which assumed pods may expire; 30 was the default until v1.22."""
NODE_INFO_LIST = "nodeInfoList"
LISTS = (
    (NODE_INFO_LIST, "cache.nodes"),
    ("havePodsWithAffinityNodeInfoList", "cache.with-affinity"),
    ("havePodsWithRequiredAntiAffinityNodeInfoList", "cache.with-required-anti-affinity"),
    ("usedPVCSet", "cache.claims"),
)
"""(list of the snapshot, key of what it holds)."""
HOLDS = {
    NODE_INFO_LIST: "nodes",
    "havePodsWithAffinityNodeInfoList": "with_affinity",
    "havePodsWithRequiredAntiAffinityNodeInfoList": "with_required_anti_affinity",
    "usedPVCSet": "claims",
}
"""List of the snapshot → its field in the model."""


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    cache = world.cache
    snapshot = cycle.snapshot if cycle and cycle.snapshot else cache.snapshot
    assumed = [pod for pod in world.pods.values() if pod.state == "assumed"]
    recency_pages = pager(len(cache.infos), view, "cache.recency", PAGE, few=FEW)
    base = {
        "has": bool(cache.infos or snapshot),
        "tree": _tree(world, view),
        "order_text": _order_text(_rounds(cache)),
        "assumed": [block(pod) for pod in assumed],
        "assumed_count": len(assumed),
        "dump": _dump(world, view.replica),
        "ttls": _ttls(world.assumed_ttl_us),
        "recency": _recency(cache, recency_pages),
        "mark_last": cache.snapshot.generation if cache.snapshot and cache.newer() == len(cache.infos) else 0,
        "recency_pages": recency_pages,
        "note": _note(cache),
        "taken": None,
    }
    if snapshot is None:
        return base
    reader = world.by_number.get(snapshot.cycle)
    return base | {
        "taken": {
            "generation": snapshot.generation,
            "cycle": snapshot.cycle,
            "verb": say("cache.saw") if reader is None or reader.outcome else say("cache.sees"),
        },
        "lists": [_list(world, view, reader, name, key, snapshot.rebuilt) for name, key in LISTS],
    }


def _dump(world: World, replica: str) -> str:
    """Return the address of the dump of what this panel shows, relative to the page."""
    at = "" if world.present is None else str(world.moment_of(len(world.entries)))
    chosen = {name: value for name, value in (("at", at), ("replica", replica)) if value}
    return f"dump?{urlencode(chosen)}" if chosen else "dump"


def _ttls(chosen_us: int) -> list[dict[str, Any]]:
    """Return the choices, which include the one in force."""
    choices = sorted({*TTLS, chosen_us / SECOND})
    return [{"seconds": f"{ttl:g}", "text": _ttl(ttl), "chosen": ttl * SECOND == chosen_us} for ttl in choices]


def _ttl(seconds: float) -> str:
    return say("cache.expire-after", seconds=f"{seconds:g}") if seconds else say("cache.expire-never")


def _note(cache: CacheState) -> str:
    snapshot, newer = cache.snapshot, cache.newer()
    if snapshot is None:
        return say("cache.none-yet")
    if newer:
        return say("cache.next-looks", count=newer)
    left = {"count": len(snapshot.dropped), "nodes": listed(list(snapshot.dropped))}
    if snapshot.cloned:
        key = "cache.copied-until" if snapshot.stopped_at else "cache.copied-all"
        copied = say(key, cloned=len(snapshot.cloned), length=snapshot.length, stop=snapshot.stopped_at)
        return f"{copied} {say('cache.dropped-too', **left)}" if snapshot.dropped else copied
    if snapshot.dropped:
        return say("cache.node-had-left", **left)
    if snapshot.ghosts:
        return say("cache.only-ghosts", nodes=listed(list(snapshot.ghosts)))
    return say("cache.stopped-at-the-head")


def _recency(cache: CacheState, pages: Pager) -> list[dict[str, Any]]:
    """Return the live list, with the generation of the last snapshot marked."""
    snapshot = cache.snapshot
    infos = cache.recent()
    newer = cache.newer() if snapshot else 0
    cards: list[dict[str, Any]] = []
    for index, info in enumerate(on_page(infos, pages), pages.start):
        cloned = snapshot is not None and index >= newer and info.name in snapshot.cloned
        stop = snapshot is not None and info.name == snapshot.stopped_at and index >= newer and bool(snapshot.cloned)
        tags = (
            (index == 0, "cache.head"),
            (stop, "cache.walk-stopped-here"),
            (info.ghost, "cache.ghost"),
            (index == len(infos) - 1, "cache.tail"),
        )
        below = say("cache.newer") if snapshot and index < newer else say("cache.copied") if cloned else ""
        cards.append(
            {
                "name": info.name,
                "generation": info.generation,
                "what": info.change,
                "newer": snapshot is not None and index < newer,
                "cloned": cloned,
                "stop": stop,
                "ghost": info.ghost,
                "mark": snapshot.generation if snapshot is not None and index == newer else 0,
                "tag": next((say(key) for holds, key in tags if holds), ""),
                "below": below,
            }
        )
    return cards


def _rounds(cache: CacheState) -> list[list[str]]:
    """Return places grouped by round: 1 2 3, 4 5 6, 7 8."""
    rounds: list[list[str]] = []
    place, depth = 0, 0
    while place < len(cache.order):
        size = sum(1 for _, names in cache.zones if len(names) > depth)
        rounds.append([str(place + step + 1) for step in range(size)])
        place, depth = place + max(size, 1), depth + 1
    return rounds


def _order_text(rounds: list[list[str]]) -> str:
    text = ", ".join(" ".join(group) for group in rounds[:ROUNDS])
    return f"{text} …" if len(rounds) > ROUNDS else text


def _tree(world: World, view: View) -> dict[str, Any]:
    """Return the nodeTree: rows are zones, columns are rounds; an arrow leads from each place to the next."""
    places = {name: place for place, name in enumerate(world.cache.order, 1)}
    start = start_of(world)
    rounds = max((len(names) for _, names in world.cache.zones), default=0)
    pages = pager(rounds, view, "cache.tree", FEW)
    zones = []
    for key, names in world.cache.zones:
        cells = [
            {
                "name": name,
                "place": places.get(name, 0),
                "start": name == start,
                "last": places.get(name) == len(world.cache.order),
            }
            for name in on_page(names, pages)
        ]
        title, region = zone_and_region(key)
        zones.append({"title": title, "region": region, "count": plural(len(names), "node"), "cells": cells})
    ghosts = [info.name for info in world.cache.infos.values() if info.ghost]
    return {"zones": zones, "rounds": range(pages.start + 1, pages.stop + 1), "pages": pages, "ghosts": ghosts}


def _list(
    world: World, view: View, cycle: Cycle | None, name: str, key: str, rebuilt: tuple[str, ...]
) -> dict[str, Any]:
    lists = cycle.lists if cycle is not None else world.cache.lists
    members: tuple[str, ...] = getattr(lists, HOLDS[name])
    pages = pager(len(members), view, f"cache.{HOLDS[name]}", PAGE, few=FEW)
    before = world.by_number.get(cycle.before) if cycle else None
    same = before is not None and getattr(before.lists, HOLDS[name]) == members
    rebuilding = say("cache.rebuilt-the-same") if same else say("cache.rebuilt")
    return {
        "name": name.removesuffix("NodeInfoList"),
        "title": camel(name.removesuffix("NodeInfoList")),
        "says": say(key, name=name),
        "rebuilt": name in rebuilt,
        "note": rebuilding if name in rebuilt else say("cache.kept"),
        "other": name == NODE_INFO_LIST and lists is world.cache.lists and _other_order(world.cache),
        "pages": pages,
        "of_claims": name == "usedPVCSet",
        "members": on_page(members, pages),
    }


def _other_order(cache: CacheState) -> bool:
    """Return True if a node changed its zone: the tree has a new order, but the list waits until a node comes or
    leaves.
    """
    return cache.order != cache.next_order()
