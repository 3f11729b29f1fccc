"""Playing a scenario: its steps one after the other, and what does not hold at each point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.attempts import Seen
from scheduler_engine.scenario.executing import located, play
from scheduler_engine.scenario.expectations import failures_of, wrong_with
from scheduler_engine.scenario.model import Scenario
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation

START, END = "setup", "expect"
"""Paths of the first and the last point."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that does not hold. ``path``: where it stands in the scenario, such as ``then[2].expect[0]``."""

    path: str
    expectation: Data
    text: str


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the timeline: after the setup (``path`` is ``setup``), after a step (``then[2]``), or the end
    (``expect``), which is the same moment as after the last step. ``simulation`` stands there until the next one is
    asked for. ``step``: the one just made, None at both ends.
    """

    path: str
    step: Data | None
    simulation: Simulation
    failures: tuple[Failure, ...]

    @property
    def title(self) -> str:
        """The path, and the step's name where it has one."""
        name = self.step.get("name") if self.step else None
        return f"{self.path} ({name})" if name else self.path


def run(scenario: Scenario) -> Iterator[Point]:
    """Every point of the timeline in order. Raises Rejected when a step is refused that should not be, or not refused
    that should be; it says which.
    """
    simulation = scenario.open()
    yield Point(START, None, simulation, _failures(simulation, scenario.opened, "opened"))
    for number, step in enumerate(scenario.then):
        path = f"then[{number}]"
        try:
            play(simulation, [step])
        except Rejected as refusal:
            raise located(refusal, scenario.where(path)) from refusal
        yield Point(path, step, simulation, _failures(simulation, step.get("expect", ()), f"{path}.expect"))
    yield Point(END, None, simulation, _failures(simulation, scenario.expect, END))


def _failures(simulation: Simulation, expectations: Sequence[Data], path: str) -> tuple[Failure, ...]:
    seen = Seen(simulation)
    return tuple(
        Failure(f"{path}[{number}]", expectation, text)
        for number, expectation in enumerate(expectations)
        for text in wrong_with(seen, expectation)
    )


def check(simulation: Simulation, scenario: Scenario) -> list[str]:
    """Every expectation of ``scenario`` that does not hold, in words: those of the end in ``simulation``, as it is now.

    Those that stand within ``then`` are about moments that are gone: for them the scenario is played once more.
    """
    failures: list[str] = []
    if scenario.opened or any("expect" in step for step in scenario.then):
        points = (point for point in run(scenario) if point.path != END)
        failures += [f"{point.title}: {failure.text}" for point in points for failure in point.failures]
    return failures + failures_of(simulation, scenario.expect)
