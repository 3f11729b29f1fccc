"""The steps of a scenario: which ones are done, and what to offer next."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.base import Models


def steps_done(world: Models) -> int:
    """Return how many steps are done: in their order, whatever else was done between them."""
    return len(step_commands(world))


def step_commands(world: Models) -> list[int]:
    """Return the number of the command of each step that is done; for a refused step, that of the next one."""
    steps, numbers = world.guide.steps, list[int]()
    for command in world.commands[world.guide.setup :]:
        ahead = len(numbers)
        while ahead < len(steps) and steps[ahead].refused:
            ahead += 1
        if ahead < len(steps) and steps[ahead].command == command.command:
            numbers += [command.number] * (ahead + 1 - len(numbers))
    return numbers


def last_step(world: Models) -> int | None:
    """Return the number of the command of the last step, without steps of the last run; None while there are more."""
    steps, numbers = world.guide.steps, step_commands(world)
    if not steps:
        later = world.commands[world.guide.setup :]
        return next((command.number for command in reversed(later) if command.kind == "run"), None)
    needed = max((place for place, step in enumerate(steps, 1) if not step.refused), default=0)
    return numbers[-1] if numbers and len(numbers) >= needed else None


def untouched(world: Models) -> bool:
    """Return True if nobody did anything since the scenario was opened."""
    return bool(world.guide.setup) and len(world.commands) <= world.guide.setup


def next_steps(world: Models) -> dict[str, Any]:
    """Return the next step; if it will be refused, also the steps up to the first that will not be."""
    steps, place = world.guide.steps, steps_done(world)
    end = next((index for index in range(place, len(steps)) if not steps[index].refused), len(steps) - 1) + 1
    rows = [{"number": index + 1, "text": steps[index].text} for index in range(place, end)]
    return {"first": rows[0] if rows else None, "more": rows[1:], "of": len(steps), "over": bool(steps) and not rows}
