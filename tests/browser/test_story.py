"""The slow Settle in Chromium: it runs the same command, then tells its steps one after another, or as a list."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Server
from tests.browser.workbench import Eventually, click, head, open_example, open_scenario, post, press, text

STEP = "#story-count"


@pytest.fixture
def slow(new_page: Callable[..., Page], eventually: Eventually) -> Page:
    """Open the example with motion, and start a slow Settle."""
    page = new_page(reduced_motion="no-preference")
    open_example(page)
    page.locator("#slow").click()
    page.keyboard.press("e")
    eventually(lambda: "Step 2 of" in page.locator(STEP).inner_text())
    return page


def over(page: Page) -> bool:
    return page.locator("#story").is_hidden() and page.locator("#panel-sentence.is-past").count() == 0


def test_each_step_has_a_sentence_and_the_panels_of_its_moment(slow: Page, eventually: Eventually) -> None:
    page = slow
    assert "payments-1 at Snapshot" in page.locator("#story-steps .is-now").inner_text()
    eventually(lambda: page.locator("#panel-ribbon .is-now #st-Snapshot").count() == 1)
    assert page.locator("#story-steps li:visible").count() == 1
    page.keyboard.press("Escape")
    eventually(lambda: over(page))


def test_a_whole_story_ends_where_a_quick_settle_ends_with_the_same_log(
    new_page: Callable[..., Page], server: Server, eventually: Eventually
) -> None:
    page = new_page(base_url=server.url, reduced_motion="no-preference")
    page.clock.install()
    open_scenario(page, "node-selector")
    page.locator("#slow").click()
    before = head(page)
    page.keyboard.press("e")
    eventually(lambda: page.locator("#story").is_visible())

    def told() -> bool:
        page.clock.run_for(500)
        return over(page)

    eventually(told)
    slowly = [text(page, f"#panel-{name}") for name in ("sentence", "queues", "cluster", "status")]
    assert head(page) == before + 1
    press(page, eventually, "b")
    page.locator("#slow").click()
    press(page, eventually, "e")
    eventually(lambda: [text(page, f"#panel-{name}") for name in ("sentence", "queues", "cluster", "status")] == slowly)
    assert page.locator("#story").is_hidden()


@pytest.mark.parametrize("way", ["Escape", "e", "#story-skip"])
def test_a_key_or_a_click_skips_to_the_end_without_another_command(
    slow: Page, eventually: Eventually, way: str
) -> None:
    commands = head(slow)
    if way.startswith("#"):
        slow.locator(way).click()
    else:
        slow.keyboard.press(way)
    eventually(lambda: over(slow))
    assert head(slow) == commands
    assert "batch-11" in text(slow, "#panel-sentence")


def test_it_stops_when_somebody_else_acts(slow: Page, eventually: Eventually) -> None:
    post(slow, "do/advance/", seconds="1")
    eventually(lambda: over(slow))
    assert "Somebody else acted" in text(slow, "#notice")


def test_a_look_at_another_moment_stops_it_there(slow: Page, eventually: Eventually) -> None:
    slow.keyboard.press("Home")
    eventually(lambda: slow.locator("#story").is_hidden())
    assert slow.locator("#panel-sentence.is-past").count() == 1


def test_the_own_next_command_stops_it(slow: Page, eventually: Eventually) -> None:
    click(slow, eventually, "#do-1")
    eventually(lambda: over(slow))


def test_with_reduced_motion_a_list_tells_the_steps_and_the_page_does_not_move(
    page: Page, eventually: Eventually
) -> None:
    open_example(page)
    page.locator("#slow").click()
    press(page, eventually, "e")
    page.locator("#story-steps li").first.wait_for()
    assert page.locator("#story-steps li:visible").count() > 5
    eventually(lambda: page.locator("#panel-sentence.is-past").count() == 0)
    page.locator("#story-steps button", has_text="payments-1 at PostFilter").click()
    eventually(lambda: page.locator("#panel-ribbon .is-now #st-PostFilter").count() == 1)
    page.keyboard.press("Escape")
    eventually(lambda: page.locator("#story").is_hidden())
    assert page.locator("#panel-sentence.is-past").count() == 1


def test_the_browser_remembers_the_choice(page: Page, eventually: Eventually) -> None:
    open_example(page)
    page.locator("#slow").click()
    page.reload()
    eventually(lambda: page.locator('#slow[aria-pressed="true"]').count() == 1)


@pytest.mark.parametrize(
    ("motion", "trails"), [("no-preference", 1), ("reduce", 0)], ids=["by default", "not with reduced motion"]
)
def test_a_pod_that_is_popped_leaves_a_trail(
    new_page: Callable[..., Page], eventually: Eventually, motion: str, trails: int
) -> None:
    page = new_page(reduced_motion=motion)
    open_scenario(page, "bind-fails")
    page.add_style_tag(content=":root { --m-slow: 60000ms; }")
    click(page, eventually, "#do-stage")
    assert page.locator("body > .trail").count() == trails
