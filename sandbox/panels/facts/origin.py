"""What set a move of the queue off: a person's command, a step of some cycle, or the clock."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.state import STEPS, Queued
from sandbox.panels.model.world import World
from sandbox.panels.words.amounts import short_name


def origin(world: World, queued: Queued) -> dict[str, Any]:
    """``text`` in words; ``command`` or ``cycle`` is the number of its mark on the time line, if it has one there.

    A Pop needs no cause but that it was the pod's turn.
    """
    if queued.came.cause in ("Pop", "PopFromBackoffQ"):
        return {"text": ""}
    if queued.cycle and queued.cycle in world.by_number:
        return {
            "text": f"in cycle {queued.cycle} of {short_name(world.by_number[queued.cycle].pod)}",
            "cycle": queued.cycle,
            "moment": str(world.moment_of(world.by_number[queued.cycle].last_entry)),
        }
    if not 0 < queued.command <= len(world.commands):
        return {"text": ""}
    command = world.commands[queued.command - 1]
    if command.kind in STEPS:
        return {"text": "by the clock"}
    return {"text": f"command {command.number}: {command.summary}", "command": command.number}
