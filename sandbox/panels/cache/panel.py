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
"""NodeInfos of a list at first, and on one page when somebody asks for all."""

ROUNDS = 12
"""Rounds of the nodeTree that are written out as an example."""
TTLS = (0, 1, 5, 30)
"""Seconds after which assumed pods may expire; 30 were the default until v1.22."""
NODE_INFO_LIST = "nodeInfoList"
LISTS = (
    (NODE_INFO_LIST, "cache.nodes"),
    ("havePodsWithAffinityNodeInfoList", "cache.with-affinity"),
    ("havePodsWithRequiredAntiAffinityNodeInfoList", "cache.with-required-anti-affinity"),
    ("usedPVCSet", "cache.claims"),
)
"""List of the snapshot → what it holds, in words."""
HOLDS = {
    NODE_INFO_LIST: "nodes",
    "havePodsWithAffinityNodeInfoList": "with_affinity",
    "havePodsWithRequiredAntiAffinityNodeInfoList": "with_required_anti_affinity",
    "usedPVCSet": "claims",
}
"""List of the snapshot → where the model has it."""


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    cache = world.cache
    taken = cycle.snapshot if cycle and cycle.snapshot else cache.snapshot
    assumed = [pod for pod in world.pods.values() if pod.state == "assumed"]
    recency_pages = pager(len(cache.infos), view, "cache.recency", PAGE, few=FEW)
    base = {
        "has": bool(cache.infos or taken),
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
    if taken is None:
        return base
    seen_by = world.by_number.get(taken.cycle)
    return base | {
        "taken": {
            "generation": taken.generation,
            "cycle": taken.cycle,
            "verb": say("cache.saw") if seen_by is None or seen_by.outcome else say("cache.sees"),
        },
        "lists": [_list(world, view, seen_by, name, key, taken.rebuilt) for name, key in LISTS],
    }


def _dump(world: World, replica: str) -> str:
    """The address of the dump of what this panel shows, relative to the page."""
    at = "" if world.present is None else str(world.moment_of(len(world.entries)))
    chosen = {name: value for name, value in (("at", at), ("replica", replica)) if value}
    return f"dump?{urlencode(chosen)}" if chosen else "dump"


def _ttls(chosen_us: int) -> list[dict[str, Any]]:
    """What may be chosen, the one in force among them."""
    known = sorted({*TTLS, chosen_us / SECOND})
    return [{"seconds": f"{ttl:g}", "text": _ttl(ttl), "chosen": ttl * SECOND == chosen_us} for ttl in known]


def _ttl(seconds: float) -> str:
    return say("cache.expire-after", seconds=f"{seconds:g}") if seconds else say("cache.expire-never")


def _note(cache: CacheState) -> str:
    taken, newer = cache.snapshot, cache.newer()
    if taken is None:
        return say("cache.none-yet")
    if newer:
        return say("cache.next-looks", count=newer)
    left = {"count": len(taken.dropped), "nodes": listed(list(taken.dropped))}
    if taken.cloned:
        key = "cache.copied-until" if taken.stopped_at else "cache.copied-all"
        copied = say(key, cloned=len(taken.cloned), length=taken.length, stop=taken.stopped_at)
        return f"{copied} {say('cache.dropped-too', **left)}" if taken.dropped else copied
    if taken.dropped:
        return say("cache.node-had-left", **left)
    if taken.ghosts:
        return say("cache.only-ghosts", nodes=listed(list(taken.ghosts)))
    return say("cache.stopped-at-the-head")


def _recency(cache: CacheState, pages: Pager) -> list[dict[str, Any]]:
    """The live list, with the mark of the last snapshot's generation on it."""
    taken = cache.snapshot
    listed = cache.recent()
    newer = cache.newer() if taken else 0
    cards: list[dict[str, Any]] = []
    for index, info in enumerate(on_page(listed, pages), pages.start):
        cloned = taken is not None and index >= newer and info.name in taken.cloned
        stop = taken is not None and info.name == taken.stopped_at and index >= newer and bool(taken.cloned)
        tags = (
            (index == 0, "cache.head"),
            (stop, "cache.walk-stopped-here"),
            (info.ghost, "cache.ghost"),
            (index == len(listed) - 1, "cache.tail"),
        )
        below = say("cache.newer") if taken and index < newer else say("cache.copied") if cloned else ""
        cards.append(
            {
                "name": info.name,
                "generation": info.generation,
                "what": info.change,
                "newer": taken is not None and index < newer,
                "cloned": cloned,
                "stop": stop,
                "ghost": info.ghost,
                "mark": taken.generation if taken is not None and index == newer else 0,
                "tag": next((say(key) for holds, key in tags if holds), ""),
                "below": below,
            }
        )
    return cards


def _rounds(cache: CacheState) -> list[list[str]]:
    """Places grouped by round: 1 2 3, 4 5 6, 7 8."""
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
    """Rows are zones, columns are rounds; an arrow leads from each place to the next."""
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
    """A node has changed its zone: the tree gives another order, the list waits until a node comes or leaves."""
    return cache.order != cache.next_order()
