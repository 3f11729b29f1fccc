"""Compare two scenarios with many seeds: which differences are luck, and which are always there.

The seed decides the draws among equal nodes. All runs are lean, except one pair: that of the first seed with which pods
are placed differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from scheduler_engine.answers.comparing import Comparison, compare
from scheduler_engine.answers.over_seeds import SeededFigure, over_seeds
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import Scenario
from scheduler_engine.scenario.executing import located, play
from scheduler_engine.simulation import Simulation

SAME, LUCK = "same", "luck"
VERDICTS = {
    (False, False): SAME,
    (True, True): LUCK,
    (False, True): "higher",
    (True, False): "lower",
}
"""(lower with some seed, higher with some seed) → verdict"""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The smallest, the median and the largest of a figure's values."""

    least: float
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class SeedFigure:
    """A figure over all seeds that give it in both runs: ``seeds`` of them.

    ``difference``: the second run's minus the first's, seed by seed. ``verdict``: ``same`` with every seed, ``higher``
    or ``lower`` in the second run, or ``luck``: higher with some seeds, lower with others. ``always``: it differs with
    every seed.
    """

    name: str
    about: tuple[str, ...]
    unit: str
    seeds: int
    first: Distribution
    second: Distribution
    difference: Distribution
    verdict: str
    always: bool


@dataclass(frozen=True, slots=True)
class ManySeeds:
    """``differing``: the seeds with which pods are placed differently, in order. ``pods``: ((pod, with how many seeds
    it is placed differently), …), the most frequent first. ``comparison``: of both runs with the first of these seeds;
    None if there is none. ``shape``: the pod whose copies the figure ``room`` counts, "" = there was no pod.
    """

    seeds: tuple[int, ...]
    differing: tuple[int, ...]
    pods: tuple[tuple[str, int], ...]
    shape: str
    figures: tuple[SeedFigure, ...]
    comparison: Comparison | None

    @property
    def differs(self) -> bool:
        """Return True if pods are placed differently, or a figure is not the same, with any seed."""
        return bool(self.differing) or any(figure.verdict != SAME for figure in self.figures)


def compare_seeds(first: Scenario, second: Scenario, seeds: Sequence[int]) -> ManySeeds:
    """Play both scenarios with each seed, and compare. Raises Rejected with the step when one is refused."""
    gathered = over_seeds((seed, played(first, seed, full=False), played(second, seed, full=False)) for seed in seeds)
    pods = [(row.pod, row.moved) for row in gathered.pods if row.moved]
    figures = (_over_seeds(figure) for figure in gathered.figures)
    comparison = None
    if gathered.differing:
        comparison = compare(*(played(scenario, gathered.differing[0]) for scenario in (first, second)))
    return ManySeeds(
        gathered.seeds,
        gathered.differing,
        tuple(sorted(pods, key=lambda item: -item[1])),
        gathered.shape,
        tuple(item for item in figures if item is not None),
        comparison,
    )


def played(scenario: Scenario, seed: int | None = None, full: bool = True) -> Simulation:
    """Play a scenario to its end, without checking what it expects. ``seed``: instead of its own."""
    if seed is not None:
        scenario = replace(scenario, seed=seed)
    simulation = scenario.open(full)
    for number, step in enumerate(scenario.then):
        try:
            play(simulation, [step])
        except Rejected as refusal:
            raise located(refusal, scenario.where(f"then[{number}]")) from refusal
    return simulation


def _over_seeds(figure: SeededFigure) -> SeedFigure | None:
    both = figure.in_both
    if not both:
        return None
    differences = [other - one for one, other in both]
    verdict = VERDICTS[min(differences) < 0, max(differences) > 0]
    first, second = ([*column] for column in zip(*both, strict=True))
    spread = _distribution(first), _distribution(second), _distribution(differences)
    return SeedFigure(figure.name, figure.about, figure.unit, len(both), *spread, verdict, all(differences))


def _distribution(values: Sequence[float]) -> Distribution:
    return Distribution(min(values), median(values), max(values))
