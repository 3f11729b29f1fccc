"""Scenarios: a cluster to open with one click, expected results in words, and a check of them.

``format`` is the table of keys of a file, ``steps`` defines steps, ``expectations`` defines expectations;
``loading`` reads files, ``playing`` plays them. ``docs/scenarios.md`` describes the format.
"""

from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.executing import play
from scheduler_engine.scenario.expectations import ASSERTIONS, failures_of, wrong_with
from scheduler_engine.scenario.loading import load_scenario, load_scenarios, read_scenario
from scheduler_engine.scenario.model import FOLDER, Scenario
from scheduler_engine.scenario.playing import Failure, Point, check, run
from scheduler_engine.scenario.steps import command_of

__all__ = [
    "ASSERTIONS",
    "FOLDER",
    "Failure",
    "Point",
    "Rejected",
    "Scenario",
    "check",
    "command_of",
    "failures_of",
    "load_scenario",
    "load_scenarios",
    "play",
    "read_scenario",
    "run",
    "wrong_with",
]
