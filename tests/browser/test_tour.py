"""The tour of README.md: each step shows what it says."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.workbench import Eventually, arrive, closed, head, level, press, text


def test_the_tour_shows_what_it_says(page: Page, eventually: Eventually) -> None:
    page.goto("/")
    page.get_by_role("button", name="Open an example").click()
    arrive(page)
    press(page, eventually, *"ssss")
    eventually(lambda: text(page, "#panel-sentence").startswith("payments-1 at Filter: none of 8 nodes fits."))
    press(page, eventually, "s")
    eventually(lambda: "payments-1 at PostFilter" in text(page, "#panel-sentence"))
    press(page, eventually, *"bnnnn")
    eventually(lambda: "api-5 at PostBind: it is bound" in text(page, "#panel-sentence"))

    press(page, eventually, *"bbssss")
    eventually(lambda: text(page, "#panel-sentence").startswith("ml-2 at Filter: none of 8 nodes fits."))
    page.keyboard.press("a")
    page.locator("#add-node").click()
    page.locator("#form-node").get_by_role("button", name="Tainted GPU node").click()
    eventually(lambda: page.locator("#form-node [name=extended]").input_value() != "")
    after = level(page) + 1
    page.locator("#form-node .btn-ink").click()
    eventually(lambda: head(page) == after)
    closed(page, eventually)
    press(page, eventually, "s")
    assert page.locator("#panel-queues [data-lane=backoffQ][data-pod='default/ml-2']").count() == 1
