"""The past in Chromium: dragged, clicked, by keys and by links, and the way on from there."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.workbench import Eventually, click, open_example, press, text


@pytest.fixture
def settled(page: Page, eventually: Eventually) -> Page:
    """All pods of the example were tried, in one command."""
    open_example(page)
    press(page, eventually, "e")
    eventually(lambda: page.locator(".cyc").count() > 3)
    return page


def past(page: Page) -> bool:
    return page.locator("#panel-sentence.is-past").count() == 1


def knob(page: Page) -> float:
    box = page.locator("#knob").bounding_box()
    assert box is not None
    return box["x"]


def test_every_panel_goes_back_with_the_knob_and_nothing_is_selected(settled: Page, eventually: Eventually) -> None:
    page, before = settled, text(settled, "#panel-queues")
    box = page.locator(".cyc button").nth(1).bounding_box()
    assert box is not None
    page.mouse.move(knob(page) + 1, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 30, box["y"] + 20, steps=6)
    eventually(lambda: past(page) and page.locator(".cyc.is-now #cyc-2").count() == 1)
    page.mouse.up()
    assert page.evaluate("getSelection().toString()") == ""
    assert text(page, "#panel-queues") != before
    assert "The past, 00:00.0" in text(page, "#panel-sentence")
    assert page.locator("#panel-queues [data-lane=inFlight]").count() == 1
    page.locator("#now-follow").click()
    eventually(lambda: not past(page) and text(page, "#panel-queues") == before)


def test_the_arrow_keys_go_stage_by_stage_and_home_and_end_to_the_ends(settled: Page, eventually: Eventually) -> None:
    page = settled
    stages = []
    for _ in range(3):
        before = page.locator("#panel-timeline").get_attribute("data-now")
        page.keyboard.press("ArrowLeft")
        eventually(lambda before=before: page.locator("#panel-timeline").get_attribute("data-now") != before)
        stages.append(page.locator("#panel-ribbon .is-now button").get_attribute("id"))
    assert stages == ["st-Bind", "st-PreBind", "st-Permit"]
    page.keyboard.press("Shift+ArrowLeft")
    eventually(lambda: page.locator(".cyc.is-now").count() == 1 and past(page))
    page.keyboard.press("Home")
    eventually(lambda: page.locator("#panel-cluster [data-node]").count() == 0)
    page.keyboard.press("End")
    eventually(lambda: not past(page))


def test_a_link_opens_at_its_moment_and_a_reload_stays(settled: Page, eventually: Eventually) -> None:
    page = settled
    page.locator(".cyc:nth-of-type(3) .tk").nth(3).click()
    eventually(lambda: past(page) and "at=" in page.url)
    page.locator("#tab-cache").click()
    eventually(lambda: page.title() and "tab=cache" in page.url)
    told = [text(page, f"#panel-{name}") for name in ("sentence", "queues", "cluster", "cache")]
    page.reload()
    eventually(lambda: [text(page, f"#panel-{name}") for name in ("sentence", "queues", "cluster", "cache")] == told)
    page.locator("#share").click()
    other = page.context.new_page()
    other.goto(page.locator("#share-moment").input_value())
    eventually(lambda: [text(other, f"#panel-{name}") for name in ("queues", "cache")] == [told[1], told[3]])
    assert other.locator("#goto").count() == 0


def test_one_goes_back_into_the_middle_and_what_was_left_is_reopened(settled: Page, eventually: Eventually) -> None:
    page, whole = settled, text(settled, "#panel-status")
    page.locator(".cyc:nth-of-type(3) .tk").nth(3).click()
    eventually(lambda: past(page))
    stage = page.locator("#panel-ribbon .is-now button").get_attribute("id")
    page.locator("#goto").click()
    eventually(lambda: not past(page) and "ended early" in text(page, "#panel-status"))
    assert page.locator("#panel-ribbon .is-now button").get_attribute("id") == stage
    click(page, eventually, "#do-stage")
    page.locator("#branches").click()
    eventually(lambda: page.locator("#branch-list button").count() == 1)
    page.locator("#branch-list button").click()
    eventually(lambda: text(page, "#panel-status") == whole)
    eventually(lambda: not page.locator("#dialog-branches").is_visible())


def test_a_fork_opens_where_one_looks(settled: Page, eventually: Eventually) -> None:
    page, address = settled, settled.url
    page.locator(".cyc:nth-of-type(3) .tk").nth(3).click()
    eventually(lambda: past(page))
    stage = page.locator("#panel-ribbon .is-now button").get_attribute("id")
    page.locator("#branches").click()
    page.locator("#fork").click()
    eventually(lambda: page.title() and page.url.split("?")[0] != address.split("?")[0])
    eventually(lambda: page.locator("#panel-ribbon .is-now button").get_attribute("id") == stage)
    assert not past(page)


def test_whoever_does_something_sees_the_present(settled: Page, eventually: Eventually) -> None:
    page = settled
    page.locator("#cyc-1").click()
    eventually(lambda: past(page))
    page.locator("#do-advance-1, button:has-text('+1 s')").first.click()
    eventually(lambda: not past(page) and "at=" not in page.url)
