"""A phone 390 pixels wide: what does not fit into the bar is under the three dots, and works there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.workbench import Eventually, connected, head, open_scenario, press, text


@pytest.fixture(name="phone")
def opened_phone(new_page: Callable[..., Page]) -> Page:
    page = new_page(viewport={"width": 390, "height": 844})
    open_scenario(page, "three-zones-one-gpu-pool")
    return page


def press_more(page: Page, name: str) -> None:
    """Press a button of the menu. Open the menu first if it is closed."""
    if page.locator("details.more[open]").count() == 0:
        page.get_by_label("More tools").click()
    page.locator("details.more").get_by_role("button", name=name, exact=True).click()


def test_more_tools_step_and_let_time_pass(phone: Page, eventually: Eventually) -> None:
    start = head(phone)
    press_more(phone, "Settle")
    eventually(lambda: head(phone) == start + 1)
    press_more(phone, "+1 s")
    eventually(lambda: text(phone, "#panel-toolbar > b") == "00:01.0")
    press_more(phone, "+10 s")
    eventually(lambda: text(phone, "#panel-toolbar > b") == "00:11.0")
    phone.locator("#do-back").click()
    eventually(lambda: text(phone, "#panel-toolbar > b") == "00:01.0")
    press_more(phone, "Forward")
    eventually(lambda: text(phone, "#panel-toolbar > b") == "00:11.0")


def test_the_speed_of_more_tools_is_that_of_play(phone: Page, eventually: Eventually) -> None:
    phone.get_by_label("More tools").click()
    phone.locator("details.more [data-twin=speed]").select_option("20")
    assert phone.locator("#speed").input_value() == "20"
    phone.locator("#play").click()
    eventually(lambda: int(phone.locator("#panel-toolbar").get_attribute("data-clock") or 0) >= 10_000_000)
    phone.locator("#play").click()


@pytest.mark.parametrize(("name", "dialog"), [("Find", "find"), ("Share", "share"), ("Help", "help")])
def test_more_tools_open_the_dialog_of(phone: Page, eventually: Eventually, name: str, dialog: str) -> None:
    press_more(phone, name)
    eventually(lambda: phone.locator(f"#dialog-{dialog}").is_visible())
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_help_opens_at_its_top_and_a_tap_beside_it_closes_it(phone: Page, eventually: Eventually) -> None:
    help_box = phone.locator("#dialog-help")
    press_more(phone, "Help")
    eventually(help_box.is_visible)
    assert help_box.evaluate("box => box.scrollTop") == 0
    help_box.evaluate("box => { box.scrollTop = box.scrollHeight; }")
    help_box.get_by_role("button", name="Close").click()
    eventually(lambda: not help_box.is_visible())
    press_more(phone, "Help")
    eventually(help_box.is_visible)
    phone.mouse.click(195, 4)
    eventually(lambda: not help_box.is_visible())


def test_escape_leads_from_find_back_to_the_menu(phone: Page, eventually: Eventually) -> None:
    press_more(phone, "Find")
    phone.locator("#find-text").fill("node-a2")
    phone.keyboard.press("Escape")
    eventually(lambda: phone.evaluate("document.activeElement.ariaLabel") == "More tools")
    assert not phone.locator("#dialog-find").is_visible()


def test_find_on_a_phone_opens_the_pane_of_the_result(phone: Page, eventually: Eventually) -> None:
    press_more(phone, "Find")
    phone.locator("#find-text").fill("node-a2")
    eventually(lambda: text(phone, "#find-list").startswith("node-a2"))
    phone.keyboard.press("Enter")
    eventually(lambda: phone.locator(".p-cluster").is_visible())
    eventually(lambda: "node=node-a2" in phone.evaluate("location.search"))


@pytest.mark.parametrize(
    ("letters", "pane"),
    [
        pytest.param("migrate-1", "inspector", id="a pod, in the inspector"),
        pytest.param("Leader", "decision", id="a tab, in the decision"),
    ],
)
def test_find_on_a_phone_opens_also(phone: Page, eventually: Eventually, letters: str, pane: str) -> None:
    press_more(phone, "Find")
    phone.locator("#find-text").fill(letters)
    eventually(lambda: text(phone, "#find-list").startswith(letters))
    phone.keyboard.press("Enter")
    eventually(lambda: phone.locator(f".p-{pane}").is_visible())


def test_a_watcher_on_a_phone_has_the_tools_without_the_steps(phone: Page) -> None:
    phone.goto(phone.locator("#share-view").input_value())
    connected(phone)
    phone.get_by_label("More tools").click()
    names = phone.locator(".more-b button:visible").all_inner_texts()
    assert [name.strip() for name in names] == ["Find", "Share", "Export", "Predict", "Help", "Large type"]


def test_the_filter_table_can_be_sorted_and_its_words_have_room(phone: Page, eventually: Eventually) -> None:
    for _ in range(4):
        phone.locator("#do-stage").click()
        phone.wait_for_timeout(300)
    phone.locator(".dock [data-panel=decision]").click()
    rows = phone.locator("#panel-filter tbody tr[data-node]")
    eventually(rows.count)
    phone.locator("[id='order:filter:name']").click()
    eventually(lambda: phone.locator("[id='order:filter:name']").get_attribute("aria-pressed") == "true")
    names = [row.get_attribute("data-node") or "" for row in rows.all()]
    assert names == sorted(names)
    box = phone.locator("#how-many").bounding_box()
    assert box
    assert box["width"] > 300


READS = """() => {
    const cell = document.querySelector('#panel-scores .why td');
    const { paddingLeft, paddingRight } = getComputedStyle(cell);
    return { left: cell.getBoundingClientRect().left,
             width: cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) };
}"""


def test_the_arithmetic_of_a_score_is_as_wide_as_the_screen(phone: Page, eventually: Eventually) -> None:
    press(phone, eventually, *"nnnn")
    phone.locator(".dock [data-panel=decision]").click()
    phone.locator("#tab-scores").click()
    phone.locator("#panel-scores td button").first.click()
    eventually(lambda: phone.locator("#panel-scores .why td").count())
    values = phone.evaluate(READS)
    assert 320 < values["width"] <= 390 - values["left"]
