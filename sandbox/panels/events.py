"""Two logs, the newest first: Kubernetes events as ``kubectl get events`` lists them, and the trace."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import clock, short_name
from scheduler_engine.trace.events import CommandGiven
from scheduler_engine.wording.entries import line

PAGE = 100


def stats(world: World, view: View) -> dict[str, Any]:
    pages = pager(len(world.entries), view, "events", PAGE)
    last = len(world.entries) - pages.start
    kube_pages = pager(len(world.kube_events), view, "events.kube", PAGE)
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
            "earlier": world.regards_namesake(recorded),
            "message": recorded.event.message,
            "times": recorded.count,
        }
        for recorded in on_page(world.kube_events[::-1], kube_pages)
    ]
    return {
        "entries": entries,
        "count": len(world.entries),
        "pages": pages,
        "kube_pages": kube_pages,
        "kube": kube,
        "kube_count": len(world.kube_events),
    }
