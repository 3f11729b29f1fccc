"""Questions of lessons as tests put them: where they stand, what is right, and how learners take their steps.

Quickly is command by command; slowly is in the smallest steps that there are.
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
from scheduler_engine.scenario.attempts import Seen
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev

STOPS = (0, 0.1, 0.5, 1)
"""Where a slow learner stops on the way through a time that passes, as shares of it."""
FEW = 8
"""Choices that are all given; of more, only some."""


def commands_of(steps: Steps, slow: bool, simulation: Simulation) -> list[Data]:
    """The commands of a learner who starts at ``simulation``."""
    there, found = copy.deepcopy(simulation), []
    for step in steps:
        since = len(there.recorder.entries)
        play(there, [step])
        stages = sum(isinstance(entry.event, ev.StageFinished) for entry in there.recorder.entries[since:])
        found += _slowly(step, stages) if slow else [step]
    return found


def _slowly(step: Data, stages: int) -> list[Data]:
    if step["kind"] in ("pod", "settle") and stages:
        return [{"kind": "stage"}] * stages
    if step["kind"] == "advance":
        seconds = [round(share * step["seconds"]) for share in STOPS]
        return [{"kind": "advance", "seconds": end - start} for start, end in pairwise(seconds) if end > start]
    return [step]


@dataclass(frozen=True)
class Put:
    """A question: the simulation when it is put, the choices, and those that are right at its end."""

    question: Question
    start: Simulation
    offered: tuple[str, ...]
    right: tuple[str, ...]
    many: bool

    def answers(self) -> list[tuple[str, ...]]:
        """The right answer, then wrong ones: all, if there are few choices."""
        rightly = self.right if self.many else self.right[:1]
        others: list[tuple[str, ...]] = [(choice,) for choice in self.offered[:FEW]]
        others += [(), self.offered] if self.many else []
        return [rightly, *(other for other in others if not self.agrees(other))]

    def agrees(self, given: tuple[str, ...]) -> bool:
        return sorted(given) == sorted(self.right) if self.many else given[0] in self.right


def parts_of(lesson: Lesson) -> Iterator[tuple[Part, Put | None]]:
    """Each part of a lesson, with its question."""
    simulation = lesson.scenario.open()
    for part in lesson.parts:
        question = part.question
        if question is None:
            play(simulation, part.way)
            yield part, None
            continue
        start, since = copy.deepcopy(simulation), len(simulation.recorder.entries) if part.foresee else 0
        offered = predictions.choices(Seen(start), question)
        play(simulation, part.way)
        seen = Seen(simulation)
        found = predictions.judge(question, since, Sight(simulation.recorder, lambda _, seen=seen: seen)).answer
        assert found is not None
        yield part, Put(question, start, offered, found.right, predictions.KINDS[question.kind].many)
