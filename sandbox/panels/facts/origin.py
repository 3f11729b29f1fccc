"""What set a move of the queue off: a person's command, a step of some cycle, or the clock."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.state import Queued
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.say import say


def origin(world: World, queued: Queued) -> dict[str, Any]:
    """``text`` in words; ``command`` or ``cycle`` is the number of its mark on the timeline, if it has one there.

    A Pop needs no cause but that it was the pod's turn.
    """
    if queued.came.cause in ("Pop", "PopFromBackoffQ"):
        return {"text": ""}
    cycle = world.by_number.get(queued.cycle)
    if cycle is not None:
        return {
            "text": say("history.in-cycle", cycle=queued.cycle, pod=short_name(cycle.pod)),
            "cycle": queued.cycle,
            "moment": str(world.moment_of(cycle.last_entry)),
        }
    if not 0 < queued.command <= len(world.commands):
        return {"text": ""}
    command = world.commands[queued.command - 1]
    if command.command.steps:
        return {"text": say("history.by-the-clock")}
    text = say("history.by-command", number=command.number, summary=command.summary)
    return {"text": text, "command": command.number}
