"""Find in Chromium: go by keyboard to a pod, a tab, a term, a scenario, or get no results."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.workbench import Eventually, apply, arrive, connected, open_example, post, press, text

HINT = "Type part of the name of a pod"
GATED = {"schedulingGates": [{"name": "example.com/later"}], "containers": [{"name": "main", "image": "x"}]}
LONELY = "#panel-queues [data-pod='default/lonely']"
ENTER_AT_ONCE = """letters => {
    document.getElementById("find").click();
    const field = document.getElementById("find-text");
    field.value = letters;
    field.dispatchEvent(new Event("input", {bubbles: true}));
    field.form.requestSubmit();
}"""
"""Open Find, type and press Enter in one turn, so that no answer can come in between."""
LATER_LETTER = """() => {
    const field = document.getElementById("find-text");
    field.value = "node-a";
    field.dispatchEvent(new Event("input", {bubbles: true}));
}"""
"""Type one more letter without moving the focus, as if its hits had been on their way."""


def look_for(page: Page, eventually: Eventually, letters: str, hits: str) -> None:
    """Open Find by its key, type, and wait until the list begins with ``hits``."""
    page.keyboard.press("/")
    eventually(lambda: HINT in text(page, "#find-list"))
    page.keyboard.type(letters)
    eventually(lambda: text(page, "#find-list").startswith(hits))


def close(page: Page, eventually: Eventually) -> None:
    """Close Find. Return when the page gets the keys again."""
    page.keyboard.press("Escape")
    eventually(lambda: page.evaluate("document.activeElement === document.body"))


def address(page: Page) -> str:
    """Return the page's own address, which it changes without a navigation."""
    return str(page.evaluate("location.href"))


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.innerText || document.activeElement.id"))


def test_enter_leads_to_the_pod_that_is_first(page: Page, eventually: Eventually) -> None:
    open_example(page)
    look_for(page, eventually, "migrate", "migrate-1")
    page.keyboard.press("Enter")
    eventually(lambda: text(page, "#panel-inspector h3 >> nth=0") == "migrate-1")
    assert not page.locator("#dialog-find").is_visible()


def test_arrows_go_through_the_list_and_back_to_the_letters(page: Page, eventually: Eventually) -> None:
    open_example(page)
    look_for(page, eventually, "node-a", "node-a1")
    page.keyboard.press("ArrowDown")
    assert focused(page).startswith("node-a1")
    page.keyboard.press("ArrowDown")
    assert focused(page).startswith("node-a2")
    page.keyboard.press("Enter")
    eventually(lambda: "node=node-a2" in address(page))
    look_for(page, eventually, "node-a", "node-a1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "find-text"


def test_hits_that_come_late_leave_the_focus_in_the_list(page: Page, eventually: Eventually) -> None:
    open_example(page)
    look_for(page, eventually, "node-", "node-a1")
    while not focused(page).startswith("node-a2"):
        page.keyboard.press("ArrowDown")
    with page.expect_response(re.compile(r"find/\?q=node-a$")):
        page.evaluate(LATER_LETTER)
    eventually(lambda: "node-b1" not in text(page, "#find-list"))
    assert focused(page).startswith("node-a2")


def test_a_tab_and_a_term_open_the_tab_and_one_without_a_tab_the_help(page: Page, eventually: Eventually) -> None:
    open_example(page)
    for letters, hits, tab in (("evictions", "Evictions", "evictions"), ("nodetree", "nodeTree", "cache")):
        look_for(page, eventually, letters, hits)
        page.keyboard.press("Enter")
        eventually(lambda tab=tab: page.locator(f"#tab-{tab}").get_attribute("aria-selected") == "true")
    look_for(page, eventually, "gated pod", "gated pod")
    page.keyboard.press("Enter")
    eventually(lambda: page.locator("#dialog-help").is_visible())


def test_a_scenario_leads_to_its_place_on_the_first_page(page: Page, eventually: Eventually) -> None:
    open_example(page)
    look_for(page, eventually, "leader is killed", "The leader is killed")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("find=The%20leader%20is%20killed"))
    page.locator(".scen-g button:visible").click()
    arrive(page)
    assert text(page, ".scenario span") == "The leader is killed"


