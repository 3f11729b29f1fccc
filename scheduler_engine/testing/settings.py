"""Settings of pytest for the scenarios and tests of a folder. See docs/testing.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scheduler_engine.scenario.facts import VERDICTS


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """What ``pytest_scheduler_settings`` in a ``conftest.py`` returns, for its folder and those below.

    Scenario files and tests with the fixture ``cluster`` run once for each of the ``configurations`` (files with a
    KubeSchedulerConfiguration) and ``kubernetes`` (versions, such as "1.36"). Without any, scenarios keep their own.
    ``feature_gates``: as in "OpportunisticBatching=false". ``plugins``: your own, each as "module:Class".
    ``level``: which expectations of scenarios count: "placements", "queues" (and placements) or "verdicts" (all).
    """

    configurations: Sequence[str | Path] = ()
    kubernetes: Sequence[str] = ()
    feature_gates: str = ""
    plugins: Sequence[str] = ()
    level: str = VERDICTS
