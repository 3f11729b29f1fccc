"""The order in which a kubelet evicts, row by row with why it stands there; and what kubelets have done."""

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
"""Resource → the group that goes first, and the one that goes last."""
BY_REQUEST = ("nodes.exceeds-its-request", "nodes.within-its-request")
NOTES = {"inodes": "nodes.inodes-note"}


def ranking(world: World, health: NodeHealth, view: View) -> dict[str, Any] | None:
    """The last order that the kubelet made, None as long as it made none."""
    if health.ranking is None:
        return None
    return _table(world, health.ranking, health.ranked_us, health.victim, view)


def history(health: NodeHealth, view: View) -> dict[str, Any]:
    """What the kubelet did, newest first."""
    pages = pager(len(health.deeds), view, "nodes.deeds", MOST)
    return {"deeds": [deed_row(deed) for deed in on_page(health.deeds[::-1], pages)], "pages": pages}


def relief(health: NodeHealth) -> str:
    """Why the last look ranked no pods although a threshold was met; "" when it is not so."""
    last = health.relief
    if last is None or not isinstance(last.event, ev.NodeResourcesReclaimed):
        return ""
    return say("nodes.relief", at=short_clock(last.at_us), threshold=last.event.threshold, amount=freed(last.removed))


def _table(world: World, told: ev.EvictionRanked, at_us: int, victim: str, view: View) -> dict[str, Any]:
    rows, pages = [], pager(len(told.rows), view, "nodes.ranking", MOST)
    for place, row in enumerate(on_page(told.rows, pages), pages.start + 1):
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
                "usage": amount(told.signal, used),
                "request": amount(told.signal, request) if request else say("nodes.no-request"),
                "over": _signed(told.signal, over),
                "qos": qos,
                "victim": key == victim,
                "why": why(told, place - 1),
            }
        )
    return {
        "at": short_clock(at_us),
        "threshold": told.threshold,
        "resource": told.resource,
        "requests": told.resource not in WITHOUT_REQUESTS,
        "rows": rows,
        "note": say(NOTES[told.resource]) if told.resource in NOTES else "",
        "pages": pages,
        "spared": bool(rows) and not victim,
        "deserted": not rows,
    }


def why(told: ev.EvictionRanked, index: int) -> str:
    """What parts a row from the one above it, the first one from the one below: the first criterion that differs."""
    row = told.rows[index]
    if row[-1] == CRITICAL:
        return say("nodes.critical")
    group = GROUPS.get(told.resource, BY_REQUEST)[not row[1]]
    beside = told.rows[index - 1 if index else 1] if len(told.rows) > 1 else None
    reason = _difference(told, row, beside) if beside else say("nodes.nobody-else")
    if not group:
        return reason
    return say("nodes.group-and-reason", group=say(group), reason=reason) if reason else say(group)


def _difference(told: ev.EvictionRanked, row: Row, beside: Row) -> str:
    """ "" when the group says it all: one exceeds its request, and the other does not."""
    name = short_name(beside[0])
    if row[1] != beside[1]:
        return ""
    if row[2] != beside[2]:
        key = "nodes.lower-priority" if row[2] < beside[2] else "nodes.higher-priority"
        return say(key, priority=row[2], pod=name)
    if row[5] != beside[5]:
        used = "nodes.over-its-request" if told.resource not in WITHOUT_REQUESTS else _in_use(row, beside)
        key = "nodes.more-than" if row[5] > beside[5] else "nodes.less-than"
        return say(key, used=say(used, amount=_signed(told.signal, row[5])), pod=name)
    return say("nodes.equal", pod=name)


def _in_use(row: Row, beside: Row) -> str:
    """Kubernetes takes requested bytes off a number of inodes; nobody needs to know while nobody requests any."""
    plain = row[3] == row[5] and beside[3] == beside[5]
    return "nodes.in-use" if plain else "nodes.in-use-less-requests"


def _signed(signal: str, number: int) -> str:
    return f"−{amount(signal, -number)}" if number < 0 else amount(signal, number)
