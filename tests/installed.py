"""The installed scenarios, read once for all tests of a process: slug → scenario."""

from __future__ import annotations

from scheduler_engine.scenario import load_scenarios

SCENARIOS = {scenario.slug: scenario for scenario in load_scenarios()}
