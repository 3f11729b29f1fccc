"""Compare two scenarios with many seeds: which differences are luck, and which are always there.

The seed decides the draws among equal nodes. All runs are lean, except one pair: that of the first seed with which pods
are placed differently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from scheduler_engine.answers.balance import frequent_shape
from scheduler_engine.answers.comparing import Comparison, FigurePair, compare, paired, placements_of, side_of
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
    shape = None
    pods: Counter[str] = Counter()
    differing: list[int] = []
    by_figure: dict[tuple[str, ...], list[FigurePair]] = {}
    for seed in seeds:
        runs = [played(scenario, seed, full=False) for scenario in (first, second)]
        shape = shape or frequent_shape(*runs)
        one, other = (side_of(run, shape) for run in runs)
        moved = [placement.pod for placement in placements_of(one, other)]
        pods.update(moved)
        differing += [seed] if moved else []
        for pair in paired(one, other):
            by_figure.setdefault((pair.name, *pair.about), []).append(pair)
    figures = (_over_seeds(pairs) for pairs in by_figure.values())
    comparison = None
    if differing:
        comparison = compare(*(played(scenario, differing[0]) for scenario in (first, second)))
    return ManySeeds(
        tuple(seeds),
        tuple(differing),
        tuple(sorted(pods.items(), key=lambda item: -item[1])),
        shape.key if shape is not None else "",
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


def _over_seeds(pairs: Sequence[FigurePair]) -> SeedFigure | None:
    numbers = [(pair.first, pair.second) for pair in pairs]
    both = [(one, other) for one, other in numbers if one is not None and other is not None]
    if not both:
        return None
    differences = [other - one for one, other in both]
    verdict = VERDICTS[min(differences) < 0, max(differences) > 0]
    first, second = ([*column] for column in zip(*both, strict=True))
    spread = _distribution(first), _distribution(second), _distribution(differences)
    pair = pairs[0]
    return SeedFigure(pair.name, pair.about, pair.unit, len(both), *spread, verdict, all(differences))


def _distribution(values: Sequence[float]) -> Distribution:
    return Distribution(min(values), median(values), max(values))
