"""The clock, and the position of the moment in view."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.position import position
from sandbox.panels.facts.version import rules_in
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import clock
from scheduler_engine.versions import release_of


def stats(world: World, view: View) -> dict[str, Any]:
    cycle, now = world.cycle, world.present or world
    return {
        "clock": clock(world.clock_us),
        "clock_us": world.clock_us,
        "cycle": cycle.number if cycle else 0,
        "head": now.head,
        "length": now.length,
        "followed": rules_in(now.configured).kubernetes,
        "position": position(world),
        "version": release_of(rules_in(world.configured).kubernetes),
        "past": world.present is not None,
    }
