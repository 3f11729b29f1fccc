"""The scheduler's cache and the snapshot: what was cloned, the nodeTree with its order, the lists, the assumed pods."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from sandbox.panels.drawing.blocks import block
from sandbox.panels.drawing.paging import Pager, on_page, pager
from sandbox.panels.facts.sampling import start_of
from sandbox.panels.facts.version import rules_in
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
LISTS = {
    NODE_INFO_LIST: ("nodes", "cache.nodes"),
    "havePodsWithAffinityNodeInfoList": ("with_affinity", "cache.with-affinity"),
    "havePodsWithRequiredAntiAffinityNodeInfoList": (
        "with_required_anti_affinity",
        "cache.with-required-anti-affinity",
    ),
    "usedPVCSet": ("claims", "cache.claims"),
}
"""List of the snapshot → (its field in the model, key of what it holds)."""


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    cache = world.cache
    snapshot = cycle.snapshot if cycle and cycle.snapshot else cache.snapshot
    assumed = [pod for pod in world.pods.values() if pod.state == "assumed"]
    recency_pages = pager(len(cache.infos), view, "cache.recency", PAGE, few=FEW)
    base = {
        "has": bool(cache.infos or snapshot),
        "tree": _tree(world, view),
        "order_text": _order_text(cache),
        "assumed": [block(pod) for pod in assumed],
        "assumed_count": len(assumed),
        "dump": _dump(world, view.replica),
        "ttls": _ttls(world.assumed_ttl_us) if rules_in(world.configured).assumed_pods_may_expire else [],
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
        "lists": [_list(world, view, reader, name, name in snapshot.rebuilt) for name in LISTS],
    }


def _dump(world: World, replica: str) -> str:
    """Return the address of the dump of what this panel shows, relative to the page."""
    at = "" if world.present is None else str(world.moment_of(len(world.entries)))
    chosen = {name: value for name, value in (("at", at), ("replica", replica)) if value}
    return f"dump?{urlencode(chosen)}" if chosen else "dump"


def _ttls(chosen_us: int) -> list[dict[str, Any]]:
    """Return the choices, which include the one in force."""
    texts = {ttl: say("cache.expire-after", seconds=f"{ttl:g}") for ttl in sorted({*TTLS, chosen_us / SECOND})}
    texts[0] = say("cache.expire-never")
    return [{"seconds": f"{ttl:g}", "text": text, "chosen": ttl * SECOND == chosen_us} for ttl, text in texts.items()]


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
    snapshot, infos = cache.snapshot, cache.recent()
    newer, cloned = (cache.newer(), snapshot.cloned) if snapshot else (0, ())
    stopped_at = snapshot.stopped_at if snapshot and snapshot.cloned else ""
    cards: list[dict[str, Any]] = []
    for index, info in enumerate(on_page(infos, pages), pages.start):
        is_newer = index < newer
        is_cloned, stop = not is_newer and info.name in cloned, not is_newer and info.name == stopped_at
        tags = (
            (index == 0, "cache.head"),
            (stop, "cache.walk-stopped-here"),
            (info.ghost, "cache.ghost"),
            (index == len(infos) - 1, "cache.tail"),
        )
        cards.append(
            {
                "name": info.name,
                "generation": info.generation,
                "what": info.change,
                "newer": is_newer,
                "cloned": is_cloned,
                "stop": stop,
                "ghost": info.ghost,
                "mark": snapshot.generation if snapshot is not None and index == newer else 0,
                "tag": next((say(key) for holds, key in tags if holds), ""),
                "below": say("cache.newer") if is_newer else say("cache.copied") if is_cloned else "",
            }
        )
    return cards


def _order_text(cache: CacheState) -> str:
    """Return places grouped by round: ``1 2 3, 4 5 6, 7 8``."""
    rounds: list[str] = []
    place = 0
    while place < len(cache.order):
        size = max(sum(1 for _, names in cache.zones if len(names) > len(rounds)), 1)
        rounds.append(" ".join(str(place + step) for step in range(1, size + 1)))
        place += size
    text = ", ".join(rounds[:ROUNDS])
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
    return {
        "zones": zones,
        "title_characters": max((len(zone["title"]) for zone in zones), default=0),
        "rounds": range(pages.start + 1, pages.stop + 1),
        "pages": pages,
        "ghosts": [info.name for info in world.cache.infos.values() if info.ghost],
    }


def _list(world: World, view: View, cycle: Cycle | None, name: str, rebuilt: bool) -> dict[str, Any]:
    lists = cycle.lists if cycle is not None else world.cache.lists
    field, key = LISTS[name]
    members: tuple[str, ...] = getattr(lists, field)
    pages = pager(len(members), view, f"cache.{field}", PAGE, few=FEW)
    before = world.by_number.get(cycle.before) if cycle else None
    same = before is not None and getattr(before.lists, field) == members
    rebuilding = say("cache.rebuilt-the-same") if same else say("cache.rebuilt")
    # If a node changed its zone, the tree has a new order, but the list waits until a node comes or leaves.
    waits = name == NODE_INFO_LIST and lists is world.cache.lists and world.cache.order != world.cache.next_order()
    return {
        "name": name.removesuffix("NodeInfoList"),
        "title": camel(name.removesuffix("NodeInfoList")),
        "says": say(key, name=name),
        "rebuilt": rebuilt,
        "note": rebuilding if rebuilt else say("cache.unchanged"),
        "other": waits,
        "pages": pages,
        "of_claims": name == "usedPVCSet",
        "members": on_page(members, pages),
    }
