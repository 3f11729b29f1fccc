"""The sums in explanations of scores add up to the score, and to the pod's requests."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import pytest

from scheduler_engine.framework.facts import Amount, Facts, Sum
from scheduler_engine.simulation import Simulation
from tests.engine.histories import some
from tests.engine.random_clusters import CONFIGURATIONS, cluster, run
from tests.sandbox.witnessing import witnessed

Values = dict[str, Any]
SUMS = ("fit.enough", "fit.too-much", "fit.too-much-for-the-node")
ADDING = ("NodeResourcesFit", "NodeResourcesBalancedAllocation", "PodTopologySpread")
SEEDS = some(range(200, 230), 10)


def added(numbers: Sum) -> float:
    return sum(prod(term) for term in numbers.terms)


def weighted_mean(values: Values) -> bool:
    return values["raw"] == added(values["scores"]) // values["weights"]


def rounded_mean(values: Values) -> bool:
    weights = values["weights"]
    return bool(values["raw"] == (2 * added(values["scores"]) + weights) // (2 * weights))


def line(values: Values) -> bool:
    low, high, left, right = (values[name] for name in ("low", "high", "left", "right"))
    return bool(values["score"] == low + int((high - low) * (values["use"] - left) / (right - left)))


def used_and_asked(values: Values) -> bool:
    return bool(values["used"].number + values["asked"].number == values["requested"].number)


def least(values: Values) -> bool:
    capacity, requested = values["capacity"].number, values["requested"].number
    return used_and_asked(values) and values["score"] == (capacity - requested) * 100 // capacity


def use(values: Values) -> bool:
    percent = values["requested"].number * 100 // values["capacity"].number
    return used_and_asked(values) and values.get("score", values.get("use")) == percent


def share(values: Values) -> bool:
    return used_and_asked(values) and values["fraction"] == values["requested"].number / values["capacity"].number


def normalized(values: Values) -> bool:
    spread = values["highest"] + values["lowest"] - values["raw"]
    return bool(values["normalized"] == 100 * spread // values["highest"])


CHECKS = {
    "allocation.mean": weighted_mean,
    "allocation.rounded-mean": rounded_mean,
    "allocation.line": line,
    "allocation.least": least,
    "allocation.most": use,
    "allocation.use": use,
    "balance.use": share,
    "balance.deviation-of-two": lambda values: values["deviation"] == abs(values["first"] - values["second"]) / 2,
    "balance.raw": lambda values: values["raw"] == int((1 - values["deviation"]) * 100),
    "spread.raw": lambda values: abs(values["raw"] - added(values["added"])) <= 0.5,
    "spread.normalized": normalized,
    "requests.sidecars": lambda values: (
        values["containers"].number + values["sidecars"].number == values["running"].number
    ),
    "requests.init-container": lambda values: values["step"].number >= values["running"].number,
    "requests.init-container-covered": lambda values: values["step"].number <= values["running"].number,
    "requests.overhead": lambda values: values["needed"].number + values["overhead"].number == values["asked"].number,
}
"""Key of a fact → a check that its numbers are consistent."""


AMOUNT_FACTS = {
    "requests.overhead": "asked",
    "requests.pod-level": "asked",
    "requests.init-container": "step",
    "requests.init-container-covered": "running",
    "requests.sidecars": "running",
}
"""Key of a fact → the value that a reader takes for the request. The first key with a fact counts."""


def explained_amount(facts: Facts, resource: str) -> int | None:
    """Return the explained amount; None if it is the sum of plain containers."""
    for key, value in AMOUNT_FACTS.items():
        for item in facts.of(key):
            amount = item.values[value]
            if item.values["resource"] == resource and isinstance(amount, Amount):
                return amount.number
    return None


@cache
def all_facts(seed: int) -> tuple[tuple[Facts, ...], tuple[Facts, ...]]:
    """Return every score of the plugins with sums, and every verdict of NodeResourcesFit, in one random cluster."""
    simulation = Simulation(configuration=CONFIGURATIONS[seed % len(CONFIGURATIONS)])
    run(simulation, cluster(seed))
    world = witnessed(simulation)
    scores, verdicts = list[Facts](), list[Facts]()
    for cycle in world.cycles:
        for plugin, rows in cycle.score.raw if cycle.score else ():
            for node, _ in rows if plugin in ADDING else ():
                facts = world.witness.score(cycle, node, plugin)
                assert facts is not None
                scores.append(facts)
        for node, *_ in cycle.filter.rows if cycle.filter else ():
            facts = world.witness.filter(cycle, node, "NodeResourcesFit")
            assert facts is not None
            verdicts.append(facts)
    return tuple(scores), tuple(verdicts)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_numbers_of_a_score_add_up_to_it(seed: int) -> None:
    for facts in all_facts(seed)[0]:
        wrong = [item for item in facts.shown if item.key in CHECKS and not CHECKS[item.key]({**item.values})]
        assert wrong == []


@pytest.mark.parametrize("seed", SEEDS)
def test_the_parts_of_a_request_add_up_to_what_the_filter_asks(seed: int) -> None:
    for facts in all_facts(seed)[1]:
        for item in facts.of(*SUMS, *(f"{key}-nominated" for key in SUMS)):
            resource, asked = item.values["resource"], item.values["asked"]
            assert isinstance(asked, Amount)
            assert explained_amount(facts, str(resource)) in (None, asked.number), facts


def test_the_random_clusters_show_every_sum() -> None:
    shown = (item.key for seed in SEEDS for half in all_facts(seed) for facts in half for item in facts.shown)
    assert {*CHECKS, *AMOUNT_FACTS} - {*shown} == set()
