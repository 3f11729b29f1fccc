"""Plugins' facts lead to their decisions, in every cell of many random histories."""

from __future__ import annotations

import pytest

from tests.engine.cells import played, watching
from tests.engine.histories import some


@pytest.mark.parametrize("tens", some(range(20), 6))
def test_the_facts_of_every_cell_lead_to_its_decision(tens: int) -> None:
    with watching(late=tens % 2 == 1) as cells:
        for seed in range(10 * tens, 10 * tens + 10):
            played(cells, seed)
    assert (cells.wrong, dict(cells.silent)) == ([], {})
    assert cells.count > 500
