"""Luck, and what is always so: two scenarios with many seeds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from scheduler_engine.answers.comparing import compare
from scheduler_engine.answers.many_seeds import Distribution, ManySeeds, SeedFigure, compare_seeds, played
from scheduler_engine.cli.seeds_text import seeds_text
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import Scenario
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine.random_clusters import configuration

Data = dict[str, Any]
SEEDS = range(1, 13)
MOST: Data = {"type": "MostAllocated", "resources": [{"name": name, "weight": 1} for name in ("cpu", "memory")]}
PACKED = configuration(NodeResourcesFit={"scoringStrategy": MOST})
DRAWN = configuration()
DRAWN["profiles"][0]["plugins"] = {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "ImageLocality"}]}}
"""Every node has the same score, so the seed decides."""


def node(zone: str) -> Data:
    return make_node(f"n-{zone}").zone(zone).capacity(cpu="4", memory="8Gi", pods="10").obj()


def scenario(*pods: Data, config: Data | None = None) -> Scenario:
    """Return a scenario with two equal nodes in two zones."""
    setup = {"kind": "apply", "manifests": [node("a"), node("b"), *pods]}
    return Scenario("seeds", "Seeds", configuration=config, setup=(setup,))


PODS = [make_pod(f"p{number}").cpu("1").memory("2Gi").obj() for number in (1, 2)]
"""Each takes a quarter of a node."""


def figures(result: ManySeeds) -> dict[tuple[str, ...], SeedFigure]:
    return {(figure.name, *figure.about): figure for figure in result.figures}


def test_spread_against_packed() -> None:
    """Spread, each zone has one pod. Packed, one zone has both, and the seed draws which."""
    found = figures(compare_seeds(scenario(*PODS), scenario(*PODS, config=PACKED), SEEDS))
    fullest = found["fullest", "cpu"]
    assert (fullest.verdict, fullest.always, fullest.seeds) == ("higher", True, len(SEEDS))
    assert fullest.first == Distribution(0.25, 0.25, 0.25)
    assert fullest.second == Distribution(0.5, 0.5, 0.5)
    assert fullest.difference == Distribution(0.25, 0.25, 0.25)
    assert (found["emptiest", "cpu"].verdict, found["emptiest", "cpu"].always) == ("lower", True)
    zone = found["zone", "cpu", "a"]
    assert (zone.verdict, zone.always) == ("luck", True)
    assert (zone.difference.least, zone.difference.most) == (-0.25, 0.25)
    assert found["with-node",].verdict == found["utilisation", "cpu"].verdict == "same"


def test_spread_against_drawn() -> None:
    """Drawn, the pods are together with some seeds, and apart with others: the fullest node is never emptier."""
    fullest = figures(compare_seeds(scenario(*PODS), scenario(*PODS, config=DRAWN), SEEDS))["fullest", "cpu"]
    assert (fullest.verdict, fullest.always) == ("higher", False)
    assert (fullest.difference.least, fullest.difference.most) == (0, 0.25)
    fewest = figures(compare_seeds(scenario(*PODS, config=DRAWN), scenario(*PODS), SEEDS))["fullest", "cpu"]
    assert (fewest.verdict, fewest.always) == ("lower", False)


def test_pods_are_counted_by_the_seeds_that_place_them_differently() -> None:
    one, other = scenario(*PODS), scenario(*PODS, config=PACKED)
    result = compare_seeds(one, other, SEEDS)
    counts: Counter[str] = Counter()
    differing = []
    for seed in SEEDS:
        listed = compare(played(one, seed), played(other, seed)).placements
        counts.update(item.pod for item in listed)
        differing += [seed] if listed else []
    assert dict(result.pods) == counts
    assert [count for _, count in result.pods] == sorted(counts.values(), reverse=True)
    assert result.differing == tuple(differing)
    assert result.comparison == compare(played(one, differing[0]), played(other, differing[0]))
    assert result.comparison is not None
    assert result.comparison.placements


def test_equal_scenarios_do_not_differ_with_any_seed() -> None:
    result = compare_seeds(scenario(*PODS, config=DRAWN), scenario(*PODS, config=DRAWN), SEEDS)
    assert not result.differs
    assert (result.differing, result.pods, result.comparison) == ((), (), None)
    assert {figure.verdict for figure in result.figures} == {"same"}
    drawn = figures(result)["zone", "cpu", "a"].first
    assert drawn.least < drawn.most, "the seed decides"


def test_figures_can_differ_where_no_pod_is_elsewhere() -> None:
    larger = [make_pod(f"p{number}").cpu("2").memory("4Gi").obj() for number in (1, 2)]
    result = compare_seeds(scenario(*PODS), scenario(*larger), SEEDS)
    assert result.differing == ()
    assert result.differs
    assert figures(result)["utilisation", "cpu"].difference == Distribution(0.25, 0.25, 0.25)


def test_a_figure_that_one_side_lacks_is_left_out() -> None:
    full = [make_pod(f"p{number}").cpu("4").memory("1Gi").obj() for number in (1, 2)]
    found = figures(compare_seeds(scenario(*PODS), scenario(*full), [1]))
    assert ("largest-piece", "cpu") not in found
    assert ("largest-piece", "memory") in found


def test_only_one_pair_has_full_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[int, bool]] = []
    open_scenario = Scenario.open

    def noted(self: Scenario, full: bool = True) -> Simulation:
        opened.append((self.seed, full))
        return open_scenario(self, full)

    monkeypatch.setattr(Scenario, "open", noted)
    compare_seeds(scenario(*PODS), scenario(*PODS, config=PACKED), SEEDS)
    assert [seed for seed, full in opened if not full] == [seed for seed in SEEDS for _ in "12"]
    assert [seed for seed, full in opened if full] == [1, 1]


def test_a_refused_step_is_named() -> None:
    wrong = replace(
        scenario(*PODS), then=({"kind": "run"}, {"kind": "delete", "object_kind": "Pod", "key": "default/x"})
    )
    with pytest.raises(Rejected, match=r"then\[1\]"):
        compare_seeds(scenario(*PODS), wrong, SEEDS)


LINES = {
    "always": (
        None,
        PACKED,
        ("cpu: fullest node", "    always higher, by 25.0 points", "    always lower, by 25.0 points"),
    ),
    "luck": (None, PACKED, ("cpu: in a", "    luck: from -25.0 points to +25.0 points")),
    "sometimes higher": (None, DRAWN, ("    higher with some seeds, by up to 25.0 points, and never lower",)),
    "sometimes lower": (DRAWN, None, ("    lower with some seeds, by up to 25.0 points, and never higher",)),
    "a range": (PACKED, DRAWN, ("    first                                           50.0%      50.0%      50.0%",)),
}


@pytest.mark.parametrize("case", LINES)
def test_the_text_says_what_is_luck(case: str) -> None:
    one, other, expected = LINES[case]
    lines = [*seeds_text(compare_seeds(scenario(*PODS, config=one), scenario(*PODS, config=other), SEEDS))]
    assert [line for line in expected if line not in lines] == []
    assert max(map(len, lines)) <= 80
