"""The steps of a scenario: which of them were made, and what to offer next."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.base import Models


def made(world: Models) -> int:
    """How many steps lie behind: they were done in their order, whatever else was done between them."""
    steps, place = world.guide.steps, 0
    for command in world.commands[world.guide.setup :]:
        ahead = place
        while ahead < len(steps) and steps[ahead].refused:
            ahead += 1
        if ahead < len(steps) and steps[ahead].summary == command.summary:
            place = ahead + 1
    return place


def untouched(world: Models) -> bool:
    """Nobody did anything since the scenario was opened."""
    return bool(world.guide.setup) and len(world.commands) <= world.guide.setup


def offered(world: Models) -> dict[str, Any]:
    """The next step; after one that will be refused also those up to the first that will not."""
    steps, place = world.guide.steps, made(world)
    end = next((index for index in range(place, len(steps)) if not steps[index].refused), len(steps) - 1) + 1
    rows = [{"number": index + 1, "text": steps[index].text} for index in range(place, end)]
    return {"first": rows[0] if rows else None, "more": rows[1:], "of": len(steps), "over": bool(steps) and not rows}
