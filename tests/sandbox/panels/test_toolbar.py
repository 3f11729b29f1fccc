"""The clock."""

from __future__ import annotations

from sandbox.panels import View, World
from sandbox.panels.toolbar import stats
from tests.sandbox import traces


def test_the_clock_and_the_cycle_are_those_of_the_trace() -> None:
    panel = stats(World.fold(traces.web_at_filter().entries), View())
    assert (panel["clock"], panel["cycle"]) == ("00:12.4", 6)
