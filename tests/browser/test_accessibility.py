"""Check every tab, and a phone's panes, with axe-core. ``test_screens.py`` checks other states with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

from sandbox.panels import TABS
from tests.browser.axe import PHONE, violations
from tests.browser.workbench import Eventually, open_scenario

WIDE = {"width": 1440, "height": 900}
CSS = Path(__file__).resolve().parents[2] / "static" / "css"
FADED = (":disabled", "[disabled]", "[aria-disabled", "svg", ".tk", ".seg", ".cyc-b", ".cmd-m", "::after")
"""Ends of selectors that may have an opacity: disabled controls, and elements without text."""


def test_everybody_can_use_every_tab_and_the_drawer(new_page: Callable[..., Page], eventually: Eventually) -> None:
    page = new_page(viewport=WIDE, color_scheme="dark", bypass_csp=True)
    open_scenario(page, "node-not-ready")
    results = {}
    for tab in TABS:
        page.evaluate("tab => document.getElementById(`tab-${tab}`).click()", tab)
        eventually(lambda tab=tab: page.locator(f"#panel-{tab}").is_visible())
        results[tab] = violations(page, f"#panel-{tab}")
    page.locator("#add").click()
    page.locator("#drawer").wait_for()
    results["drawer"] = violations(page, "#drawer")
    assert not any(results.values()), {place: bad for place, bad in results.items() if bad}


def test_everybody_can_use_every_pane_on_a_phone(new_page: Callable[..., Page]) -> None:
    page = new_page(viewport=PHONE, color_scheme="light", bypass_csp=True)
    open_scenario(page, "node-not-ready")
    results = {}
    for pane in ("queue", "inspector", "decision"):
        page.locator(f".dock [data-panel={pane}]").click()
        results[pane] = violations(page, f".p-{pane}")
    assert not any(results.values()), {place: bad for place, bad in results.items() if bad}


def test_no_words_are_faded_by_opacity() -> None:
    """Opacity lowers contrast: use a colour of tokens.css instead."""
    faded = []
    for path in sorted(CSS.rglob("*.css")):
        for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", path.read_text()):
            if re.search(r"(?<![-\w])opacity: (?:0?\.\d+)\b", body):
                ends = [one.strip() for one in re.sub(r"/\*.*?\*/", "", selectors, flags=re.DOTALL).split(",")]
                faded += [f"{path.name}: {one}" for one in ends if not any(end in one for end in FADED)]
    assert faded == []
