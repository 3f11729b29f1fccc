"""The smallest panel, always sent: the clock, the head of the log, and who did what last."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.words.amounts import clock


def stats(world: World, view: View) -> dict[str, Any]:
    last = world.commands[-1] if world.commands else None
    of = world.length if world.present is None else world.present.head
    return {
        "clock": clock(world.clock_us),
        "head": world.head,
        "length": of,
        "last": last.summary if last else "",
        "who": world.who,
        "last_at": clock(last.at_us) if last else "",
        "events": len(world.entries),
        "behind": world.head < of,
    }
