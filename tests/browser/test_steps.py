"""Follow a scenario with its step button, in Chromium."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.workbench import Eventually, click, connected, open_scenario, press, text


def test_a_scenario_opens_on_its_tab_and_is_followed_with_the_keyboard(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "toleration-seconds")
    assert page.locator("#tab-evictions").get_attribute("aria-selected") == "true"
    assert page.locator(".intro").is_visible()
    assert "Step 1 of 3" in text(page, "#now-step")
    press(page, eventually, "t")
    page.locator("#now-step").focus()
    press(page, eventually, "Enter")
    assert page.evaluate("document.activeElement.id") == "now-step"
    assert "stays-an-hour must leave in 1 s" in text(page, "#panel-sentence .next")
    press(page, eventually, "Enter")
    assert "all 3 steps done" in text(page, "#panel-sentence .next")
    assert (
        text(page, "#sentence-text") == "stays-an-hour is evicted from node1: its tolerationSeconds (3600) have passed."
    )


def test_a_step_that_is_refused_shows_the_words_and_leaves_the_others_at_hand(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["status of 422", "Status Error Code 422"]
    open_scenario(page, "pod-overhead-refused")
    page.locator("#now-step").click()
    eventually(lambda: "Pod Overhead set without corresponding RuntimeClass" in text(page, "#notice"))
    click(page, eventually, "#now-step-4")
    assert text(page, "#notice") == ""
    assert "Step 5 of 5" in text(page, "#now-step")


def test_a_watcher_reads_the_scenario_and_has_no_steps(page: Page, new_page: Callable[..., Page]) -> None:
    open_scenario(page, "toleration-seconds")
    watcher = new_page()
    watcher.goto(page.locator("#share-view").input_value())
    connected(watcher)
    assert watcher.locator(".intro").is_visible()
    assert watcher.locator("#now-step").count() == 0
    assert page.locator(".how:visible").count() > 0
    assert watcher.locator(".how:visible").count() == 0, "it names missing buttons"
    assert watcher.locator("#tab-evictions").get_attribute("aria-selected") == "true"
