"""Play one run, or two, with many seeds: how figures and places vary, and which differences are larger than luck.

The seed decides the draws among equal nodes. Source: capability X9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from scheduler_engine.answers.balance import frequent_shape
from scheduler_engine.answers.comparing import FigurePair, Number, Side, figures_of, paired, side_of
from scheduler_engine.simulation import Simulation

Run = tuple[int, Simulation, Simulation | None]
"""(seed, the first run at its end, the second one or None)"""
Place = str | None
"""A node, "" = without a node, None = there is no such pod."""
HIGHER, LOWER = "higher", "lower"
FEWEST = 6
"""Seeds below which nothing is larger than luck: by chance alone, 5 coins often fall alike."""
NEARLY_ALL = 0.95
"""Share of the seeds with which a figure must differ in the same direction."""


@dataclass(frozen=True, slots=True)
class SeededFigure:
    """One figure. ``pairs``: its value in the first run and in the second, seed by seed; None = the run has none."""

    name: str
    about: tuple[str, ...]
    unit: str
    pairs: tuple[tuple[Number, Number], ...]

    @property
    def first(self) -> tuple[int | float, ...]:
        return tuple(value for value, _ in self.pairs if value is not None)

    @property
    def second(self) -> tuple[int | float, ...]:
        return tuple(value for _, value in self.pairs if value is not None)

    @property
    def in_both(self) -> tuple[tuple[int | float, int | float], ...]:
        return tuple((one, other) for one, other in self.pairs if one is not None and other is not None)

    @property
    def higher(self) -> int:
        """Return with how many seeds the second run has the higher value."""
        return sum(other > one for one, other in self.in_both)

    @property
    def lower(self) -> int:
        return sum(other < one for one, other in self.in_both)

    @property
    def is_constant(self) -> bool:
        """Return True if all runs with all seeds have the same value."""
        return len({value for pair in self.pairs for value in pair if value is not None}) <= 1

    @property
    def direction(self) -> str:
        """Return ``higher`` or ``lower`` if the second run differs by more than luck, else ""."""
        seeds = len(self.in_both)
        if seeds < FEWEST:
            return ""
        counts = {HIGHER: self.higher, LOWER: self.lower}
        return next((name for name, count in counts.items() if count >= NEARLY_ALL * seeds), "")


@dataclass(slots=True)
class SeededPod:
    """Where a pod is at the end: place → with how many seeds. ``moved``: with how many seeds both runs place it
    differently. ``second`` is empty without a second run.
    """

    pod: str
    first: Counter[Place] = field(default_factory=Counter)
    second: Counter[Place] = field(default_factory=Counter)
    moved: int = 0

    @property
    def is_luck(self) -> bool:
        """Return True if the seed decides where it is, in one run at least."""
        return len(self.first) > 1 or len(self.second) > 1

    @property
    def is_apart(self) -> bool:
        """Return True if it is never where it is in the other run, by more than luck."""
        return self.second.total() >= FEWEST and not self.first.keys() & self.second.keys()


@dataclass(frozen=True, slots=True)
class OverSeeds:
    """``differing``: the seeds with which both runs place pods differently. ``pods``: in order of creation. ``shape``:
    the pod whose copies the figure ``room`` counts, "" = there was no pod.
    """

    seeds: tuple[int, ...]
    differing: tuple[int, ...]
    shape: str
    figures: tuple[SeededFigure, ...]
    pods: tuple[SeededPod, ...]

    @property
    def is_enough(self) -> bool:
        """Return True if there were enough seeds to tell a difference from luck."""
        return len(self.seeds) >= FEWEST


def over_seeds(runs: Iterable[Run]) -> OverSeeds:
    """Gather what each run with each seed ends with. Their traces may be lean. Keeps no simulation."""
    shape = None
    seeds: list[int] = []
    differing: list[int] = []
    by_figure: dict[tuple[str, ...], list[FigurePair]] = {}
    by_pod: dict[str, SeededPod] = {}
    for seed, *pair in runs:
        played = [simulation for simulation in pair if simulation is not None]
        shape = shape or frequent_shape(*played)
        sides = [side_of(simulation, shape) for simulation in played]
        seeds.append(seed)
        for item in _figures(sides):
            by_figure.setdefault((item.name, *item.about), []).append(item)
        if _count_places(by_pod, [side.places for side in sides], len(seeds) - 1):
            differing.append(seed)
    return OverSeeds(
        tuple(seeds),
        tuple(differing),
        shape.key if shape is not None else "",
        tuple(_seeded(pairs) for pairs in by_figure.values()),
        tuple(by_pod.values()),
    )


def _figures(sides: list[Side]) -> Iterable[FigurePair]:
    if len(sides) > 1:
        return paired(*sides)
    return (FigurePair(item.name, item.about, item.unit, item.value, None) for item in figures_of(sides[0]))


def _seeded(pairs: list[FigurePair]) -> SeededFigure:
    item = pairs[0]
    return SeededFigure(item.name, item.about, item.unit, tuple((pair.first, pair.second) for pair in pairs))


def _count_places(by_pod: dict[str, SeededPod], places: list[Mapping[str, str]], earlier: int) -> bool:
    """Count where the pods are with one more seed. Return True if both runs differ.

    ``earlier``: how many seeds came before. A pod that none of them had did not exist with these.
    """
    moved = False
    for pod in {key: None for side in (by_pod, *places) for key in side}:
        row = by_pod.get(pod)
        if row is None:
            row = by_pod[pod] = SeededPod(pod)
            for counts in (row.first, row.second)[: len(places)] if earlier else ():
                counts[None] = earlier
        ends = [side.get(pod) for side in places]
        for counts, end in zip((row.first, row.second), ends, strict=False):
            counts[end] += 1
        differs = len({*ends}) > 1
        row.moved += differs
        moved = moved or differs
    return moved
