"""The scenarios of this installation, those that people brought, and their steps as the page offers them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any

from sandbox.panels.model.guide import Guide, Step
from scheduler_engine import commands
from scheduler_engine.scenario import Scenario, command_of, load_scenarios
from scheduler_engine.shapes import Data

PLAIN: Sequence[Data] = ({"kind": "run"},)
"""Steps of a scenario that is all in its setup: whoever opens it steps by himself."""
BROUGHT_AT_HAND = 64
"""Scenarios that people brought, of which the last ones are kept read."""


@dataclass(frozen=True)
class Story:
    """What of a scenario is needed once its setup was executed. ``setup``: number of its commands."""

    title: str
    about: str
    outcome: str
    tab: str
    setup: int
    then: Sequence[Data]
    opened: Sequence[Data]
    expect: Sequence[Data]


@cache
def scenarios() -> dict[str, Scenario]:
    """Slug → scenario; the files are read once, as they belong to the installed version."""
    return {scenario.slug: scenario for scenario in load_scenarios()}


def story_of(scenario: Scenario) -> Story:
    return Story(
        scenario.title,
        scenario.about,
        scenario.outcome,
        scenario.tab,
        len(scenario.setup),
        scenario.then,
        scenario.opened,
        scenario.expect,
    )


def written(story: Story) -> str:
    """As it is kept with a sandbox."""
    return json.dumps(asdict(story), separators=(",", ":"), ensure_ascii=False)


@cache
def _installed(slug: str) -> Story | None:
    scenario = scenarios().get(slug)
    return None if scenario is None else story_of(scenario)


@lru_cache(BROUGHT_AT_HAND)
def _brought(text: str) -> Story:
    return Story(**json.loads(text))


def story(slug: str, text: str = "") -> Story | None:
    """Of a sandbox: the one that somebody brought, else that of the installation; None for a sandbox without one, and
    for one whose scenario is no more.
    """
    return _brought(text) if text else _installed(slug)


@lru_cache(2 * BROUGHT_AT_HAND)
def guide(slug: str, text: str = "") -> Guide:
    """Empty for a sandbox without a story."""
    found = story(slug, text)
    if found is None:
        return Guide()
    steps = () if [*found.then] == [*PLAIN] else tuple(_step(step) for step in found.then)
    return Guide(found.setup, steps)


def command(slug: str, text: str, number: int) -> dict[str, Any] | None:
    """The command of a scenario's step, counted from 1."""
    found = story(slug, text)
    then = found.then if found is not None else ()
    return command_of(then[number - 1]) if 0 < number <= len(then) else None


def _step(step: Data) -> Step:
    command = commands.from_json(command_of(step))
    return Step(command.recorded(), step.get("say") or _text(command), "refused" in step)


def _text(command: commands.Command) -> str:
    if isinstance(command, commands.Advance):
        return f"let {command.seconds:g} s pass"
    return command.summary.replace(" default/", " ").removeprefix("default/")
