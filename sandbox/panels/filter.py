"""The filter matrix: rows in visiting order, columns in plugin order; for many nodes grouped by reason."""

from __future__ import annotations

from typing import Any

from . import markup
from .amounts import clock, short_name
from .arithmetic import explain
from .brief import Briefs, Row
from .cluster import zone_title
from .markup import Markup, esc
from .state import Cycle
from .view import View
from .words import helps, phrases, plural
from .world import World

PAGE = 100
GROUPED_ABOVE = 40
SHORTER = {
    "NodeUnschedulable": "NodeUnsched.",
    "VolumeRestrictions": "VolumeRestrict.",
    "NodeVolumeLimits": "VolumeLimits",
    "DynamicResources": "DynamicRes.",
}
ANSWERS = {"Success": "will check every node", "Skip": "skips Filter"}
NOT_RUN = '<td class="z" title="not run: an earlier plugin said no"></td>'
SKIPPED = '<td class="s" title="skipped: its PreFilter had nothing to check"></td>'
PASSED = f'<td class="y">{markup.YES}<span class="vh">pass</span></td>'


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    base = {"cycle": cycle.number if cycle else 0, "pod": short_name(cycle.pod) if cycle else "", "has": False}
    if cycle is None:
        return base | {"empty": "No pod has been scheduled yet. Press Stage until Filter runs."}
    pre = _pre_filter(cycle)
    if cycle.filter is None:
        refused = [row for row in pre if row["code"] not in ("Success", "Skip")]
        if refused:
            return base | {"empty": "", "pre": pre, "refused": refused, "message": _message(cycle)}
        return base | {"empty": f"{base['pod']} has not come to Filter yet.", "pre": pre, "narrowed": _narrowed(cycle)}
    table = cycle.filter
    grouped = view.group == "reason" or (not view.group and len(table.rows) > GROUPED_ABOVE)
    columns = [
        {"name": name, "label": markup.camel(SHORTER.get(name, name)), "skipped": name in table.skipped}
        for name in table.plugins
    ]
    shown = {"groups": _groups(world, cycle)} if grouped else _rows(world, cycle, view)
    return (
        base
        | shown
        | {
            "has": True,
            "pre": pre,
            "grouped": grouped,
            "can_group": len(table.rows) > 12,
            "columns": columns,
            "span": len(columns),
            "message": _message(cycle),
            "fit": len(table.feasible),
            "lean": not table.rows,
            "how_many": _how_many(cycle),
            "nominated": table.nominated_first,
        }
    )


def _pre_filter(cycle: Cycle) -> list[dict[str, Any]]:
    verdicts = cycle.pre_filter.verdicts if cycle.pre_filter else ()
    return [
        {"plugin": plugin, "code": code, "says": ANSWERS.get(code, "says no"), "reasons": "; ".join(reasons)}
        for plugin, code, reasons in verdicts
    ]


def _narrowed(cycle: Cycle) -> str:
    names = cycle.pre_filter.node_names if cycle.pre_filter else None
    return "" if names is None else f"Only these nodes will be looked at: {', '.join(names) or 'none'}."


def _message(cycle: Cycle) -> dict[str, Any] | None:
    """Kubernetes' message, each phrase with the nodes it stands for."""
    text = cycle.message if cycle.outcome in ("unschedulable", "nominated", "error") else ""
    text = text or (cycle.fit_error.message if cycle.fit_error else "")
    if not text:
        return None
    head, parts, after = phrases(text)
    by_reason: dict[str, list[str]] = {}
    for node, plugin, _, reasons, _ in cycle.filter.rows if cycle.filter else ():
        for reason in reasons if plugin else ():
            by_reason.setdefault(reason, []).append(node)
    return {
        "head": head,
        "phrases": [
            {"count": count, "reason": reason, "nodes": " ".join(by_reason.get(reason, ()))} for count, reason in parts
        ],
        "after": after,
        "sums": sum(int(count) for count, _ in parts) > len(cycle.filter.rows) if cycle.filter else False,
    }


