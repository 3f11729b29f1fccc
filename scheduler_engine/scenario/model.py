"""What a scenario is, once it has been read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scheduler_engine.api.parsing import Place, owners_of
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.executing import located, play
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation

INSTALLED = Path(__file__).resolve().parent / "scenarios"
FOLDER = INSTALLED if INSTALLED.is_dir() else Path(__file__).resolve().parents[2] / "fixtures" / "scenarios"
"""Of the scenarios that come with the engine: in the package where it is installed, beside it in a checkout."""
RUN: tuple[Data, ...] = ({"kind": "run"},)
"""``then`` of a scenario that leaves it out."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a scenario was read from. ``written``: path in the scenario → path in the file, where expectations
    that are steps of their own make them differ.
    """

    name: str
    root: Place
    written: Mapping[str, str] = field(default_factory=dict)

    def path(self, path: str) -> str:
        """As it is in the file."""
        known = next((owner for owner in (path, *_above(path)) if owner in self.written), "")
        return self.written[known] + path[len(known) :] if known else path

    def place(self, path: str) -> Place:
        return self.root.find(self.path(path))


def _above(path: str) -> list[str]:
    """What a path stands in, the nearest first."""
    return sorted(owners_of(path), key=len, reverse=True)[1:]


@dataclass(frozen=True, slots=True)
class Scenario:
    """``setup`` are the commands (JSON form) executed when it is opened, ``then`` the steps that a visitor would press:
    a command each, and beside it what ``steps.BESIDE`` lists, ``expect`` among it: what holds after the step.

    ``opened``: what holds before the first step; ``expect``: what holds at the end. ``tab``: which tab of the workbench
    it is about, "" = the one of the stage at hand. ``engine``: the version of the engine that it was written with, "" =
    not told. ``origin``: where it stands, None for one that was made in a program.
    """

    slug: str
    title: str
    group: str = ""
    about: str = ""
    outcome: str = ""
    source: str = ""
    seed: int = 42
    configuration: Data | None = None
    queue_rules: str = "v1.34"
    tab: str = ""
    setup: tuple[Data, ...] = ()
    then: tuple[Data, ...] = RUN
    expect: tuple[Data, ...] = ()
    opened: tuple[Data, ...] = ()
    engine: str = ""
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def open(self) -> Simulation:
        """A simulation with the setup executed. Raises Rejected when a command is refused, which is named."""
        simulation = Simulation(seed=self.seed, configuration=self.configuration, queue_rules=self.queue_rules)
        for number, step in enumerate(self.setup):
            try:
                play(simulation, [step])
            except Rejected as refusal:
                raise located(refusal, self.where(f"setup[{number}]")) from refusal
        return simulation

    def where(self, path: str) -> str:
        """A path such as ``then[2].expect[0]``, as ``name.yaml:12:5: then[3].expect[0]`` where it was read from a
        file.
        """
        if self.origin is None:
            return path
        place = self.origin.place(path)
        return f"{self.origin.name}:{place.line}:{place.column}: {self.origin.path(path)}"
