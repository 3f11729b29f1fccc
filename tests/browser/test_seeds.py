"""The charts of runs with many seeds: drawn under the policy of the site, in both themes, at any width."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.browser.axe import barriers
from tests.browser.workbench import Eventually, apply, new_sandbox, post
from tests.screens.states import equal_cluster

PLOTS = "#answer [data-chart] .main-svg:first-child, #answer [data-heat] .main-svg:first-child"


def opened(page: Page) -> None:
    """Open runs of equal nodes with different zones to draw from: figures of the zones and placements vary."""
    page.goto(new_sandbox(page))
    apply(page, *equal_cluster(5, 9))
    post(page, "do/run/")
    page.goto(f"{page.url.partition('?')[0]}differences/?seeds=10&configuration=default")
    page.locator("#placements").wait_for()


def widths(page: Page) -> Any:
    return page.locator(PLOTS).evaluate_all("all => all.map(svg => Math.round(svg.getBoundingClientRect().width))")


def test_charts_are_drawn_again_for_another_theme_and_width(page: Page, eventually: Eventually) -> None:
    opened(page)
    places = page.locator("#answer [data-chart], #answer [data-heat]").count()
    assert places >= 2
    eventually(lambda: page.locator(PLOTS).count() == places)
    first = page.locator("#answer [data-heat] .main-svg text").first
    light = first.evaluate("text => getComputedStyle(text).fill")
    page.click("[data-do=theme]")
    eventually(lambda: first.evaluate("text => getComputedStyle(text).fill") != light)
    wide = widths(page)
    page.set_viewport_size({"width": 500, "height": 900})
    eventually(lambda: all(narrow <= 500 for narrow in widths(page)) and widths(page) != wide)


def test_the_page_has_no_barriers_and_its_table_has_what_the_charts_show(page: Page, eventually: Eventually) -> None:
    opened(page)
    eventually(lambda: page.locator("#answer [data-heat] .main-svg").count() >= 2)
    assert barriers(page, "body") == []
    pods = page.locator("#placements table tbody tr")
    assert pods.count() == 9
    assert page.locator("#placements figure [aria-hidden=true]").count() == 2
