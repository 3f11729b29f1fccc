"""Two logs: Kubernetes events as ``kubectl get events`` would list them, and the trace, newest first."""

from __future__ import annotations

from typing import Any

from scheduler_engine.trace.text import line

from .amounts import clock, short_name
from .view import View
from .world import World

PAGE = 100


def stats(world: World, view: View) -> dict[str, Any]:
    pages = max(1, -(-len(world.entries) // PAGE))
    page = min(view.page, pages)
    last = len(world.entries) - (page - 1) * PAGE
    shown = world.entries[max(0, last - PAGE) : last]
    return {
        "entries": [
            {
                "n": entry.n,
                "at": clock(entry.at_us),
                "kind": type(entry.event).__name__,
                "text": line(entry.event),
                "command": entry.command,
                "pod": getattr(entry.event, "pod", ""),
                "node": getattr(entry.event, "node", ""),
            }
            for entry in reversed(shown)
        ],
        "count": len(world.entries),
        "page": page,
        "pages": pages,
        "previous": page - 1 if page > 1 else 0,
        "following": page + 1 if page < pages else 0,
        "kube": [
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
        ],
        "kube_count": len(world.kube_events),
    }
