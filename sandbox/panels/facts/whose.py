"""The attempt that a table shows."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name


def attempt_shown(world: World, cycle: Cycle | None) -> dict[str, Any] | None:
    """Return the attempt. ``now``: name of the pod in focus, if this is not the attempt in focus."""
    if cycle is None:
        return None
    other = world.cycle if world.cycle is not None and world.cycle is not cycle else None
    return {
        "pod": cycle.pod,
        "name": short_name(cycle.pod),
        "cycle": cycle.number,
        "attempt": cycle.attempt,
        "now": short_name(other.pod) if other else "",
    }
