"""Questions of lessons for tests: where they are, their right answers, and how learners take their steps.

Quickly is command by command; slowly is in the smallest steps.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from scheduler_engine.lesson import Lesson, Part, predictions
from scheduler_engine.lesson.model import Question, Steps
from scheduler_engine.lesson.predictions import Sight
from scheduler_engine.scenario import play
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev

STOPS = (0, 0.1, 0.5, 1)
"""Where a slow learner stops while time passes, as shares of that time."""
FEW = 8
"""Up to this many choices, all are tried; of more, only some."""


def commands_of(steps: Steps, slow: bool, simulation: Simulation) -> list[Data]:
    """Return the commands of a learner who starts at ``simulation``."""
    there, commands = copy.deepcopy(simulation), []
    for step in steps:
        since = len(there.recorder.entries)
        play(there, [step])
        stages = sum(isinstance(entry.event, ev.StageFinished) for entry in there.recorder.entries[since:])
        commands += _slowly(step, stages) if slow else [step]
    return commands


def _slowly(step: Data, stages: int) -> list[Data]:
    if step["kind"] in ("pod", "settle") and stages:
        return [{"kind": "stage"}] * stages
    if step["kind"] == "advance":
        seconds = [round(share * step["seconds"]) for share in STOPS]
        return [{"kind": "advance", "seconds": end - start} for start, end in pairwise(seconds) if end > start]
    return [step]


@dataclass(frozen=True)
class Put:
    """A question: the simulation when it is asked, the choices, and the right ones at its end."""

    question: Question
    start: Simulation
    offered: tuple[str, ...]
    right: tuple[str, ...]
    many: bool

    def answers(self) -> list[tuple[str, ...]]:
        """Return the right answer, then wrong ones: all, if there are few choices."""
        rightly = self.right if self.many else self.right[:1]
        others: list[tuple[str, ...]] = [(choice,) for choice in self.offered[:FEW]]
        others += [(), self.offered] if self.many else []
        return [rightly, *(other for other in others if not self.agrees(other))]

    def agrees(self, choices: tuple[str, ...]) -> bool:
        return sorted(choices) == sorted(self.right) if self.many else choices[0] in self.right


def parts_of(lesson: Lesson) -> Iterator[tuple[Part, Put | None]]:
    """Yield each part of a lesson, with its question."""
    simulation = lesson.scenario.open()
    for part in lesson.parts:
        question = part.question
        if question is None:
            play(simulation, part.way)
            yield part, None
            continue
        start, since = copy.deepcopy(simulation), len(simulation.recorder.entries) if part.predicts else 0
        offered = predictions.choices(RunView(start), question)
        play(simulation, part.way)
        run = RunView(simulation)
        answer = predictions.judge(question, since, Sight(simulation.recorder, lambda _, run=run: run)).answer
        assert answer is not None
        yield part, Put(question, start, offered, answer.right, predictions.KINDS[question.kind].many)