def test_find_without_results_says_so_and_enter_does_nothing(page: Page, eventually: Eventually) -> None:
    open_example(page)
    before = address(page)
    look_for(page, eventually, "zeppelin", "Nothing matches “zeppelin”")
    page.keyboard.press("Enter")
    assert page.locator("#dialog-find").is_visible()
    assert address(page) == before


def test_enter_waits_for_the_results_of_the_last_letters(page: Page, eventually: Eventually) -> None:
    open_example(page)
    look_for(page, eventually, "node-a", "node-a1")
    page.locator("#find-text").fill("node-c2")
    page.keyboard.press("Enter")
    eventually(lambda: "node=" in address(page))
    assert "node=node-c2" in address(page)


def test_the_letter_of_the_last_time_finds_again(page: Page, eventually: Eventually) -> None:
    open_example(page)
    for _ in range(2):
        page.keyboard.press("/")
        eventually(lambda: HINT in text(page, "#find-list"))
        page.keyboard.type("l")
        eventually(lambda: "Leader" in text(page, "#find-list"))
        close(page, eventually)


def test_a_second_request_before_the_first_answer_is_not_an_error(page: Page, eventually: Eventually) -> None:
    open_example(page)
    page.keyboard.press("/")
    page.locator("#find-text").evaluate(
        """(field, letters) => {
            htmx.trigger(field, "find-opened");
            field.value = letters;
            htmx.trigger(field, "find-opened");
        }""",
        "node-c2",
    )
    eventually(lambda: text(page, "#find-list").startswith("node-c2"))


def test_enter_takes_no_hit_of_an_earlier_time(page: Page, eventually: Eventually) -> None:
    open_example(page)
    apply(page, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lonely"}, "spec": GATED})
    eventually(lambda: page.locator(LONELY).count())
    look_for(page, eventually, "lonely", "lonely")
    close(page, eventually)
    post(page, "delete/", kind="Pod", key="default/lonely")
    eventually(lambda: not page.locator(LONELY).count())
    page.evaluate(ENTER_AT_ONCE, "lonely")
    eventually(lambda: "Nothing matches “lonely”" in text(page, "#find-list"))
    assert page.locator("#dialog-find").is_visible()
    assert "pod=" not in address(page)


def test_escape_closes_it_at_once_and_leads_back_to_where_one_was(page: Page, eventually: Eventually) -> None:
    open_example(page)
    button = page.locator("#panel-queues .q").first
    button.focus()
    before = focused(page)
    look_for(page, eventually, "migrate", "migrate-1")
    page.keyboard.press("Escape")
    eventually(lambda: not page.locator("#dialog-find").is_visible())
    assert focused(page) == before


def test_escape_returns_to_a_cell_that_an_update_has_replaced(page: Page, eventually: Eventually) -> None:
    open_example(page)
    press(page, eventually, "s", "s", "s", "s")
    row = page.locator("#panel-filter .mx.cells tbody tr[data-node]").nth(2)
    node = row.get_attribute("data-node")
    row.locator("td").first.focus()
    look_for(page, eventually, "migrate", "migrate-1")
    page.evaluate(
        "document.getElementById('panel-filter').replaceWith(document.getElementById('panel-filter').cloneNode(true))"
    )
    page.keyboard.press("Escape")
    eventually(lambda: page.evaluate("document.activeElement.closest('tr')?.dataset.node") == node)
    assert not page.locator("#dialog-find").is_visible()


def test_a_watcher_reads_what_others_edit(page: Page, new_page: Callable[..., Page], eventually: Eventually) -> None:
    open_example(page)
    spec = {"ports": [{"port": 80}]}
    apply(page, {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop-front"}, "spec": spec})
    page.locator("#share").click()
    watcher = new_page()
    watcher.goto(page.locator("#share-view").input_value())
    connected(watcher)
    look_for(watcher, eventually, "shop-front", "shop-front Service")
    assert "edit" not in (watcher.locator("#find-list").inner_html())
    watcher.keyboard.press("Enter")
    eventually(lambda: "name: shop-front" in text(watcher, "#object-yaml"))
    assert text(watcher, "#object-h") == "Service default/shop-front"
    watcher.keyboard.press("Escape")
    look_for(watcher, eventually, "migrate", "migrate-1")
    watcher.keyboard.press("Enter")
    eventually(lambda: "migrate-1" in text(watcher, "#panel-inspector"))
