"""What of a task is still missing."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.lesson.model import Item, Task
from scheduler_engine.scenario.attempts import Seen
from scheduler_engine.scenario.expectations import failures_of


@dataclass(frozen=True, slots=True)
class Checked:
    """``wrong``: what was found instead, in words; empty: it is done."""

    item: Item
    wrong: tuple[str, ...]


def checked(seen: Seen, task: Task) -> list[Checked]:
    """Each thing that the task asks for, as it is now."""
    return [Checked(item, tuple(failures_of(seen, item.holds))) for item in task.check]


def done(seen: Seen, task: Task) -> bool:
    return not any(row.wrong for row in checked(seen, task))
