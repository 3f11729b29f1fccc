"""Explain in words what repeated in a command that exceeded its limits.

It counts the entries of that command. Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scheduler_engine.trace import events as ev
from scheduler_engine.trace.events import Entry
from scheduler_engine.words import say

MAKES_MANY = 100
"""An owner that makes this many pods that end at once is the cause."""
ENDS = {"TaintManagerEviction": "evicted", "Evicted": "evicted"}
"""Reason of a Kubernetes Event about a pod → how the pod ends: key of the word."""
SUBJECTS: dict[type[ev.Event], Callable[[Any], str]] = {
    ev.CycleStarted: lambda event: say("overrun.cycles"),
    ev.ElectorTried: lambda event: say("overrun.tries"),
    ev.EvictionAnswered: lambda event: say("overrun.answers-to-evictions"),
    ev.EvictionRanked: lambda event: say("overrun.searches", node=event.node),
    ev.HintAnswered: lambda event: say("overrun.answers-of-plugins"),
    ev.ObjectAdded: lambda event: say("overrun.new-objects", kind=event.kind),
    ev.ObjectModified: lambda event: say("overrun.changes", kind=event.kind),
    ev.PodMoved: lambda event: say("overrun.moves"),
    ev.PreemptionNodeTried: lambda event: say("overrun.nodes-tried"),
}
"""Type of event → what is counted."""
ADVISED = ("advance", "run", "settle", "apply")
"""Kinds of commands with advice."""


def explain(kind: str, problem: str, entries: Iterable[Entry]) -> str:
    """Return the message about a command of this ``kind``; ``problem``: the limit reached; ``entries``: the
    command's own.
    """
    what = _round(entries)
    opening = f"{what[0].upper()}{what[1:]}." if what else ""
    advice = say(f"overrun.{kind}") if kind in ADVISED else ""
    return " ".join(filter(None, (opening, say("overrun.too-much", problem=problem), advice)))


def _round(entries: Iterable[Entry]) -> str:
    """Return the owner whose pods end as fast as it creates them, else the most frequent events."""
    created: dict[str, int] = {}
    ends: dict[str, dict[str, int]] = {}
    owners: dict[str, tuple[str, int]] = {}
    counts: dict[str, int] = {}
    for entry in entries:
        event = entry.event
        subject = SUBJECTS.get(type(event))
        if subject is not None:
            name = subject(event)
            counts[name] = counts.get(name, 0) + 1
        if isinstance(event, ev.ObjectAdded) and event.kind == "Pod":
            owner = _owner(event)
            if owner:
                created[owner] = created.get(owner, 0) + 1
                owners[event.key] = owner, entry.at_us
        key, end = _end(event)
        owner, since_us = owners.get(key, ("", 0))
        if end and owner and entry.at_us == since_us:
            by_end = ends.setdefault(owner, {})
            by_end[end] = by_end.get(end, 0) + 1
    worst = max(ends, key=lambda owner: created[owner], default="")
    if worst and created[worst] >= MAKES_MANY:
        how = max(ends[worst], key=lambda end: (ends[worst][end], end == "evicted"))
        return say("overrun.created", owner=worst, pods=created[worst], how=say(f"overrun.{how}"))
    most = max(counts, key=lambda name: counts[name], default="")
    return say("overrun.counted", number=counts[most], events=most) if most else ""


def _owner(event: ev.ObjectAdded) -> str:
    """Return kind and name of a pod's controller."""
    for reference in event.manifest["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return f"{reference['kind']} {reference['name']}"
    return ""


def _end(event: ev.Event) -> tuple[str, str]:
    """Return (key of a pod that ends, how); "" if none does."""
    if isinstance(event, ev.EventRecorded) and event.regarding_kind == "Pod":
        return event.regarding, ENDS.get(event.reason, "")
    if isinstance(event, ev.EvictionAnswered):
        return event.pod, "evicted" if event.code == 200 else ""
    if isinstance(event, ev.ObjectDeleted) and event.kind == "Pod":
        return event.key, "deleted"
    return "", ""
