"""Figures: a small cluster in a text, with values that a reader changes. The engine decides anew for each choice.

Where the setup says ``$cpu``, there stands the chosen value of the knob ``cpu``. ``figure_file`` reads figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.executing import play
from scheduler_engine.scenario.expectations import failures_of
from scheduler_engine.scenario.model import Scenario
from scheduler_engine.shapes import Data, inside
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

MARK = "$"
MOST_NODES, MOST_PODS = 40, 200
"""The most nodes and pods of a figure at its end: a page draws each of them."""

Choice = tuple[int, ...]
"""For each knob the place of its value."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a knob: in words, and what is put into the setup; None leaves the key out."""

    say: str
    set: Any


@dataclass(frozen=True, slots=True)
class Knob:
    """What a reader changes. ``at``: the place of the value that it begins with."""

    name: str
    say: str
    values: tuple[Value, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Case:
    """What holds for some choices. ``at``: name of a knob → the words of its value; other knobs do not matter."""

    at: Mapping[str, str]
    holds: tuple[Data, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """``written``: its scenario, with marks such as ``$cpu`` where values go."""

    written: Scenario
    knobs: tuple[Knob, ...]
    cases: tuple[Case, ...] = ()

    @property
    def slug(self) -> str:
        return self.written.slug

    @property
    def begins(self) -> Choice:
        return tuple(knob.at for knob in self.knobs)

    def choices(self) -> Iterator[Choice]:
        return product(*(range(len(knob.values)) for knob in self.knobs))

    def scenario(self, choice: Choice) -> Scenario:
        """Return the scenario of a choice."""
        values = {knob.name: knob.values[place].set for knob, place in zip(self.knobs, choice, strict=True)}
        own = self.written
        return replace(
            own,
            slug="-".join((own.slug, *map(str, choice))),
            setup=put(own.setup, values),
            then=put(own.then, values),
            configuration=put(own.configuration, values),
        )

    def words(self, choice: Choice) -> dict[str, str]:
        """Return name of a knob → the words of its chosen value."""
        return {knob.name: knob.values[place].say for knob, place in zip(self.knobs, choice, strict=True)}


def put(data: Any, values: Mapping[str, Any]) -> Any:
    """Return the data with ``values`` at their marks. Keys and items whose value is None are left out."""
    if isinstance(data, str):
        return values.get(data[1:], data) if data.startswith(MARK) else data
    if isinstance(data, Mapping):
        return {key: put(item, values) for key, item in data.items() if not _is_left_out(item, values)}
    if isinstance(data, (list, tuple)):
        return type(data)(put(item, values) for item in data if not _is_left_out(item, values))
    return data


def _is_left_out(item: Any, values: Mapping[str, Any]) -> bool:
    return isinstance(item, str) and item.startswith(MARK) and values.get(item[1:], item) is None


def played(figure: Figure, choice: Choice) -> Simulation:
    """Return the simulation of a choice after its steps. Raises Rejected when one is refused."""
    scenario = figure.scenario(choice)
    simulation = scenario.open()
    play(simulation, scenario.then)
    return simulation


def problems_of(figure: Figure, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and text of what is wrong when every choice is played: what is refused, and what does not hold."""
    for choice in figure.choices():
        words = figure.words(choice)
        shown = ", ".join(f"{name}: {value}" for name, value in words.items())
        try:
            simulation = played(figure, choice)
        except Rejected as refusal:
            yield inside(path, "setup"), say("figure-errors.refused", choice=shown, reason=refusal)
            continue
        run = RunView(simulation)
        nodes, pods = len(list(simulation.api.list("Node"))), len(list(simulation.api.pods()))
        if nodes > MOST_NODES or pods > MOST_PODS:
            most = {"most_nodes": MOST_NODES, "most_pods": MOST_PODS}
            yield inside(path, "setup"), say("figure-errors.too-large", choice=shown, nodes=nodes, pods=pods, **most)
        for number, case in enumerate(figure.cases):
            if any(words[name] != value for name, value in case.at.items()):
                continue
            for text in failures_of(run, case.holds):
                yield (
                    inside(path, f"expect[{number}]"),
                    say("figure-errors.does-not-hold", choice=shown, failure=text),
                )
