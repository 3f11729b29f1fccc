"""Play a scenario: its steps one after the other, and what does not hold at each point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.executing import located, play
from scheduler_engine.scenario.expectations import failures_of, wrong_with
from scheduler_engine.scenario.model import Scenario
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation

START, END = "setup", "expect"
"""Paths of the first and the last point."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that does not hold. ``path``: its place in the scenario, such as ``then[2].expect[0]``."""

    path: str
    expectation: Data
    text: str


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the timeline: after the setup (``path`` is ``setup``), after a step (``then[2]``), or the end
    (``expect``), the same moment as after the last step. ``simulation`` stays there until the next point is
    requested. ``step``: the latest one, None at both ends.
    """

    path: str
    step: Data | None
    simulation: Simulation
    failures: tuple[Failure, ...]

    @property
    def title(self) -> str:
        """Return the path, and the step's name if it has one."""
        name = self.step.get("name") if self.step else None
        return f"{self.path} ({name})" if name else self.path


def run(scenario: Scenario) -> Iterator[Point]:
    """Yield every point of the timeline in order. Raises Rejected when a step is wrongly refused, or wrongly not
    refused; it names the step.
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
    view = RunView(simulation)
    return tuple(
        Failure(f"{path}[{number}]", expectation, text)
        for number, expectation in enumerate(expectations)
        for text in wrong_with(view, expectation)
    )


def check(simulation: Simulation, scenario: Scenario) -> list[str]:
    """Return in words every expectation of ``scenario`` that fails: those of the end in ``simulation``, as it is now.

    Expectations within ``then`` concern past moments: for them the scenario is played once more.
    """
    failures: list[str] = []
    if scenario.opened or any("expect" in step for step in scenario.then):
        points = (point for point in run(scenario) if point.path != END)
        failures += [f"{point.title}: {failure.text}" for point in points for failure in point.failures]
    return failures + failures_of(simulation, scenario.expect)
