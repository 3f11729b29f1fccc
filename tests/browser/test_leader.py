"""A class elects a leader, loses it, and then has two at once."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.workbench import Eventually, click, open_blank, text


def blank(page: Page) -> None:
    open_blank(page)
    page.locator("#tab-leader").click()


def test_a_leader_is_killed_and_another_takes_over_when_the_lease_has_ended(page: Page, eventually: Eventually) -> None:
    blank(page)
    click(page, eventually, "#replicas-quick")
    assert "holds the lock" in text(page, "#replica-1")
    click(page, eventually, "#do-10")
    click(page, eventually, "#kill-1")
    assert "No replica leads" in text(page, "#panel-queues")
    click(page, eventually, "#do-10")
    click(page, eventually, "#do-10")
    assert page.locator("#panel-queues .q-none").count() == 0
    assert page.locator("#panel-leader .ls-f").all_text_contents()[1].startswith("+1")
    assert "leaderTransitions 1" in text(page, ".ld-rec")
    page.locator("#lock-yaml").click()
    eventually(lambda: "leaseTransitions: 1" in page.locator("#ld-yaml").inner_text())
    assert page.locator("#tab-leader").get_attribute("aria-selected") == "true"


def test_durations_that_contradict_each_other_are_refused_in_the_form(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    blank(page)
    page.locator("#replicas-set").click()
    page.locator("#replicas-lease").fill("10s")
    page.locator("#replicas-go").click()
    error = page.locator("#form-replicas .err")
    eventually(lambda: error.count() == 1)
    assert "leaseDuration must be greater than renewDeadline" in error.inner_text()
    assert page.locator("#replicas-lease").input_value() == "10s"
    page.locator("#replicas-lease").fill("12s")
    click(page, eventually, "#replicas-go")
    eventually(lambda: not page.locator("#dialog-replicas").is_visible())
    assert "leaseDuration 12s" in text(page, "#panel-leader")


def test_a_paused_leader_is_one_of_two_and_each_ones_queue_can_be_viewed(page: Page, eventually: Eventually) -> None:
    blank(page)
    click(page, eventually, "#replicas-quick")
    click(page, eventually, "#pause-1")
    for _ in range(2):
        click(page, eventually, "#do-10")
    assert "is paused" in text(page, "#panel-leader .ld-alarm")
    assert page.locator("#panel-queues [data-replica]").count() == 2
    click(page, eventually, "#resume-1")
    assert "leases do not fence" in text(page, "#panel-leader .ld-alarm")
    other = page.locator('#panel-queues [data-replica][aria-pressed="false"]')
    name = other.get_attribute("data-replica")
    other.click()
    chosen = page.locator('#panel-queues [data-replica][aria-pressed="true"]')
    eventually(lambda: chosen.get_attribute("data-replica") == name)


def test_a_clock_is_set_ten_minutes_ahead(page: Page, eventually: Eventually) -> None:
    blank(page)
    click(page, eventually, "#replicas-quick")
    page.locator("#clock-2").click()
    click(page, eventually, "#ahead-2")
    assert "10 min fast" in text(page, "#replica-2")
