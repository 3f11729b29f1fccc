"""What caused a move in the queue: a person's command, a step of a cycle, or the clock."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.state import Queued
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.say import say


def origin(world: World, queued: Queued) -> dict[str, Any]:
    """Return ``text`` in words, with ``command`` or ``cycle``: the number of its mark on the timeline, if there is one.

    A Pop has no cause but the pod's turn.
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
