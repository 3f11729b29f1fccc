"""Long lists as short texts."""

from __future__ import annotations

import pytest

from sandbox.panels.drawing.runs import names, runs
from tests.sandbox.scenarios import unpacked


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        pytest.param([], "", id="nothing"),
        pytest.param([5], "5", id="one number"),
        pytest.param([1, 4], "1 4", id="two numbers are no run"),
        pytest.param([1, 4, 7, 10], "1+3x4", id="numbers at equal distances"),
        pytest.param([7] * 9, "7+0x9", id="the same number"),
        pytest.param([9, 6, 3], "9 6 3", id="downwards there are no runs"),
        pytest.param([5, 1, 4, 7, 10, None, 2], "5 1+3x4 - 2", id="runs among others"),
        pytest.param([None, None], "-x2", id="nothing twice"),
        pytest.param([0, 0, 0, 100, 100], "0+0x3 100 100", id="a run and what is too short for one"),
    ],
)
def test_numbers(numbers: list[int | None], text: str) -> None:
    assert runs(numbers) == text
    assert unpacked(text) == numbers


@pytest.mark.parametrize(
    ("words", "text"),
    [
        pytest.param(["n-01", "n-02", "n-03"], "n-[2:1+1x3]", id="numbers of one width"),
        pytest.param(["n8", "n9", "n10", "n11", "n12"], "n8 n9 n[2:10+1x3]", id="another width is another series"),
        pytest.param(["n-1", "n-5", "n-2"], "n-[1:1,5,2]", id="in no order"),
        pytest.param(["web", "db"], "web db", id="without a number"),
        pytest.param(["1", "2", "3"], "[1:1+1x3]", id="numbers alone"),
        pytest.param(["a1", "b1", "a2"], "a1 b1 a2", id="of one kind there are too few together"),
    ],
)
def test_names(words: list[str], text: str) -> None:
    assert names(words) == text
