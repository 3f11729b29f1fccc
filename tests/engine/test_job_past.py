"""What a Job keeps of its pods that have ended: indexes as runs, and failures in a row."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from scheduler_engine.controllers import job_past
from scheduler_engine.controllers.job_past import NO_PAST, Past, Runs


def runs_of(indexes: list[int]) -> Runs:
    runs: Runs = ()
    for index in indexes:
        runs = job_past.with_index(runs, index)
    return runs


@pytest.mark.parametrize("seed", range(20))
def test_runs_hold_the_indexes_in_any_order(seed: int) -> None:
    pick = Random(seed)
    indexes = [pick.randrange(30) for _ in range(pick.randrange(40))]
    runs, end = job_past.below(runs_of(indexes), 25), 25
    wanted = [index for index in range(end) if index in indexes]
    assert [index for first, last in runs for index in range(first, last + 1)] == wanted
    assert all(later[0] > earlier[1] + 1 for earlier, later in pairwise(runs))
    assert job_past.size(runs) == len(wanted)
    free = [index for index in range(end) if index not in indexes]
    assert [*job_past.gaps(runs, end)] == free
    start = pick.randrange(30)
    assert [*job_past.gaps(runs, end, start)] == [index for index in free if index >= start]


@pytest.mark.parametrize(
    ("indexes", "text"),
    [([], ""), ([3], "3"), ([4, 2, 0, 3], "0,2-4"), ([1, 0, 1], "0-1"), ([0, 2, 1], "0-2")],
)
def test_runs_are_spelled_as_in_the_status(indexes: list[int], text: str) -> None:
    assert job_past.spelled(runs_of(indexes)) == text


@pytest.mark.parametrize(
    ("results", "past"),
    [
        (["failed", "failed"], Past(failed=2, streak=2, last_us=1)),
        (["failed", "succeeded"], Past(succeeded=1, failed=1, indexes=((1, 1),), last_us=1)),
        (["failed", "dropped"], Past(failed=1, streak=1)),
    ],
)
def test_a_success_ends_a_row_of_failures_and_a_dropped_pod_does_not(results: list[str], past: Past) -> None:
    now = NO_PAST
    for at_us, result in enumerate(results):
        now = job_past.after(now, result, str(at_us), at_us)
    assert now == past


@pytest.mark.parametrize("index", ["", "x", "-1", "1.5", "²", "9" * 5000], ids=lambda index: index[:6] or "none")
def test_what_is_no_index_counts_as_a_success_without_one(index: str) -> None:
    assert job_past.after(NO_PAST, "succeeded", index, 0) == Past(succeeded=1)
