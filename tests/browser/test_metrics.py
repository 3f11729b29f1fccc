"""The metrics tab: charts that survive the swap of their panel, and the text for Prometheus."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.browser.workbench import Eventually, apply, new_sandbox, post
from tests.engine.cluster import node, pod


def opened(page: Page, *manifests: dict[str, Any]) -> str:
    """Open a new sandbox at the metrics tab. Return its URL."""
    page.goto(new_sandbox(page))
    if manifests:
        apply(page, *manifests)
    page.click("#tab-metrics")
    return page.url


def test_nothing_is_drawn_before_there_is_anything(page: Page, eventually: Eventually) -> None:
    opened(page)
    eventually(lambda: "Nothing to count yet" in page.locator("#panel-metrics").inner_text())
    assert page.locator("#panel-metrics .plot").count() == 0


def test_a_chart_follows_the_simulation_without_being_replaced(page: Page, eventually: Eventually) -> None:
    opened(page, node("n1"), pod("web-1"), pod("big-1", "9"))
    pending = page.locator("#mt-pending")
    eventually(lambda: pending.locator(".main-svg").count())
    page.evaluate("document.querySelector('#mt-pending .plot').dataset.mine = 'yes'")
    page.click("#do-settle")
    eventually(lambda: "unschedulable 1 1" in " ".join(pending.inner_text().split()))
    post(page, "do/advance/", seconds="30")
    eventually(lambda: "00:30" in pending.locator(".xaxislayer-above").text_content())
    assert pending.locator(".plot").get_attribute("data-mine") == "yes"
    assert page.locator("#tab-metrics").get_attribute("aria-selected") == "true"
    page.click("#do-back")
    eventually(lambda: "00:30" not in pending.locator(".xaxislayer-above").text_content())


def test_charts_out_of_view_are_drawn_when_they_are_scrolled_to(page: Page, eventually: Eventually) -> None:
    opened(page, node("n1"), pod("web-1"))
    last = page.locator("#mt-memory-node")
    eventually(lambda: page.locator("#mt-pending .main-svg").count())
    assert last.locator(".main-svg").count() == 0
    last.scroll_into_view_if_needed()
    eventually(lambda: last.locator(".main-svg").count())


def test_dark_colours_reach_the_charts(page: Page, eventually: Eventually) -> None:
    opened(page, node("n1"), pod("web-1"))
    line = page.locator("#mt-pending path.js-line").first
    eventually(line.count)
    light = line.evaluate("path => path.style.stroke")
    page.click("#theme")
    eventually(lambda: line.evaluate("path => path.style.stroke") != light)


def test_the_link_leads_to_the_text_for_prometheus(page: Page, eventually: Eventually) -> None:
    base = opened(page, pod("web-1"))
    href = eventually(lambda: page.locator("#panel-metrics a").evaluate("link => link.href"))
    assert href == f"{base.partition('?')[0]}metrics"
    assert 'scheduler_pending_pods{queue="active"} 1' in page.request.get(href).text()
