"""The scenarios of this installation, and their steps as the page offers them."""

from __future__ import annotations

from functools import cache
from typing import Any

from sandbox.panels.model.guide import Guide, Step
from scheduler_engine import commands
from scheduler_engine.scenario import Scenario, command_of, load_scenarios

PLAIN = ({"kind": "run"},)
"""Steps of a scenario that is all in its setup: whoever opens it steps by himself."""


@cache
def scenarios() -> dict[str, Scenario]:
    """Slug → scenario; the files are read once, as they belong to the installed version."""
    return {scenario.slug: scenario for scenario in load_scenarios()}


@cache
def guide(slug: str) -> Guide:
    """Empty for a sandbox without a scenario, and for one of an older version that is no more."""
    scenario = scenarios().get(slug)
    if scenario is None:
        return Guide()
    steps = () if scenario.then == PLAIN else tuple(_step(step) for step in scenario.then)
    return Guide(len(scenario.setup), steps)


def command(slug: str, number: int) -> dict[str, Any] | None:
    """The command of a scenario's step, counted from 1."""
    scenario = scenarios().get(slug)
    then = scenario.then if scenario is not None else ()
    return command_of(then[number - 1]) if 0 < number <= len(then) else None


def _step(step: dict[str, Any]) -> Step:
    given = command_of(step)
    summary = commands.summary(commands.from_json(given))
    return Step(summary, step.get("say") or _text(given, summary), "refused" in step)


def _text(given: dict[str, Any], summary: str) -> str:
    if given["kind"] == "advance":
        return f"let {summary.removeprefix('advance ')} pass"
    return summary.replace(" default/", " ").removeprefix("default/")
