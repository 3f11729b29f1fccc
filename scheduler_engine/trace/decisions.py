"""What a command decided, short enough to be stored with it.

A later version of the engine that replays the command can tell by it whether it decides the same. Only decisions count,
not the words in which the trace reports them. Source: design of the sandbox.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from scheduler_engine.trace import events as ev

LONGEST = 200
"""Characters of a mark."""
FORM = "1"
"""Begins every mark. Raise it if marks change although decisions do not: marks of another form are not compared."""
ENDS = "ends"

Described = Callable[[Any], str]


def _filtered(event: ev.FilterRan) -> str:
    rejecting = ",".join(row[1] for row in event.rows)
    return f"filtered {event.start_index} {event.next_start_index} {rejecting} {' '.join(event.feasible)}"


def _scored(event: ev.NormalizeRan) -> str:
    return f"scored {event.totals.numbers}"


def _phase(event: ev.ObjectModified) -> str:
    status = event.manifest.get("status")
    return f"{event.kind} {event.key} {status.get('phase', '') if isinstance(status, dict) else ''}"


TOPICS: dict[str, dict[type[ev.Event], Described]] = {
    ENDS: {ev.CycleFinished: lambda event: " ".join(filter(None, (event.pod, event.outcome, event.node)))},
    "choices": {
        ev.FilterRan: _filtered,
        ev.NormalizeRan: _scored,
        ev.HostSelected: lambda event: f"{event.pod} on {event.node} by {event.how}",
        ev.PreemptionNodeTried: lambda event: f"{event.node} without {' '.join(event.victims) or 'anybody'}",
        ev.PostFilterRan: lambda event: f"nominated {event.nominated_node} without {' '.join(event.victims)}",
    },
    "queues": {
        ev.PodMoved: lambda event: f"{event.pod} in {event.target}",
        ev.NominationChanged: lambda event: f"{event.pod} nominated {event.node}",
    },
    "evictions": {
        ev.PodEvicted: lambda event: f"{event.pod} evicted {event.node}",
        ev.PodRejected: lambda event: f"{event.pod} rejected {event.node}",
        ev.EvictionAnswered: lambda event: f"{event.pod} eviction {event.code}",
        ev.TaintEvictionPlanned: lambda event: f"{event.pod} leaves {event.node} at {event.at_us}",
        ev.DrainChanged: lambda event: f"{event.node} drain {event.what} {' '.join(event.pods)}",
    },
    "objects": {
        ev.ObjectAdded: lambda event: f"{event.kind} {event.key} added",
        ev.ObjectModified: _phase,
        ev.ObjectDeleted: lambda event: f"{event.kind} {event.key} deleted",
    },
    "leaders": {ev.ReplicaChanged: lambda event: f"{event.replica} {event.state}"},
}
"""Topic → event → what it decided."""
DECISIONS: dict[type[ev.Event], tuple[int, Described]] = {
    event: (place, of) for place, table in enumerate(TOPICS.values()) for event, of in table.items()
}
"""Event → place of its topic, and what it decided."""


class Decisions:
    """The decisions of the last command of a trace, whose entries are added one by one."""

    __slots__ = ("checksums", "command", "text")

    def __init__(self) -> None:
        self._begin(0)

    def _begin(self, command: int) -> None:
        self.command, self.checksums, self.text = command, [0] * len(TOPICS), ""

    def add(self, entry: ev.Entry) -> None:
        """Add the next entry. The first one of a command begins anew."""
        if entry.command != self.command:
            self._begin(entry.command)
        row = DECISIONS.get(type(entry.event))
        if row is None:
            return
        place, of = row
        decided = of(entry.event)
        self.checksums[place] = zlib.crc32(f"{entry.at_us} {entry.replica} {decided}\n".encode(), self.checksums[place])
        if isinstance(entry.event, ev.CycleFinished) and len(self.text) < LONGEST:
            self.text += f"{', ' if self.text else ''}{decided}"

    def mark(self) -> str:
        """Return the mark of the command: a checksum for each topic, "-" = no decisions; then how cycles ended, as far
        as there is room. At most ``LONGEST`` characters.
        """
        checksums = (f"{checksum:08x}" if checksum else "-" for checksum in self.checksums)
        mark = " ".join((FORM, *checksums, self.text)).rstrip()
        return mark if len(mark) <= LONGEST else f"{mark[: LONGEST - 1]}…"


def comparable(mark: str) -> bool:
    """Return True if this version of the engine writes marks of the same form."""
    return mark.startswith(f"{FORM} ")


def differing(before: str, now: str) -> list[str]:
    """Return the topics in which two comparable marks of one command differ."""
    return [topic for topic, old, new in zip(TOPICS, _checksums(before), _checksums(now), strict=True) if old != new]


def _checksums(mark: str) -> list[str]:
    return mark.split(" ")[1 : len(TOPICS) + 1]


def ends_of(mark: str) -> tuple[list[str], bool]:
    """Return how the cycles of a marked command ended, and whether these are all cycles."""
    text = " ".join(mark.split(" ")[len(TOPICS) + 1 :])
    ends = text.split(", ") if text else []
    return (ends[:-1], False) if text.endswith("…") else (ends, True)


def first_difference(before: str, now: str) -> tuple[str, str] | None:
    """Return the two ends of the first cycle that ends differently, "" = there is no such cycle.

    None: all ends that both marks have are the same.
    """
    (old, old_is_whole), (new, new_is_whole) = ends_of(before), ends_of(now)
    for then, end in zip_longest(old, new, fillvalue=""):
        if then != end:
            return (then, end) if (then or old_is_whole) and (end or new_is_whole) else None
    return None
