"""Long lists in the browser: pages and sort orders, and that stepping changes neither."""

from __future__ import annotations

from playwright.sync_api import Page

from scheduler_engine.testing import make_node, make_pod
from tests.browser.workbench import Eventually, apply, connected, open_blank, open_example, press

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
    eventually(lambda: "orders=queues%3A-name" in page.evaluate("location.search"))
    page.reload()
    connected(page)
    assert names(page)[0] == "p14"
    page.locator('[id="order:queues:"]').click()
    eventually(lambda: names(page)[0] == "p61")


def test_the_order_of_the_filter_table_is_chosen_by_keys(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    apply(page, *(make_node(name).obj() for name in ("b", "c", "a")), make_pod("p").obj())
    eventually(lambda: page.locator(".node").count() == 3)
    press(page, eventually, "s", "s", "s", "s")
    rows = page.locator("#panel-filter .mx .in b")
    eventually(lambda: rows.all_inner_texts() == ["b", "c", "a"])
    head = page.locator('[id="order:filter:name"]')
    head.focus()
    page.keyboard.press("Enter")
    eventually(lambda: rows.all_inner_texts() == ["a", "b", "c"])
    assert page.locator("#panel-filter th.c-node").get_attribute("aria-sort") == "ascending"
    assert head.evaluate("button => button === document.activeElement")


def test_a_folded_panel_stays_folded_through_steps_and_a_reload(page: Page, eventually: Eventually) -> None:
    open_example(page)
    lanes, fold = page.locator("#scroll-queues"), page.locator("#fold-queues")
    assert (lanes.is_visible(), fold.get_attribute("aria-expanded")) == (True, "true")
    fold.click()
    assert (lanes.is_visible(), fold.get_attribute("aria-expanded")) == (False, "false")
    press(page, eventually, "s")
    assert (lanes.is_visible(), fold.get_attribute("aria-expanded")) == (False, "false")
    page.reload()
    connected(page)
    assert (lanes.is_visible(), fold.get_attribute("aria-expanded")) == (False, "false")
    fold.click()
    assert lanes.is_visible()


def test_opening_a_tab_unfolds_the_decision_and_folds_nothing_else(page: Page) -> None:
    open_example(page)
    page.locator("#fold-intro").click()
    page.locator("#fold-decision").click()
    assert not page.locator("#panel-filter").is_visible()
    page.locator("#tab-events").click()
    assert page.locator("#panel-events").is_visible()
    assert page.locator("#fold-inspector").get_attribute("aria-expanded") == "false"


def test_long_names_stay_in_their_card(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    long = (
        make_node(".".join(["n" * 61] * 4))
        .label("kubernetes.io/hostname", "host")
        .label("topology.kubernetes.io/zone", "z" * 63)
        .cordoned()
    )
    long = long.taint(f"example.com/{'k' * 60}", "v" * 60, "NoSchedule").capacity({"cpu": "4", f"a.b/{'r' * 60}": "2"})
    apply(page, long.obj(), make_node("other").label("topology.kubernetes.io/zone", "a").obj())
    card = page.locator(".node", has_text="nnn")
    eventually(lambda: card.count() == 1)
    parts = "card => [...card.querySelectorAll('.node-h > *')].map((part) => part.getBoundingClientRect().right)"
    edge = "card => Math.min(card.getBoundingClientRect().right, card.closest('.zone').getBoundingClientRect().right)"
    assert max(card.evaluate(parts)) <= card.evaluate(edge)
    assert card.evaluate("card => card.getBoundingClientRect().width < innerWidth / 2")


def test_on_paper_the_page_is_light_and_in_full_without_controls(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    apply(page, *(make_node(f"n{number}").obj() for number in range(39)), make_pod("p").obj())
    eventually(lambda: page.locator(".node").count() == 39)
    press(page, eventually, "s", "s", "s", "s")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink')") == "rgb(28, 26, 22)"
    assert not page.locator(".steps").is_visible()
    assert not page.locator("#add").is_visible()
    for box in ("#scroll-cluster", "#scroll-filter", "#scroll-queues"):
        assert page.locator(box).evaluate("box => box.scrollHeight <= box.clientHeight + 1"), box
