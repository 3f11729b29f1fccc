"""The steps of a scenario: which of them were made, and what to offer next."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.base import Models


def made(world: Models) -> int:
    """How many steps lie behind: they were done in their order, whatever else was done between them."""
    return len(places(world))


def places(world: Models) -> list[int]:
    """For each step that lies behind the number of its command; of one that was refused, that of the next one."""
    steps, found = world.guide.steps, list[int]()
    for command in world.commands[world.guide.setup :]:
        ahead = len(found)
        while ahead < len(steps) and steps[ahead].refused:
            ahead += 1
        if ahead < len(steps) and steps[ahead].command == command.command:
            found += [command.number] * (ahead + 1 - len(found))
    return found


def over(world: Models) -> int | None:
    """The number of the command that made the last step; None: there are more. A scenario without steps is over when
    somebody has let it run.
    """
    steps, found = world.guide.steps, places(world)
    if not steps:
        later = world.commands[world.guide.setup :]
        return next((command.number for command in reversed(later) if command.kind == "run"), None)
    wanted = max((place for place, step in enumerate(steps, 1) if not step.refused), default=0)
    return found[-1] if found and len(found) >= wanted else None


def untouched(world: Models) -> bool:
    """Nobody did anything since the scenario was opened."""
    return bool(world.guide.setup) and len(world.commands) <= world.guide.setup


def offered(world: Models) -> dict[str, Any]:
    """The next step; after one that will be refused also those up to the first that will not."""
    steps, place = world.guide.steps, made(world)
    end = next((index for index in range(place, len(steps)) if not steps[index].refused), len(steps) - 1) + 1
    rows = [{"number": index + 1, "text": steps[index].text} for index in range(place, end)]
    return {"first": rows[0] if rows else None, "more": rows[1:], "of": len(steps), "over": bool(steps) and not rows}
