"""The clock, and the position of the moment in view."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.position import position
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import clock


def stats(world: World, view: View) -> dict[str, Any]:
    cycle, now = world.cycle, world.present or world
    return {
        "clock": clock(world.clock_us),
        "clock_us": world.clock_us,
        "cycle": cycle.number if cycle else 0,
        "head": now.head,
        "length": now.length,
        "position": position(world),
        "past": world.present is not None,
    }
