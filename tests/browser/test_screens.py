"""Each state of `make screens` is measured in one of the sizes and colours, another one for each state. No pictures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.workbench import Eventually
from tests.screens.looks import LOOKS, look, look_as_before, measured
from tests.screens.states import JOURNEYS
from tests.screens.visit import Visit

REFUSED = "responded with a status of 4"
"""What Chromium notes of the states that show a refusal."""


@pytest.mark.parametrize("group", JOURNEYS)
def test_nothing_overlaps_is_cut_or_out_of_reach(
    new_page: Callable[..., Page], eventually: Eventually, allowed_console_errors: list[str], group: str
) -> None:
    allowed_console_errors.append(REFUSED)
    wrong = []
    start = list(JOURNEYS).index(group)
    for number, shot in enumerate(JOURNEYS[group](Visit(new_page, eventually)), start):
        which = LOOKS[number % len(LOOKS)]
        look(shot, which)
        wrong += [f"{shot.name}, {which.name}: {line}" for line in measured(shot.page, set())]
        look_as_before(shot.page)
    assert not wrong, "\n".join(wrong)
