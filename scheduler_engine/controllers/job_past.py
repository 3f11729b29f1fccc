"""What has become of a Job's pods, added up, so that the Job need not count them again at each change.

Source: upstream ``pkg/controller/job`` (indexed_job_utils.go: completed indexes as intervals).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

Runs = tuple[tuple[int, int], ...]
"""Indexes in order, as (first, last) of each run without a gap."""
LONGEST_INDEX = 10
"""Digits of the largest number of completions."""


@dataclass(frozen=True, slots=True)
class Past:
    """``succeeded``, ``failed``: numbers of pods; ``indexes``: of those that have succeeded; ``streak``: failures since
    the last success; ``last_us``: when the last pod succeeded or failed, in simulated microseconds.
    """

    succeeded: int = 0
    failed: int = 0
    indexes: Runs = ()
    streak: int = 0
    last_us: int = 0


NO_PAST = Past()


def after(past: Past, result: str, index: str, now_us: int) -> Past:
    """Add a pod that has succeeded, failed, or was dropped by the Job; ``index`` is "" if it has none."""
    if result == "succeeded":
        done = with_index(past.indexes, int(index)) if is_index(index) else past.indexes
        return replace(past, succeeded=past.succeeded + 1, indexes=done, streak=0, last_us=now_us)
    if result == "failed":
        return replace(past, failed=past.failed + 1, streak=past.streak + 1, last_us=now_us)
    return past


def is_index(text: str) -> bool:
    """Return True if it may be the index of a pod."""
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_INDEX


def with_index(runs: Runs, index: int) -> Runs:
    """Add an index, joined with its neighbours."""
    place = bisect_left(runs, (index + 1,))  # the first run that begins after the index
    before, behind = runs[:place], runs[place:]
    first = last = index
    if before and before[-1][1] >= index - 1:
        first, last = before[-1][0], max(before[-1][1], index)
        before = before[:-1]
    if behind and behind[0][0] == last + 1:
        last = behind[0][1]
        behind = behind[1:]
    return (*before, (first, last), *behind)


def below(runs: Runs, end: int) -> Runs:
    """Return the indexes below ``end``."""
    if not runs or runs[-1][1] < end:
        return runs
    return tuple((first, min(last, end - 1)) for first, last in runs if first < end)


def size(runs: Runs) -> int:
    """Count the indexes."""
    return sum(last - first + 1 for first, last in runs)


def gaps(runs: Runs, end: int, start: int = 0) -> Iterator[int]:
    """Yield the other indexes from ``start`` to below ``end``, in order."""
    for first, last in runs:
        yield from range(start, first)
        start = max(start, last + 1)
    yield from range(start, end)


def spelled(runs: Runs) -> str:
    """Return ``0,2-4`` for 0, 2, 3 and 4."""
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
