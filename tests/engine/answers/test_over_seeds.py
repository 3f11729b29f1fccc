"""What varies with the seed, and which differences are larger than luck."""

from __future__ import annotations

from collections import Counter

import pytest

from scheduler_engine.answers.many_seeds import played
from scheduler_engine.answers.over_seeds import FEWEST, OverSeeds, SeededFigure, SeededPod, over_seeds
from scheduler_engine.scenario import Scenario
from scheduler_engine.testing import make_pod
from tests.engine.answers.test_many_seeds import DRAWN, PACKED, PODS, SEEDS, scenario


def gathered(first: Scenario, second: Scenario | None = None, seeds: range = SEEDS) -> OverSeeds:
    return over_seeds(
        (seed, played(first, seed, full=False), None if second is None else played(second, seed, full=False))
        for seed in seeds
    )


def figure(found: OverSeeds, *identity: str) -> SeededFigure:
    return next(item for item in found.figures if (item.name, *item.about) == identity)


def test_one_run_alone_varies_where_the_seed_draws() -> None:
    found = gathered(scenario(*PODS, config=DRAWN))
    fullest = figure(found, "fullest", "cpu")
    assert (set(fullest.first), fullest.second, fullest.is_constant) == ({0.25, 0.5}, (), False)
    assert figure(found, "with-node").is_constant
    assert [pod.is_luck for pod in found.pods] == [True, True]
    assert all(pod.first.total() == len(SEEDS) and set(pod.first) == {"n-a", "n-b"} for pod in found.pods)
    assert not any(pod.moved or pod.second or pod.is_apart for pod in found.pods)
    assert found.differing == ()


def test_packed_is_fuller_than_spread_whatever_the_seed() -> None:
    found = gathered(scenario(*PODS), scenario(*PODS, config=PACKED))
    assert figure(found, "fullest", "cpu").direction == "higher"
    assert figure(found, "emptiest", "cpu").direction == "lower"
    assert figure(found, "zone", "cpu", "a").direction == ""
    assert figure(found, "with-node").is_constant


def test_two_draws_differ_by_luck_alone() -> None:
    found = gathered(scenario(*PODS, config=DRAWN), scenario(*reversed(PODS), config=DRAWN), range(1, 41))
    assert found.differing
    assert not any(item.direction for item in found.figures)
    assert all(pod.is_luck and not pod.is_apart for pod in found.pods)


def test_a_pod_that_only_one_run_ever_has_does_not_exist_in_the_other() -> None:
    found = gathered(scenario(), scenario(make_pod("new").obj()))
    (pod,) = found.pods
    assert pod.first == {None: len(SEEDS)}
    assert (pod.moved, pod.is_apart) == (len(SEEDS), True)
    assert found.differing == tuple(SEEDS)


def test_a_pod_that_comes_with_a_later_seed_did_not_exist_before() -> None:
    runs = [(1, scenario()), (2, scenario(make_pod("new").node("n-a").obj()))]
    found = over_seeds((seed, played(item, seed, full=False), None) for seed, item in runs)
    assert [pod.first for pod in found.pods] == [{None: 1, "n-a": 1}]


PAIRS = {
    "always higher": ([(1, 2)] * 20, "higher"),
    "always lower": ([(2, 1)] * 20, "lower"),
    "19 of 20 are higher": ([(1, 2)] * 19 + [(2, 1)], "higher"),
    "18 of 20 are higher": ([(1, 2)] * 18 + [(2, 1)] * 2, ""),
    "the same": ([(1, 1)] * 20, ""),
    "too few seeds": ([(1, 2)] * (FEWEST - 1), ""),
    "just enough seeds": ([(1, 2)] * FEWEST, "higher"),
    "missing in the first run": ([(None, 2)] * 20, ""),
    "missing with most seeds": ([(None, 2)] * 15 + [(1, 2)] * 5, ""),
}


@pytest.mark.parametrize(("pairs", "direction"), PAIRS.values(), ids=[*PAIRS])
def test_a_direction_needs_nearly_all_of_enough_seeds(
    pairs: list[tuple[int | None, int | None]], direction: str
) -> None:
    assert SeededFigure("pending", (), "count", tuple(pairs)).direction == direction


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        (Counter({"a": 6}), Counter({"b": 6}), True),
        (Counter({"a": 5, "b": 1}), Counter({"b": 6}), False),
        (Counter({"a": 5}), Counter({"b": 5}), False),
        (Counter({"a": 6}), Counter(), False),
    ],
    ids=["other places", "a place in common", "too few seeds", "no other run"],
)
def test_a_pod_is_apart_if_no_place_is_in_both_runs(
    first: Counter[str | None], second: Counter[str | None], apart: bool
) -> None:
    assert SeededPod("default/a", first, second).is_apart is apart
