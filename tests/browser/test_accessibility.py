"""axe-core finds no serious or critical violation: pages, tabs, drawer; light and dark, wide and small."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from sandbox.panels import TABS
from tests.browser.workbench import Eventually, open_scenario

WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
BAD = ("serious", "critical")
LOOKS = pytest.mark.parametrize(
    ("viewport", "scheme"), [(WIDE, "dark"), (PHONE, "light")], ids=["wide and dark", "on a phone and light"]
)
"""Both sizes and both colour schemes, in half of the time that all pairs take."""


def violations(page: Page, within: str = "") -> list[str]:
    """Each with the first elements that it is about; ``within`` an element alone, in a fraction of the time."""
    found = Axe().run(page, context=within or None, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{item['id']}: {[' '.join(node['target']) for node in item['nodes'][:3]]}"
        for item in found
        if item["impact"] in BAD
    ]


@LOOKS
def test_everybody_can_use_the_workbench(
    new_page: Callable[..., Page], eventually: Eventually, viewport: dict[str, int], scheme: str
) -> None:
    page = new_page(viewport=viewport, color_scheme=scheme, bypass_csp=True)
    open_scenario(page, "node-not-ready")
    found = {"opened": violations(page)}
    if viewport is PHONE:
        for pane in ("queue", "inspector", "decision"):
            page.locator(f".dock [data-panel={pane}]").click()
            found[pane] = violations(page, f".p-{pane}")
    for tab in TABS:
        page.evaluate("tab => document.getElementById(`tab-${tab}`).click()", tab)
        eventually(lambda tab=tab: page.locator(f"#panel-{tab}").is_visible())
        found[tab] = violations(page, f"#panel-{tab}")
    page.locator("#add").click()
    page.locator("#drawer").wait_for()
    found["drawer"] = violations(page, "#drawer")
    assert not any(found.values()), {place: bad for place, bad in found.items() if bad}


@LOOKS
def test_everybody_can_use_the_first_page_and_the_comparison(
    new_page: Callable[..., Page], viewport: dict[str, int], scheme: str
) -> None:
    page = new_page(viewport=viewport, color_scheme=scheme, bypass_csp=True)
    page.goto("/")
    assert not violations(page)
    page.locator("#compare button").click()
    page.locator(".both").first.wait_for()
    assert not violations(page)


SITE = ("course", "misconceptions", "challenges", "before", "workshop", "join")


@LOOKS
def test_everybody_can_use_the_other_pages_and_none_is_wider_than_the_screen(
    new_page: Callable[..., Page], viewport: dict[str, int], scheme: str
) -> None:
    page = new_page(viewport=viewport, color_scheme=scheme, bypass_csp=True)
    found = {}
    for name in SITE:
        page.goto(f"/{name}/")
        width = page.evaluate("document.documentElement.scrollWidth")
        found[name] = violations(page) + [f"{width} wide"] * (width > viewport["width"])
    assert not any(found.values()), {name: bad for name, bad in found.items() if bad}
