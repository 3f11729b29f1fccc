"""THE ladder that chooses among candidates. Every rung keeps the nodes with the smallest value.

Source: seed 002 §9; upstream ``framework/preemption/preemption.go`` (pickOneNodeForPreemption).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduler_engine.api.objects import Pod
from scheduler_engine.preemption.candidates import NOT_STARTED_US, Candidate, start_us

PRIORITY_OFFSET = 2**31
"""Added to every priority in the sum, so that none is negative: no victim makes the sum smaller."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """``value``: the smallest wins; ``text`` formats a value. ``key``: the row of its facts."""

    name: str
    key: str
    value: Callable[[Candidate], int]
    text: Callable[[int], str] = str

    def of(self, candidate: Candidate) -> int:
        """Return the candidate's value, which it keeps."""
        known = candidate.values.get(self.name)
        if known is None:
            known = candidate.values[self.name] = self.value(candidate)
        return known


@dataclass(frozen=True, slots=True)
class Rung:
    """An applied criterion: ``numbers`` per node; the nodes with the smallest one survive."""

    criterion: Criterion
    numbers: tuple[tuple[str, int], ...]
    survivors: tuple[str, ...]
    fallen: tuple[str, ...]

    @property
    def values(self) -> tuple[tuple[str, str], ...]:
        """Return (node, value as text), as in ``PreemptionCriterionApplied``."""
        texts = {number: self.criterion.text(number) for number in dict.fromkeys(number for _, number in self.numbers)}
        return tuple([(node, texts[number]) for node, number in self.numbers])


def _pdb_violations(candidate: Candidate) -> int:
    return candidate.pdb_violations


def _highest_priority(candidate: Candidate) -> int:
    return candidate.victims[0].priority


def _sum_of_priorities(candidate: Candidate) -> int:
    return sum(victim.priority + PRIORITY_OFFSET for victim in candidate.victims)


def _number_of_victims(candidate: Candidate) -> int:
    return len(candidate.victims)


def _latest_start(candidate: Candidate) -> int:
    """Return the earliest start of the highest-priority victims, negated: the latest wins."""
    highest = max(victim.priority for victim in candidate.victims)
    return -min(_starts(candidate.victims, highest))


def _starts(victims: Sequence[Pod], priority: int) -> list[int]:
    return [start_us(victim) for victim in victims if victim.priority == priority]


def _start_text(value: int) -> str:
    return "not started" if -value == NOT_STARTED_US else f"{-value / 1_000_000:g} s"


CRITERIA: tuple[Criterion, ...] = (
    Criterion("fewest PodDisruptionBudget violations", "preemption.fewest-violations", _pdb_violations),
    Criterion("lowest priority of the most important victim", "preemption.lowest-top", _highest_priority),
    Criterion("smallest sum of the victims' priorities", "preemption.smallest-sum", _sum_of_priorities),
    Criterion("fewest victims", "preemption.fewest-victims", _number_of_victims),
    Criterion("latest start of the most important victims", "preemption.latest-start", _latest_start, _start_text),
)


def climb(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Rung]]:
    """Return the candidates that are best under every criterion, and the rungs used; one candidate needs none."""
    left = list(candidates)
    rungs: list[Rung] = []
    for criterion in CRITERIA:
        if len(left) <= 1:
            break
        values = {candidate.node: criterion.of(candidate) for candidate in left}
        best = min(values.values())
        rungs.append(
            Rung(
                criterion,
                tuple(values.items()),
                tuple([node for node, value in values.items() if value == best]),
                tuple([node for node, value in values.items() if value != best]),
            )
        )
        left = [candidate for candidate in left if values[candidate.node] == best]
    return left, rungs
