"""Answer each question of each lesson quickly and slowly: check when it is over, and which answer is right."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from scheduler_engine.lesson import Lesson, Part, load_lesson
from scheduler_engine.lesson.answers import BOUND
from scheduler_engine.lesson.daily import PROBLEMS, daily
from scheduler_engine.lesson.model import Question, Steps
from scheduler_engine.lesson.predictions import Judged, Sight, choices, is_right, judge
from scheduler_engine.lesson.walking import Walk
from scheduler_engine.scenario import FOLDER, play
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.expectations import failures_of
from scheduler_engine.scenario.expectations.queues import lane_of
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from tests.questions import commands_of

SHELVES = ("lessons", "misconceptions", "challenges")
FILES = [path for shelf in SHELVES for path in sorted((FOLDER.parent / shelf).glob("*.yaml"))]
LESSONS = {f"{path.parent.name}/{path.stem}": path for path in FILES} | {f"daily/{n}": n for n in range(len(PROBLEMS))}


@cache
def lesson_of(name: str) -> Lesson:
    place = LESSONS[name]
    return load_lesson(place) if isinstance(place, Path) else daily(place)


def parts_of(name: str) -> Iterator[tuple[Part, Simulation]]:
    """Yield each part with a question, and the simulation at its start."""
    lesson = lesson_of(name)
    simulation = lesson.scenario.open()
    for part in lesson.parts:
        if part.question:
            yield part, copy.deepcopy(simulation)
        play(simulation, part.way)


class Learner:
    """A learner in a part, with its open question."""

    def __init__(self, part: Part, simulation: Simulation) -> None:
        assert part.question is not None
        self.part, self.question = part, part.question
        self.start, self.simulation = simulation, copy.deepcopy(simulation)
        self.since = len(simulation.recorder.entries)
        self.log: list[tuple[int, Data]] = []
        self.played: dict[tuple[int, int], Simulation] = {}

    def do(self, command: Data) -> None:
        play(self.simulation, [command])
        self.log.append((len(self.simulation.recorder.entries), command))

    def ahead(self, entries: int, steps: Steps) -> Simulation:
        if not steps and entries == len(self.simulation.recorder.entries):
            return self.simulation
        key = entries, len(steps)
        if key not in self.played:
            there = copy.deepcopy(self.start)
            play(there, [command for end, command in self.log if end <= entries])
            play(there, steps)
            self.played[key] = there
        return self.played[key]

    @property
    def walk(self) -> Walk:
        return Walk(self.part.do, self.simulation.recorder, self.since, self.ahead, pressed=True)

    def judged(self) -> Judged:
        walk = self.walk
        return judge(
            self.question, self.since, Sight(self.simulation.recorder, lambda _: RunView(walk.simulation()), walk)
        )


def holds(simulation: Simulation, question: Question) -> tuple[str, ...]:
    """Return the right answers by the engine's own state, not its trace."""
    view = RunView(simulation)
    if question.kind == "lane":
        pod = simulation.api.pod(question.pod)
        assert pod is not None
        return (BOUND if pod.node_name else lane_of(view, question.pod),)
    if question.kind == "options":
        return tuple(option.text for option in question.options if not failures_of(view, option.holds))
    attempt = view.attempt(question.pod)
    assert attempt is not None
    if question.kind == "passes":
        return attempt.filter.feasible if attempt.filter else ()
    if question.kind == "winner":
        assert attempt.selected is not None
        return attempt.selected.ties or (attempt.selected.node,)
    if question.kind == "victims":
        tried = [each for each in view.attempts[question.pod] if each.post_filter is not None]
        return tried[-1].post_filter.victims if tried and tried[-1].post_filter else ()
    verdict = attempt.verdict(question.node)
    assert verdict is not None
    return (verdict[0],)


@pytest.mark.parametrize("name", LESSONS)
def test_it_is_checked_at_the_end_of_its_steps_and_not_before(name: str) -> None:
    for part, simulation in parts_of(name):
        if part.predicts:
            offered = choices(RunView(simulation), part.question)
            quick = _taken(part, simulation, slow=False, offered=offered)
            assert quick == _taken(part, simulation, slow=True, offered=offered), part.text


def _taken(part: Part, simulation: Simulation, slow: bool, offered: tuple[str, ...]) -> list[str]:
    """Take the part as a learner does and check each choice against the answer. Return the right ones."""
    learner = Learner(part, simulation)
    for command in commands_of(part.do, slow, simulation):
        assert learner.judged() == Judged(), (part.text, command)
        learner.do(command)
    answer = learner.judged().answer
    assert learner.walk.over, part.text
    assert answer is not None, (part.text, learner.judged().none)
    right = holds(learner.simulation, learner.question)
    for choice in offered:
        assert is_right(learner.question, [choice], answer) == (
            [choice] == [*right] if answer.offered else choice in right
        )
    assert is_right(learner.question, right if answer.offered else right[:1], answer)
    return sorted(right)


@pytest.mark.parametrize("name", LESSONS)
def test_past_events_are_checked_at_once(name: str) -> None:
    for part, simulation in parts_of(name):
        question = part.question
        if part.predicts or question is None:
            continue
        run = RunView(simulation)
        judgement = judge(question, 0, Sight(simulation.recorder, lambda _, run=run: run))
        assert judgement.answer is not None, judgement.none
        assert sorted(judgement.answer.right) == sorted(holds(simulation, question))
