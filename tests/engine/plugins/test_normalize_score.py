"""Normalize raw scores to 0–100."""

from __future__ import annotations

import pytest

from scheduler_engine.plugins.normalize_score import default_normalize_score


@pytest.mark.parametrize(
    ("raw", "reverse", "expected"),
    [
        pytest.param([1, 2, 3], False, [33, 66, 100], id="the highest becomes 100, fractions are cut off"),
        pytest.param([1, 2, 3], True, [67, 34, 0], id="reversed the highest becomes 0"),
        pytest.param([0, 0], False, [0, 0], id="all 0 stays 0"),
        pytest.param([0, 0], True, [100, 100], id="reversed all 0 becomes 100"),
        pytest.param([], False, [], id="no nodes are no error"),
    ],
)
def test_default_normalize_score(raw: list[int], reverse: bool, expected: list[int]) -> None:
    scores = {f"n{index}": value for index, value in enumerate(raw)}
    default_normalize_score(scores, reverse)
    assert list(scores.values()) == expected
