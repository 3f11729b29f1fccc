"""Measure states of `make screens`, each in one size and colour by turns. Check some with axe-core.

No pictures are taken.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.axe import barriers
from tests.browser.workbench import Eventually
from tests.screens.looks import LOOKS, look, look_as_before, measured
from tests.screens.states import IN_THE_SUITE, JOURNEYS
from tests.screens.visit import Visit

REFUSED = "responded with a status of 4|Response Status Error Code 4"
"""Console messages of Chromium and htmx in states that show a refusal."""


@pytest.mark.parametrize("group", IN_THE_SUITE)
def test_nothing_overlaps_is_cut_or_out_of_reach_and_everybody_can_use_it(
    new_page: Callable[..., Page], eventually: Eventually, allowed_console_errors: list[str], group: str
) -> None:
    allowed_console_errors.append(REFUSED)
    wrong = []
    judged = dict(IN_THE_SUITE[group])
    start = [*IN_THE_SUITE].index(group)
    for number, shot in enumerate(JOURNEYS[group](Visit(new_page, eventually)), start):
        which = LOOKS[number % len(LOOKS)]
        look(shot, which)
        wrong += [f"{shot.name}, {which.name}: {line}" for line in measured(shot.page, set())]
        look_as_before(shot.page)
        if within := judged.pop(shot.name, ""):
            wrong += [f"{shot.name}, {line}" for line in barriers(shot.page, within)]
            look_as_before(shot.page)
    assert not judged, "the journey does not reach these states"
    assert not wrong, "\n".join(wrong)
