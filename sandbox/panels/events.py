"""Two logs: Kubernetes events as ``kubectl get events`` would list them, and the trace, newest first."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.markup import esc, join
from sandbox.panels.drawing.paging import pager
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.words.amounts import clock, short_name
from scheduler_engine.trace.events import CommandGiven
from scheduler_engine.trace.text import line

PAGE = 100


def stats(world: World, view: View) -> dict[str, Any]:
    pages = pager(len(world.entries), PAGE, view.page)
    last = len(world.entries) - (pages["page"] - 1) * PAGE
    entries = [
        {
            "n": entry.n,
            "at": clock(entry.at_us),
            "kind": type(entry.event).__name__,
            "text": line(entry.event),
            "who": world.people.get(entry.command, "") if isinstance(entry.event, CommandGiven) else "",
            "command": entry.command,
            "pod": getattr(entry.event, "pod", ""),
            "node": getattr(entry.event, "node", ""),
        }
        for entry in reversed(world.entries[max(0, last - PAGE) : last])
    ]
    kube = [
        {
            "at": clock(recorded.at_us),
            "type": recorded.event.type,
            "reason": recorded.event.reason,
            "kind": recorded.event.regarding_kind.lower(),
            "name": short_name(recorded.event.regarding),
            "pod": recorded.event.regarding if recorded.event.regarding_kind == "Pod" else "",
            "node": recorded.event.regarding if recorded.event.regarding_kind == "Node" else "",
            "message": recorded.event.message,
            "times": recorded.count,
        }
        for recorded in reversed(world.kube_events[-PAGE:])
    ]
    return {
        "entries": entries,
        "entries_html": join(map(_entry_html, entries)),
        "count": len(world.entries),
        **pages,
        "kube": kube,
        "kube_html": join(map(_kube_html, kube)),
        "kube_count": len(world.kube_events),
    }


def _entry_html(entry: dict[str, Any]) -> str:
    pod = f' data-pod="{esc(entry["pod"])}"' if entry["pod"] else ""
    by = f" by {esc(entry['who'])}" if entry["who"] else ""
    return (
        f'<li{pod}><span class="num">{entry["n"]}</span><span class="num">{entry["at"]}</span>'
        f'<span class="kind">{entry["kind"]}</span><span>{esc(entry["text"])}{by}</span></li>'
    )


def _kube_html(item: dict[str, Any]) -> str:
    about = next((f' data-{kind}="{esc(item[kind])}"' for kind in ("pod", "node") if item[kind]), "")
    times = f'<span class="quiet">×{item["times"]}</span>' if item["times"] > 1 else ""
    return (
        f'<li class="{"is-warning" if item["type"] == "Warning" else ""}"><span class="num">{item["at"]}</span>'
        f'<button type="button" class="lnk"{about}>{esc(item["kind"])}/{esc(item["name"])}</button>'
        f"<b>{esc(item['reason'])}</b>{times}<p>{esc(item['message'])}</p></li>"
    )
