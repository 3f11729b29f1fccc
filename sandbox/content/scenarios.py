"""The installed scenarios, uploaded ones, and their steps for the page."""

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
"""Steps of a scenario that only has a setup. The page then shows no steps: people step freely."""
LEVEL_WORDS = {"first-steps": "lists.first-steps", "everyday": "lists.everyday", "deep": "lists.deep"}
"""Level of a scenario → key of its words, the easiest first."""
UPLOADED_IN_CACHE = 64
"""Uploaded scenarios in the cache."""


@dataclass(frozen=True)
class Story:
    """The parts of a scenario that are needed after its setup. ``setup``: number of commands in the setup."""

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
    """Return slug → installed scenario. The files are read once."""
    return {scenario.slug: scenario for scenario in load_scenarios()}


def story_of(scenario: Scenario) -> Story:
    about = scenario.title, scenario.about, scenario.outcome, scenario.tab
    return Story(*about, len(scenario.setup), scenario.then, scenario.opened, scenario.expect)


def story_text(story: Story) -> str:
    """Return a story as JSON for ``models.Sandbox.story``."""
    return json.dumps(asdict(story), separators=(",", ":"), ensure_ascii=False)


@cache
def _installed(slug: str) -> Story | None:
    scenario = scenarios().get(slug)
    return None if scenario is None else story_of(scenario)


@lru_cache(UPLOADED_IN_CACHE)
def _uploaded(text: str) -> Story:
    return Story(**json.loads(text))


def story(slug: str, text: str = "") -> Story | None:
    """Return a sandbox's story: the uploaded one in ``text``, else the installed one. None if there is none."""
    return _uploaded(text) if text else _installed(slug)


@lru_cache(2 * UPLOADED_IN_CACHE)
def guide(slug: str, text: str = "") -> Guide:
    """Return the steps of a sandbox's story for the page, an empty guide without a story."""
    source = story(slug, text)
    if source is None:
        return Guide()
    steps = () if [*source.then] == [*PLAIN] else tuple(_step(step) for step in source.then)
    return Guide(source.setup, steps)


def command(slug: str, text: str, number: int) -> dict[str, Any] | None:
    """Return the command of a story's step ``number``, counted from 1. None if there is no such step."""
    source = story(slug, text)
    then = source.then if source is not None else ()
    return command_of(then[number - 1]) if 0 < number <= len(then) else None


def _step(step: Data) -> Step:
    command = commands.from_json(command_of(step))
    return Step(command.recorded(), step.get("say") or _text(command), "refused" in step)


def _text(command: commands.Command) -> str:
    if isinstance(command, commands.Advance):
        return f"let {command.seconds:g} s pass"
    return command.summary.replace(" default/", " ").removeprefix("default/")
