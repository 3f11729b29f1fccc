"""What of a task is still missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scheduler_engine.lesson.model import Item, Task
from scheduler_engine.scenario.attempts import Seen
from scheduler_engine.scenario.expectations import failures_of


@dataclass(frozen=True, slots=True)
class Checked:
    """``wrong``: what was found instead, in words; empty: it is done."""

    item: Item
    wrong: tuple[str, ...]


TOLD_BY_THE_ROW = ("trace", "order")
"""Expectations whose failures quote the trace and names of events: what is awaited says the row in better words."""
NOT_YET = "This has not happened yet."


def checked(seen: Seen, task: Task) -> list[Checked]:
    """Each thing that the task asks for, as it is now."""
    return [Checked(item, tuple(dict.fromkeys(_missing(seen, item)))) for item in task.check]


def _missing(seen: Seen, item: Item) -> Iterator[str]:
    for expectation in item.holds:
        found = failures_of(seen, [expectation])
        yield from [NOT_YET] if found and any(name in expectation for name in TOLD_BY_THE_ROW) else found


def done(seen: Seen, task: Task) -> bool:
    return not any(row.wrong for row in checked(seen, task))
