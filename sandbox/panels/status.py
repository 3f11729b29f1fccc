"""The smallest panel, always sent: the clock, the position of the moment in view, and who did what last."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.position import position
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import clock
from scheduler_engine.trace.events import Configured


def stats(world: World, view: View) -> dict[str, Any]:
    last = world.commands[-1] if world.commands else None
    return {
        "clock": clock(world.clock_us),
        "position": position(world),
        "last": last.summary if last else "",
        "who": world.who,
        "last_at": clock(last.at_us) if last else "",
        "configured": world.latest.get(Configured, 0),
        "events": len(world.entries),
    }
