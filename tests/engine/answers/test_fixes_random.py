"""Random pending pods: each fix is enough, no part of it is, and no single change was overlooked."""

from __future__ import annotations

import pytest

from tests.engine.answers.single_changes import HISTORIES, compared
from tests.engine.histories import some
from tests.engine.paths import History


@pytest.mark.parametrize("history", HISTORIES)
def test_fixes_agree_with_a_search_of_all_single_changes(history: History) -> None:
    count = 0
    for seed in some(range(1000, 1004), 2):
        for key, problems in compared(seed, history):
            assert not problems, (seed, key, problems)
            count += 1
    assert count
