"""What a task still lacks."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.lesson.model import Item, Task
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.expectations import assertion_of, wrong_with
from scheduler_engine.shapes import Data


@dataclass(frozen=True, slots=True)
class Checked:
    """``wrong``: what was found instead, in words; empty: it is done. ``shown``: the learner's version."""

    item: Item
    wrong: tuple[str, ...]
    shown: tuple[str, ...]


def checked(run: RunView, task: Task) -> list[Checked]:
    """Check each goal of the task in the present state."""
    return [_checked(run, item) for item in task.check]


def _checked(run: RunView, item: Item) -> Checked:
    results = [(expectation, wrong_with(run, expectation)) for expectation in item.holds]
    wrong = [text for _, texts in results for text in texts]
    shown = [text for expectation, texts in results for text in _plainly(run, expectation, texts)]
    return Checked(item, tuple(wrong), tuple(dict.fromkeys(shown)))


def _plainly(run: RunView, expectation: Data, texts: list[str]) -> list[str]:
    plainly = assertion_of(expectation).plainly
    return [plainly(run, expectation)] if texts and plainly is not None else texts


def done(run: RunView, task: Task) -> bool:
    return not any(row.wrong for row in checked(run, task))
