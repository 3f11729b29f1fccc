"""The model of a scenario, once read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from scheduler_engine.api.parsing import Place, owners_of
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.extender_calls import NO_CALLS, ExtenderCalls
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.scenario.executing import located, play
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.versions import DEFAULT, chosen_rules

INSTALLED = Path(__file__).resolve().parent / "scenarios"
FOLDER = INSTALLED if INSTALLED.is_dir() else Path(__file__).resolve().parents[2] / "fixtures" / "scenarios"
"""The folder of the engine's scenarios: in the installed package, or beside it in a checkout."""
RUN: tuple[Data, ...] = ({"kind": "run"},)
"""``then`` of a scenario that omits it."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a scenario was read from. ``written``: path in the scenario → path in the file, if expectations
    that are separate steps make them differ.
    """

    name: str
    root: Place
    written: Mapping[str, str] = field(default_factory=dict)

    def path(self, path: str) -> str:
        """Return the path in the file."""
        known = next((owner for owner in (path, *_above(path)) if owner in self.written), "")
        return self.written[known] + path[len(known) :] if known else path

    def place(self, path: str) -> Place:
        return self.root.find(self.path(path))


def _above(path: str) -> list[str]:
    """Return the ancestors of a path, the nearest first."""
    return sorted(owners_of(path), key=len, reverse=True)[1:]


@dataclass(frozen=True, slots=True)
class Scenario:
    """``setup`` are the commands (JSON form) executed when it is opened, ``then`` the steps that a visitor would take:
    each a command, and beside it keys from ``steps.BESIDE``, including ``expect``: what holds after the step.

    ``opened``: what holds before the first step; ``expect``: what holds at the end. ``tab``: the tab of the workbench
    to show, "" = the one of the present stage. ``kubernetes``: the version that it begins under, with ``feature_gates``
    that differ from its defaults. ``engine``: the version of the engine that wrote it, "" = unknown. ``level``: how
    much a reader should know, one of ``format.LEVELS``; ``shows``: what a reader sees and understands, in a sentence.
    ``tags``: words that choose it among others. ``origin``: its file, None if it was made by a program. ``plugins``:
    somebody's own, which its configurations may name; a file does not hold them. ``extenders``: the way to extenders.
    """

    slug: str
    title: str
    group: str = ""
    tags: tuple[str, ...] = ()
    about: str = ""
    outcome: str = ""
    source: str = ""
    seed: int = 42
    configuration: Data | None = None
    queue_rules: str = "v1.34"
    kubernetes: str = DEFAULT
    feature_gates: Data | None = None
    tab: str = ""
    setup: tuple[Data, ...] = ()
    then: tuple[Data, ...] = RUN
    expect: tuple[Data, ...] = ()
    opened: tuple[Data, ...] = ()
    engine: str = ""
    level: str = ""
    shows: str = ""
    origin: Origin | None = field(default=None, compare=False, repr=False)
    plugins: tuple[type[Plugin], ...] = field(default=(), compare=False, repr=False)
    extenders: ExtenderCalls = field(default=NO_CALLS, compare=False, repr=False)

    @property
    def expects_nothing(self) -> bool:
        """Return True if it cannot fail: it has no expectation, and no step that must be refused."""
        steps = any(step.get("expect") or step.get("refused") for step in self.then)
        return not (self.opened or self.expect or steps)

    def expects_any(self, names: frozenset[str]) -> bool:
        """Return True if it can fail when only the expectations of these names count."""
        expected = [*self.opened, *self.expect, *(item for step in self.then for item in step.get("expect", ()))]
        refused = any(step.get("refused") for step in self.then)
        return refused or any(names & expectation.keys() for expectation in expected)

    def open(self, full: bool = True) -> Simulation:
        """Return a simulation with the setup executed. Raises Rejected for a wrong version or gates, and with the
        command when one is refused.

        ``full``: record every verdict and score.
        """
        chosen_rules(self.kubernetes, self.feature_gates)
        simulation = Simulation(
            self.seed,
            self.configuration,
            full,
            self.queue_rules,
            kubernetes=self.kubernetes,
            feature_gates=self.feature_gates,
            plugins=self.plugins,
            extenders=self.extenders,
        )
        for number, step in enumerate(self.setup):
            try:
                play(simulation, [step])
            except Rejected as refusal:
                raise located(refusal, self.where(f"setup[{number}]")) from refusal
        return simulation

    def where(self, path: str) -> str:
        """Return a path such as ``then[2].expect[0]``, as ``name.yaml:12:5: then[3].expect[0]`` if it came from a
        file.
        """
        if self.origin is None:
            return path
        place = self.origin.place(path)
        return f"{self.origin.name}:{place.line}:{place.column}: {self.origin.path(path)}"
