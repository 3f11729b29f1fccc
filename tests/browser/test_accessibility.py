"""axe-core finds nothing at all in the states of ``states.py``: wide and light, wide and dark, on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from sandbox.panels import TABS
from tests.browser.states import STATES
from tests.browser.workbench import Eventually, open_scenario

WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
CONTRAST = "color-contrast"
RULES = {"label-content-name-mismatch": {"enabled": True}}
"""Rules that axe-core leaves out by default; heading-order and empty-table-header are among those that it takes."""
UNTIED = """() => [...document.querySelectorAll('[aria-invalid=true]')].filter(field => {
    const told = (field.getAttribute('aria-describedby') ?? '').split(' ');
    return !told.some(id => /\\S/.test(document.getElementById(id)?.textContent ?? ''));
}).map(field => field.name)"""
"""Names of the fields that are marked as wrong, and are not described by what is wrong with them."""
CSS = Path(__file__).resolve().parents[2] / "static" / "css"
FADED = (":disabled", "[disabled]", "[aria-disabled", "svg", ".tk", ".seg", ".cyc-b", ".cmd-m", "::after")
"""Ends of selectors that may have an opacity: what cannot be pressed, and what holds no words."""


def violations(page: Page, within: str = "", contrast: bool = True, only_contrast: bool = False) -> list[str]:
    """Each with the first elements that it is about; ``within`` an element alone, in a fraction of the time."""
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": RULES | {CONTRAST: {"enabled": contrast}}}
    if only_contrast:
        options = {"resultTypes": ["violations"], "runOnly": [CONTRAST]}
    found = Axe().run(page, context=within or None, options=options).response["violations"]
    return [f"{item['id']}: {[' '.join(map(str, node['target'])) for node in item['nodes'][:3]]}" for item in found]


@pytest.mark.parametrize("state", STATES)
def test_everybody_can_use(
    state: str, new_page: Callable[..., Page], eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    """Contrast is judged in both colour schemes, all else in both sizes."""
    allowed_console_errors.append("422")
    page = STATES[state](new_page(viewport=WIDE, color_scheme="light", bypass_csp=True), eventually)
    found = {"light": violations(page)}
    assert page.evaluate(UNTIED) == [], "an error that no field leads to"
    page.emulate_media(color_scheme="dark")
    found["dark"] = violations(page, only_contrast=True)
    page.set_viewport_size({**PHONE})
    found["phone"] = violations(page, contrast=False)
    assert not any(found.values()), {look: bad for look, bad in found.items() if bad}
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_everybody_can_use_every_tab_and_the_drawer(new_page: Callable[..., Page], eventually: Eventually) -> None:
    page = new_page(viewport=WIDE, color_scheme="dark", bypass_csp=True)
    open_scenario(page, "node-not-ready")
    found = {}
    for tab in TABS:
        page.evaluate("tab => document.getElementById(`tab-${tab}`).click()", tab)
        eventually(lambda tab=tab: page.locator(f"#panel-{tab}").is_visible())
        found[tab] = violations(page, f"#panel-{tab}")
    page.locator("#add").click()
    page.locator("#drawer").wait_for()
    found["drawer"] = violations(page, "#drawer")
    assert not any(found.values()), {place: bad for place, bad in found.items() if bad}


def test_everybody_can_use_every_pane_on_a_phone(new_page: Callable[..., Page]) -> None:
    page = new_page(viewport=PHONE, color_scheme="light", bypass_csp=True)
    open_scenario(page, "node-not-ready")
    found = {}
    for pane in ("queue", "inspector", "decision"):
        page.locator(f".dock [data-panel={pane}]").click()
        found[pane] = violations(page, f".p-{pane}")
    assert not any(found.values()), {place: bad for place, bad in found.items() if bad}


def test_no_words_are_faded_by_opacity() -> None:
    """It takes their contrast away: words are of a colour of tokens.css instead."""
    faded = []
    for path in sorted(CSS.glob("*.css")):
        for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", path.read_text()):
            if re.search(r"(?<![-\w])opacity: (?:0?\.\d+)\b", body):
                ends = [one.strip() for one in re.sub(r"/\*.*?\*/", "", selectors, flags=re.DOTALL).split(",")]
                faded += [f"{path.name}: {one}" for one in ends if not any(end in one for end in FADED)]
    assert faded == []
