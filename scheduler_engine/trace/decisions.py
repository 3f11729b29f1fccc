"""What a command decided, short enough to be stored with it.

A later version of the engine that replays the command can tell by it whether it decides the same. Only decisions count,
not how the trace words or orders them. Source: design of the sandbox.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from scheduler_engine.trace import events as ev

LONGEST = 200
"""Characters of a text."""
DECISIONS: dict[type[ev.Event], Callable[[Any], str]] = {
    ev.CycleFinished: lambda event: " ".join(filter(None, (event.pod, event.outcome, event.node))),
    ev.PodMoved: lambda event: f"{event.pod} in {event.target}",
    ev.NominationChanged: lambda event: f"{event.pod} nominated {event.node}",
    ev.PodEvicted: lambda event: f"{event.pod} evicted {event.node}",
    ev.PodRejected: lambda event: f"{event.pod} rejected {event.node}",
    ev.EvictionAnswered: lambda event: f"{event.pod} eviction {event.code}",
}
"""Event → what it decided."""


class Decisions:
    """The decisions of the last command of a trace, whose entries are added one by one."""

    __slots__ = ("checksum", "command", "text")

    def __init__(self) -> None:
        self.command = self.checksum = 0
        self.text = ""

    def add(self, entry: ev.Entry) -> None:
        """Add the next entry. The first one of a command begins anew."""
        if entry.command != self.command:
            self.command, self.checksum, self.text = entry.command, 0, ""
        of = DECISIONS.get(type(entry.event))
        if of is None:
            return
        decided = of(entry.event)
        self.checksum = zlib.crc32(f"{entry.at_us} {decided}\n".encode(), self.checksum)
        if isinstance(entry.event, ev.CycleFinished) and len(self.text) < LONGEST:
            self.text += f"{', ' if self.text else ''}{decided}"

    def mark(self) -> str:
        """Return the mark of the command: a checksum of all decisions, then how cycles ended, as far as there is room.

        At most ``LONGEST`` characters. "-" = no decisions.
        """
        if not self.checksum:
            return "-"
        text = f"{self.checksum:08x} {self.text}"
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def ends_of(mark: str) -> str:
    """Return how the cycles of a marked command ended, as far as the mark says."""
    return mark.partition(" ")[2]
