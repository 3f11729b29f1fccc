"""Long lists in the browser: pages, orders, and that both stay while one goes on."""

from __future__ import annotations

from playwright.sync_api import Page

from scheduler_engine.testing import make_node, make_pod
from tests.browser.workbench import Eventually, apply, connected, open_blank, press

LANE = "#panel-queues .lane:nth-of-type(2)"


def names(page: Page) -> list[str]:
    return page.locator(f"{LANE} .q-t").all_inner_texts()


def test_a_page_and_an_order_stay_while_stepping_and_after_a_reload(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    apply(page, make_node("n1").obj(), *(make_pod(f"p{number}").obj() for number in range(75)))
    eventually(lambda: len(names(page)) == 60)
    page.locator('[id="page-next:queues.activeQ"]').click()
    eventually(lambda: names(page) == [f"p{number}" for number in range(60, 75)])
    page.locator('[id="order:queues:name"][data-order="name"]').click()
    page.locator('[id="order:queues:name"][data-order="-name"]').click()
    eventually(lambda: names(page)[0] == "p14")
    press(page, eventually, "s")
    assert names(page)[0] == "p14"
    eventually(lambda: "orders=queues%3A-name" in page.url)
    page.reload()
    connected(page)
    assert names(page)[0] == "p14"
    page.locator('[id="order:queues:"]').click()
    eventually(lambda: names(page)[0] == "p61")


def test_the_order_of_the_filter_table_is_chosen_by_keys(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    apply(page, *(make_node(name).obj() for name in ("b", "c", "a")), make_pod("p").obj())
    press(page, eventually, "s", "s", "s", "s")
    rows = page.locator("#panel-filter .mx .in b")
    eventually(lambda: rows.all_inner_texts() == ["b", "c", "a"])
    head = page.locator('[id="order:filter:name"]')
    head.focus()
    page.keyboard.press("Enter")
    eventually(lambda: rows.all_inner_texts() == ["a", "b", "c"])
    assert page.locator("#panel-filter th.c-node").get_attribute("aria-sort") == "ascending"
    assert head.evaluate("button => button === document.activeElement")
