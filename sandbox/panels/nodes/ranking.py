"""The order in which a kubelet evicts, row by row with the reason for its place; and what kubelets did."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.facts.kubelet_deeds import deed_row, freed
from sandbox.panels.facts.node_gauges import amount
from sandbox.panels.model.node_health import NodeHealth
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import short_clock, short_name
from sandbox.words.say import say
from scheduler_engine.api.eviction_order import CRITICAL
from scheduler_engine.trace import events as ev

MOST = 50
Row = tuple[str, bool, int, int, int, int, str, str]
WITHOUT_REQUESTS = ("inodes", "pids")
GROUPS = {"inodes": ("nodes.uses-inodes", "nodes.uses-no-inodes"), "pids": ("", "")}
"""Resource → keys of (the group that goes first, the group that goes last)."""
BY_REQUEST = ("nodes.exceeds-its-request", "nodes.within-its-request")
NOTES = {"inodes": "nodes.inodes-note"}


def ranking(world: World, health: NodeHealth, view: View) -> dict[str, Any] | None:
    """Return the kubelet's last eviction order, None if there is none yet."""
    ranked, victim = health.ranking, health.victim
    if ranked is None:
        return None
    rows, pages = [], pager(len(ranked.rows), view, "nodes.ranking", MOST)
    for place, row in enumerate(on_page(ranked.rows, pages), pages.start + 1):
        key, exceeds, priority, used, request, over, qos, _ = row
        state = world.pods.get(key)
        rows.append(
            {
                "place": place,
                "pod": key,
                "name": short_name(key),
                "app": state.app if state else 0,
                "exceeds": exceeds,
                "priority": priority,
                "usage": amount(ranked.signal, used),
                "request": amount(ranked.signal, request) if request else say("nodes.no-request"),
                "over": _signed(ranked.signal, over),
                "qos": qos,
                "victim": key == victim,
                "why": why(ranked, place - 1),
            }
        )
    return {
        "at": short_clock(health.ranked_us),
        "threshold": ranked.threshold,
        "resource": ranked.resource,
        "requests": ranked.resource not in WITHOUT_REQUESTS,
        "rows": rows,
        "note": say(NOTES[ranked.resource]) if ranked.resource in NOTES else "",
        "pages": pages,
        "spared": bool(rows) and not victim,
        "deserted": not rows,
    }


def history(health: NodeHealth, view: View) -> dict[str, Any]:
    """Return what the kubelet did, the newest first."""
    pages = pager(len(health.deeds), view, "nodes.deeds", MOST)
    return {"deeds": [deed_row(deed) for deed in on_page(health.deeds[::-1], pages)], "pages": pages}


def relief(health: NodeHealth) -> str:
    """Return why the last check ranked no pods although a threshold was met, else ""."""
    last = health.relief
    if last is None or not isinstance(last.event, ev.NodeResourcesReclaimed):
        return ""
    return say("nodes.relief", at=short_clock(last.at_us), threshold=last.event.threshold, amount=freed(last.removed))


def why(ranked: ev.EvictionRanked, index: int) -> str:
    """Return how a row differs from the one above, the first one from the one below, by the first criterion."""
    row = ranked.rows[index]
    if row[-1] == CRITICAL:
        return say("nodes.critical")
    group = GROUPS.get(ranked.resource, BY_REQUEST)[not row[1]]
    neighbour = ranked.rows[index - 1 if index else 1] if len(ranked.rows) > 1 else None
    reason = _difference(ranked, row, neighbour) if neighbour else say("nodes.nobody-else")
    if not group:
        return reason
    return say("nodes.group-and-reason", group=say(group), reason=reason) if reason else say(group)


def _difference(ranked: ev.EvictionRanked, row: Row, neighbour: Row) -> str:
    """Return the criterion that differs, "" if the group says it: only one of the two exceeds its request."""
    name = short_name(neighbour[0])
    if row[1] != neighbour[1]:
        return ""
    if row[2] != neighbour[2]:
        key = "nodes.lower-priority" if row[2] < neighbour[2] else "nodes.higher-priority"
        return say(key, priority=row[2], pod=name)
    if row[5] != neighbour[5]:
        # Kubernetes subtracts requested bytes from a number of inodes. The sentence says so if somebody requests any.
        requests = row[3] != row[5] or neighbour[3] != neighbour[5]
        used = "nodes.in-use-less-requests" if requests else "nodes.in-use"
        used = used if ranked.resource in WITHOUT_REQUESTS else "nodes.over-its-request"
        key = "nodes.more-than" if row[5] > neighbour[5] else "nodes.less-than"
        return say(key, used=say(used, amount=_signed(ranked.signal, row[5])), pod=name)
    return say("nodes.equal", pod=name)


def _signed(signal: str, number: int) -> str:
    return f"−{amount(signal, -number)}" if number < 0 else amount(signal, number)
