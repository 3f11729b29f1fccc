"""The filter table for many nodes: one row per reason, with its nodes, their places in visiting order, and zones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from sandbox.panels.drawing import shapes
from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.facts import expectable
from sandbox.panels.facts.arithmetic import verdict
from sandbox.panels.facts.sampling import NOT_NEEDED, Search, not_visited
from sandbox.panels.facts.verdicts import MAY_HELP, helps
from sandbox.panels.filter.search import film
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.phrases import zone_title, zone_titles
from sandbox.words.say import say

FEW_NODES, FEW_ZONES, PAGE = 2, 4, 100
"""How many nodes and zones of a group are named at first, and how many on a page."""
ENDS = {
    "ok": "filter.goes-on-to-score",
    "also": "filter.not-reported",
    "spare": "filter.not-scored",
    "out": "filter.not-visited",
}
"""Kind of a group → key of what happens to its nodes. For refused nodes the row says whether eviction may help."""


@dataclass(slots=True)
class Group:
    """Nodes with the same answer. ``kind``: ok, no, also (not reported), spare (not needed) or out (not visited)."""

    kind: str
    plugin: str
    reasons: str
    code: str = ""
    helps: str = ""
    nodes: list[str] = field(default_factory=list)


def groups(world: World, cycle: Cycle, search: Search, view: View) -> list[dict[str, Any]]:
    """Return the rows: nodes that fit, then the reasons by frequency; refusals that are not reported come later."""
    by_answer: dict[tuple[str, ...], Group] = {}
    passed = say("filter.every-filter-passed")
    for node, plugin, code, reasons, _ in search.table.looked_at[: -1 if search.extra else None]:
        answer = ("no", plugin, "; ".join(reasons), code, helps(cycle, node, code)) if plugin else ("ok", "", passed)
        by_answer.setdefault(answer, Group(*answer)).nodes.append(node)
    if view.reasons:
        for node, verdicts in search.table.also:
            for plugin, code, reasons in verdicts:
                unreported = ("also", plugin, "; ".join(reasons), code)
                by_answer.setdefault(unreported, Group(*unreported)).nodes.append(node)
    ordered = sorted(by_answer.values(), key=lambda group: (("ok", "no", "also").index(group.kind), -len(group.nodes)))
    if search.extra:
        ordered.append(Group("spare", "", say(NOT_NEEDED), nodes=[search.visited[-1]]))
    for why, names in not_visited(search):
        ordered.append(Group("out", "", say("sampling.not-visited", why=why), nodes=list(names)))
    everybody = (*search.looked_at, *search.unvisited, *search.left_out)
    places = {name: place for place, name in enumerate(everybody, 1)}
    titles = zone_titles(key for key, _ in world.cache.zones)
    zone_of = {name: titles[key] for key, names in world.cache.zones for name in names}
    return [_row(world, cycle, group, places, zone_of, [*titles.values()], view) for group in ordered]


def _row(
    world: World,
    cycle: Cycle,
    group: Group,
    places: dict[str, int],
    zone_of: dict[str, str],
    titles: list[str],
    view: View,
) -> dict[str, Any]:
    zones = dict.fromkeys(titles, 0)
    for node in group.nodes:
        zone = zone_of.get(node, zone_title(""))
        zones[zone] = zones.get(zone, 0) + 1
    ordered = list(zones.items())
    if len(ordered) > FEW_ZONES:
        ordered.sort(key=lambda item: not item[1])
    opened = group.kind in ("no", "also") and view.plugin == group.plugin and view.node in group.nodes
    name = f"{group.kind}.{crc32(f'{group.plugin} {group.reasons}'.encode())}"
    pages = pager(len(group.nodes), view, f"filter.{name}", PAGE, few=FEW_NODES)
    zone_pages = pager(len(zones), view, f"filter.zones.{name}", PAGE, few=FEW_ZONES)
    first = [view.node] if opened else []
    shown = on_page([*first, *(node for node in group.nodes if node not in first)], pages)
    strip = {"ok": "m-ok", "no": "m", "also": "m-also", "spare": "m-ok", "out": "m-out"}[group.kind]
    return {
        "kind": group.kind,
        "count": len(group.nodes),
        "reason": group.reasons,
        "plugin": group.plugin,
        "strip": shapes.strip([places[node] for node in group.nodes if node in places], len(places), strip),
        "zones": on_page(ordered, zone_pages),
        "zone_pages": zone_pages,
        "tokens": [{"node": node, "opened": opened and node == view.node} for node in shown],
        "pages": pages,
        "nodes": " ".join(group.nodes),
        "code": group.code,
        "helps": say(ENDS[group.kind]) if group.kind in ENDS else group.helps,
        "soft": group.code == MAY_HELP,
        "why": verdict(world, cycle, view.node, group.plugin) if opened else None,
        "film": film(world, cycle, view.node, group.plugin) if opened else None,
        "expectable": expectable.verdict(cycle, view.node) if opened else None,
    }
