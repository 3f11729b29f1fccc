"""The clock and where in the command log the sandbox stands."""

from __future__ import annotations

from typing import Any

from .amounts import clock
from .view import View
from .world import World


def stats(world: World, view: View) -> dict[str, Any]:
    cycle = world.cycle
    return {
        "clock": clock(world.clock_us),
        "clock_us": world.clock_us,
        "cycle": cycle.number if cycle else 0,
        "head": world.head,
        "length": world.length,
        "can_go_forward": world.head < world.length,
    }
