"""Every installed scenario has texts. The test of its own file checks that they hold."""

from __future__ import annotations

import pytest

from scheduler_engine.scenario import load_scenarios, play
from scheduler_engine.scenario.format import LEVELS
from tests.installed import SCENARIOS


@pytest.mark.parametrize("slug", SCENARIOS)
def test_scenario_has_words_expectations_and_something_left_to_happen(slug: str) -> None:
    scenario = SCENARIOS[slug]
    assert scenario.title
    assert scenario.group
    assert scenario.about
    assert scenario.outcome
    assert scenario.source
    assert scenario.level in LEVELS
    assert scenario.setup
    assert scenario.expect
    opened = scenario.open()
    before = len(opened.recorder.entries)
    play(opened, scenario.then)
    assert len(opened.recorder.entries) > before


@pytest.mark.parametrize("slug", SCENARIOS)
def test_what_a_scenario_shows_is_one_whole_sentence(slug: str) -> None:
    text = SCENARIOS[slug].shows
    assert text.endswith(".")
    assert ". " not in text
    assert 8 <= len(text.split()) <= 24


def test_every_title_and_every_address_is_unique() -> None:
    scenarios = load_scenarios()
    assert len({scenario.slug for scenario in scenarios}) == len(scenarios)
    assert len({scenario.shows for scenario in scenarios}) == len(scenarios)
    assert len({scenario.title for scenario in scenarios}) == len(scenarios)
    assert scenarios[0].slug == "three-zones-one-gpu-pool"
