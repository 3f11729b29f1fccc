"""Workloads in Chromium: scale, update, and a skew that nobody repairs."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route

from tests.browser.workbench import (
    Eventually,
    click,
    closed,
    count_posts,
    head,
    head_sent,
    level,
    open_scenario,
    post,
    text,
)

ROW = "#panel-workloads table:not(.w-classes) .w-top"
LINE = "#panel-workloads .w-line"
FIELD = '[id="w-n:Deployment:default/shop"]'


def one_more(page: Page) -> None:
    """Scale the first workload up, as somebody else."""
    post(page, "scale/", kind="Deployment", key="default/shop", by="1")


def numbers(page: Page) -> list[str]:
    """Return current, updated, ready and available of the first workload."""
    return [cell.strip() for cell in page.locator(f"{ROW}:first-child .w-n").all_inner_texts()]


def test_a_rolling_update_keeps_the_spread_and_a_scale_down_does_not(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "rolling-update-then-scale-down")
    page.locator("#tab-workloads").click()
    assert numbers(page) == ["6"] * 4
    for _ in range(3):
        click(page, eventually, '[id="w-more:Deployment:default/shop"]')
    click(page, eventually, "#do-settle")
    eventually(lambda: numbers(page) == ["9"] * 4)
    assert "a 3 b 3 c 3 skew 0 ≤ maxSkew 1" in text(page, LINE)

    click(page, eventually, '[id="w-restart:Deployment:default/shop"]')
    eventually(lambda: "rolling update: " in text(page, f"{ROW} .w-words"))
    assert page.locator("#panel-workloads .pod.is-pending").count() > 0
    pending = page.locator("#panel-workloads .pod.is-pending").first
    key = pending.get_attribute("data-pod") or ""
    pending.click()
    eventually(lambda: key.endswith(text(page, "#panel-inspector h3")))
    assert "of Deployment shop" in text(page, "#insp-tab-workloads")
    for _ in range(6):
        click(page, eventually, "#do-10")
    eventually(lambda: numbers(page) == ["9"] * 4)
    assert "revision 2, new" in text(page, "#panel-workloads .w-set >> nth=0")
    assert "skew 0 ≤ maxSkew 1" in text(page, LINE)

    before = level(page)
    page.locator(FIELD).fill("4")
    page.locator(FIELD).press("Enter")
    eventually(lambda: head(page) == before + 1)
    red = f"{LINE}.is-over"
    eventually(lambda: page.locator(red).count() == 1)
    shown = text(page, red)
    assert shown.endswith("maxSkew 1; running pods are not moved")
    for _ in range(6):
        click(page, eventually, "#do-10")
    assert text(page, red) == shown
    eventually(lambda: numbers(page) == ["4"] * 4)


def test_an_invalid_number_is_refused_at_the_field_and_the_text_stays(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    open_scenario(page, "rolling-update-then-scale-down")
    page.locator("#tab-workloads").click()
    page.locator(FIELD).fill("many")
    page.locator(FIELD).press("Enter")
    refusal = "#panel-workloads .w-err .err"
    eventually(lambda: page.locator(refusal).count() == 1)
    assert text(page, refusal) == "replicas must be a whole number."
    assert page.locator("#notice .toast").count() == 0
    one_more(page)
    eventually(lambda: page.locator(FIELD).get_attribute("value") == "7")
    assert page.locator(FIELD).input_value() == "many"
    assert text(page, refusal) == "replicas must be a whole number."


def test_a_refusal_is_shown_although_the_cluster_changes_before_it_comes(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    sent = head_sent(page)
    open_scenario(page, "rolling-update-then-scale-down")
    page.locator("#tab-workloads").click()
    before = level(page)
    kept: list[Route] = []
    page.route(re.compile("/scale/$"), lambda route: kept.append(route))
    page.locator(FIELD).fill("many")
    page.locator(FIELD).press("Enter")
    one_more(page)
    eventually(lambda: sent() == before + 1 and kept)
    kept.pop().continue_()
    refusal = "#panel-workloads .w-err .err"
    eventually(lambda: page.locator(FIELD).get_attribute("value") == "7")
    eventually(lambda: page.locator(refusal).count() == 1)
    assert page.locator(FIELD).input_value() == "many"


def test_a_number_that_is_being_typed_is_not_sent_when_somebody_else_changes_the_cluster(
    page: Page, eventually: Eventually
) -> None:
    open_scenario(page, "rolling-update-then-scale-down")
    page.locator("#tab-workloads").click()
    sent = count_posts(page, "/scale/")
    before = level(page)
    page.locator(FIELD).press("End")
    page.locator(FIELD).press("Backspace")
    page.locator(FIELD).press_sequentially("12")
    page.locator(FIELD).press("ArrowLeft")
    one_more(page)
    eventually(lambda: page.locator(FIELD).get_attribute("value") == "7")
    assert page.locator(FIELD).input_value() == "12"
    assert page.locator(FIELD).evaluate("field => [document.activeElement.id === field.id, field.selectionStart]") == [
        True,
        1,
    ]
    page.locator(FIELD).press("Enter")
    eventually(lambda: page.locator(FIELD).get_attribute("value") == "12")
    assert head(page) == before + 2
    assert len(sent) == 1


def test_a_deployment_to_start_from_becomes_pods(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    page.locator("#tab-workloads").click()
    assert "No workloads yet." in text(page, "#panel-workloads")
    page.locator("#w-add").click()
    assert page.locator("#drawer").get_attribute("data-kind") == "workload"
    page.get_by_role("button", name="Deployment over zones").click()
    eventually(lambda: page.locator("#form-workload [name=replicas]").input_value() == "6")
    click(page, eventually, "#form-workload .btn-ink")
    assert page.locator("#panel-workloads .wl:not(.w-classes) .pod.is-pending").count() == 6
    closed(page, eventually)
    page.locator("#add").click()
    page.locator("#add-paste").click()
    page.locator("[data-manifest='budget']").click()
    click(page, eventually, "#form-paste .btn-ink")
    assert "maxUnavailable 1" in text(page, "#panel-workloads .w-budgets")


def test_an_owner_can_go_after_its_pods(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "deleted-in-the-foreground")
    page.locator("#tab-workloads").click()
    page.locator('[id="w-delete:Deployment:default/last"]').click()
    click(page, eventually, '[id="w-foreground:Deployment:default/last"]')
    assert text(page, "#sentence-text") == "Deployment last is being deleted: the objects it owns go first."
    assert "being deleted" in text(page, f"{ROW} .w-kind >> nth=1")
    for _ in range(4):
        click(page, eventually, "#do-10")
    assert "last" not in page.locator(f"{ROW} .w-name").all_inner_texts()