def _rows(world: World, cycle: Cycle, view: View) -> dict[str, Any]:
    table = cycle.filter
    assert table is not None
    pages = max(1, -(-len(table.rows) // PAGE))
    page = min(view.page, pages)
    places = {name: place for place, name in enumerate(world.order, 1)}
    first = (page - 1) * PAGE
    briefs = Briefs(world, cycle)
    rows = [
        _row(world, cycle, briefs, row, places.get(row[0], 0), index == 0 and page == 1, view)
        for index, row in enumerate(table.rows[first : first + PAGE])
    ]
    visited = {row[0] for row in table.rows}
    left = [name for name in cycle.order if name not in visited]
    ghosts = [node for node in world.nodes.values() if node.ghost]
    return {
        "rows": markup.join(rows),
        "page": page,
        "pages": pages,
        "previous": page - 1 if page > 1 else 0,
        "following": page + 1 if page < pages else 0,
        "unvisited": [{"name": name, "place": places.get(name, 0)} for name in left[:12]] if page == pages else [],
        "unvisited_more": max(0, len(left) - 12),
        "unvisited_why": _why_unvisited(cycle),
        "ghosts": [
            {"name": node.name, "when": clock(node.left_us), "pods": len(world.pods_of(node.name))} for node in ghosts
        ]
        if page == pages
        else [],
    }


def _row(world: World, cycle: Cycle, briefs: Briefs, row: Row, place: int, first: bool, view: View) -> str:
    table = cycle.filter
    assert table is not None
    node, failed, code, reasons, with_nominated = row
    name = esc(node)
    cells = []
    reached = True
    for plugin in table.plugins:
        if plugin in table.skipped:
            cells.append(SKIPPED)
        elif not reached:
            cells.append(NOT_RUN)
        elif plugin == failed:
            reached = False
            opened = node == view.node and plugin == view.plugin
            cells.append(
                f'<td class="n{" is-open" if opened else ""}" data-plugin="{esc(plugin)}"><button type="button" '
                f'id="f:{name}" '
                f'data-node="{name}" data-why="{esc(plugin)}" aria-expanded="{"true" if opened else "false"}" '
                f'title="{esc("; ".join(reasons))}">{markup.NO}{esc(briefs.of(row))}</button></td>'
            )
        else:
            cells.append(PASSED)
    mark = f'<span class="ord{" is-start" if first else ""}">{place or "–"}</span>'
    html = (
        f'<tr data-node="{name}"><th scope="row">'
        f'<button type="button" class="in" id="m:{name}" data-node="{name}">{mark}'
        f"<b>{name}</b></button></th>{''.join(cells)}<td>{_code(failed, code)}</td></tr>"
    )
    if failed and node == view.node and failed == view.plugin:
        why = explain(world, cycle, node, failed, reasons, with_nominated)
        html += f'<tr class="why"><td colspan="{len(table.plugins) + 2}">{why}</td></tr>'
    return html


def _code(failed: str, code: str) -> str:
    if not failed:
        return f'<span class="code verd-yes" title="every filter passed">{markup.YES}fits</span>'
    sign = markup.UP if code == "Unschedulable" else markup.LOCK
    return f'<span class="code" title="{esc(code)}">{sign}{helps(code)}</span>'


def _why_unvisited(cycle: Cycle) -> str:
    table = cycle.filter
    assert table is not None
    if cycle.pre_filter is not None and cycle.pre_filter.node_names is not None:
        return "not visited: PreFilter narrowed the search"
    if table.nominated_first:
        return f"not visited: the nominated node {table.nominated_first} fits, so it wins at once"
    return f"not visited: {plural(table.nodes_to_find, 'node')} that fit are enough"


def _how_many(cycle: Cycle) -> str:
    table = cycle.filter
    assert table is not None
    total = table.all_nodes
    text = f"{table.searched or len(table.rows)} of {plural(total, 'node')} looked at"
    if table.nodes_to_find and table.nodes_to_find < total:
        text += f"; the search stops when more than {table.nodes_to_find} fit"
    return f"{text}. The next search starts at place {table.next_start_index + 1}."


def _groups(world: World, cycle: Cycle) -> list[dict[str, Any]]:
    """One row per (plugin, reasons), largest first; the nodes that fit lead."""
    table = cycle.filter
    assert table is not None
    found: dict[tuple[str, tuple[str, ...], str], list[tuple[int, str]]] = {}
    for place, (node, plugin, code, reasons, _) in enumerate(table.rows, 1):
        found.setdefault((plugin, reasons if plugin else (), code if plugin else ""), []).append((place, node))
    ordered = sorted(found.items(), key=lambda item: (item[0][0] != "", -len(item[1])))
    zone_of = {name: zone_title(key) for key, names in world.zones for name in names}
    groups = []
    for (plugin, reasons, code), members in ordered:
        zones = {zone_title(key): 0 for key, _ in world.zones}
        for _, node in members:
            zone = zone_of.get(node, "no zone")
            zones[zone] = zones.get(zone, 0) + 1
        groups.append(
            {
                "count": len(members),
                "fits": not plugin,
                "reason": "; ".join(reasons) if plugin else "every filter passed",
                "plugin": plugin,
                "strip": markup.strip([place for place, _ in members], len(table.rows), "m" if plugin else "m-ok"),
                "zones": list(zones.items())[:4],
                "tokens": Markup(" ".join(markup.token(node) for _, node in members[:2])),
                "more": max(0, len(members) - 2),
                "nodes": " ".join(node for _, node in members),
                "code": code,
                "helps": helps(code) if plugin else "goes on to Score",
                "soft": code == "Unschedulable",
            }
        )
    return groups
