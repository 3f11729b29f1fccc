"""Explain in words what repeated in a command that exceeded its limits.

It counts the entries of that command. Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scheduler_engine.trace import events as ev
from scheduler_engine.trace.events import Entry

MAKES_MANY = 100
"""An owner that makes this many pods that end at once is the cause."""
ENDS = {"TaintManagerEviction": "evicted", "Evicted": "evicted"}
"""Reason of a Kubernetes Event about a pod → how the pod ends."""
SUBJECTS: dict[type[ev.Event], Callable[[Any], str]] = {
    ev.CycleStarted: lambda event: "scheduling cycles",
    ev.ElectorTried: lambda event: "tries for the lock",
    ev.EvictionAnswered: lambda event: "answers to evictions",
    ev.EvictionRanked: lambda event: f"searches by the kubelet on {event.node} for a pod to evict",
    ev.HintAnswered: lambda event: "answers of plugins about waiting pods",
    ev.ObjectAdded: lambda event: f"new objects of kind {event.kind}",
    ev.ObjectModified: lambda event: f"changes of objects of kind {event.kind}",
    ev.PodMoved: lambda event: "moves of pods between queues",
    ev.PreemptionNodeTried: lambda event: "nodes tried for preemption",
}
"""Type of event → what is counted."""
ADVICE = {
    "advance": "Let less time pass at once.",
    "run": "Let time pass in steps instead, or run fewer cycles at once.",
    "settle": "Continue pod by pod, or run a few cycles at a time.",
    "apply": "Apply fewer objects at once.",
}
"""Kind of command → advice."""


def explain(kind: str, problem: str, entries: Iterable[Entry]) -> str:
    """Return the message about a command of this ``kind``; ``problem``: the limit reached; ``entries``: the
    command's own.
    """
    what = _round(entries)
    opening = f"{what[0].upper()}{what[1:]}. " if what else ""
    return f"{opening}This is too much for one command: {problem}. Nothing has changed. {ADVICE.get(kind, '')}".rstrip()


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
        return f"{worst} created {created[worst]:,} pods that were {how} at once"
    most = max(counts, key=lambda name: counts[name], default="")
    return f"{counts[most]:,} {most}" if most else ""


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
