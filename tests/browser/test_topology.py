"""The tab "Topology" in Chromium: the board follows the cluster, and the graph is drawn when it is in view."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from scheduler_engine.testing import ZONE, make_node, make_pod
from tests.browser.workbench import Eventually, apply, click, open_blank, text

PANEL, GRAPH, WEB = "#panel-topology", "#affinity-graph svg", {"app": "web"}


def prepare(page: Page) -> None:
    nodes = [make_node(f"{zone}1").zone(zone).obj() for zone in "ab"]
    placed = [
        make_pod("web-0").labels(WEB).node("a1").obj(),
        make_pod("fan").node("b1").affinity(ZONE, WEB, weight=40).obj(),
    ]
    new = make_pod("new").labels(WEB).spread(ZONE, WEB).anti_affinity(ZONE, WEB).obj()
    apply(page, *nodes, *placed, new)


def test_the_board_follows_the_cluster_and_its_names_lead_to_the_pods(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    prepare(page)
    page.locator("#tab-topology").click()
    page.locator('[data-pod="default/new"]').first.click()
    eventually(lambda: "counted for its next attempt, now" in text(page, PANEL))
    rows = page.locator(f"{PANEL} .tp-t tbody tr")
    assert [rows.nth(place).get_attribute("class") for place in range(rows.count())] == ["is-no", "is-yes"]
    apply(page, make_node("c1").zone("c").obj())
    eventually(lambda: rows.count() == 3)
    for _ in range(4):
        click(page, eventually, "#do-stage")
    assert "attempt 1, cycle 1" in text(page, PANEL)
    assert [" ".join(row.split()).count("1 of 1 fits") for row in rows.all_inner_texts()] == [0, 1, 1]
    page.locator(f'{PANEL} .tp-t button[data-pod="default/web-0"]').click()
    eventually(lambda: text(page, "#panel-inspector .insp-t h3") == "web-0")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_board_is_counted_pod_by_pod_and_ends_as_it_was(
    new_page: Callable[..., Page], eventually: Eventually, motion: str
) -> None:
    page = new_page(reduced_motion=motion)
    open_blank(page)
    prepare(page)
    page.locator("#tab-topology").click()
    page.locator('[data-pod="default/new"]').first.click()
    page.locator("#tp-go-1").wait_for()
    board, button = page.locator("#tp-1"), page.locator("#tp-go-1")
    counts, words = board.locator("td.n"), page.locator("#tp-now-1")
    before = counts.all_text_contents()
    assert before == ["1", "0"]
    # A transition of the button under the pointer does not count.
    of_count = "each.constructor === Animation && each.effect.target.closest('#tp-1')"
    moving = f"document.getAnimations().filter((each) => {of_count}).length"
    button.focus()
    page.keyboard.press("Enter")
    if motion == "reduce":
        assert page.evaluate(moving) == 0
        assert words.text_content() == (
            "a: 1 pod counts. b: 0 pods count. The fewest pods in a domain: 0 (the global minimum). "
            "A domain may have 0 + 1 = 1. new is allowed in 1 of 2."
        )
    else:
        assert page.evaluate(moving) > 0
        eventually(lambda: "new is allowed in 1 of 2." in (words.text_content() or ""))
        eventually(lambda: button.get_attribute("aria-pressed") == "false" and page.evaluate(moving) == 0)
        for _ in range(2):  # The second press skips to the end.
            button.click()
    assert counts.all_text_contents() == before
    assert button.get_attribute("aria-pressed") == "false"
    assert page.evaluate(moving) == 0


def test_the_graph_loads_when_it_is_in_view_and_leads_to_pods(page: Page, eventually: Eventually) -> None:
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    open_blank(page)
    prepare(page)
    page.locator('[data-pod="default/new"]').first.click()
    assert not any("dagre" in url for url in loaded)
    page.locator("#tab-topology").click()
    eventually(lambda: page.locator(f"{GRAPH} .ag-domain").count() == 2)
    assert any("dagre" in url for url in loaded)
    assert page.locator(f"{GRAPH} .ag-domain.is-no").text_content() == "in zone ain zone aruled out"
    page.locator(f'{GRAPH} .ag-group[data-pod="default/fan"]').click()
    eventually(lambda: text(page, "#panel-inspector .insp-t h3") == "fan")


def test_a_phone_shows_the_lists_instead_of_the_graph(page: Page, eventually: Eventually) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_blank(page)
    prepare(page)
    click(page, eventually, "#do-stage")
    page.locator(".dock [data-panel=decision]").click()
    page.locator(".tabs-n").first.click()
    page.locator("#tab-topology").click()
    eventually(lambda: page.locator(f"{PANEL} .tp-r").count() > 0)
    assert page.locator(GRAPH).count() == 0
    assert page.locator("#affinity-graph").is_hidden()


def test_an_embed_shows_the_boards_and_the_graph(page: Page, eventually: Eventually) -> None:
    page.goto("/embed/scenario/redis-cache-and-web-server/?panels=topology")
    eventually(lambda: page.locator(f"{GRAPH} .ag-domain").count() > 0)
    assert page.locator(f"{PANEL} .tp-r").count() > 0


def test_one_of_many_domains_is_found_by_its_name(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    spread = make_pod("new").labels(WEB).spread("kubernetes.io/hostname", WEB).obj()
    apply(page, *(make_node(f"n{number}").capacity(cpu="4").obj() for number in range(60)), spread)
    page.locator('[data-pod="default/new"]').first.click()
    page.locator("#tab-topology").click()
    field, rows = page.locator('[id="find:topology.spread1"]'), page.locator(f"{PANEL} .tp-t tbody tr")
    eventually(lambda: rows.count() == 12)
    field.press_sequentially("n5", delay=200)
    eventually(lambda: rows.count() == 11)
    assert (field.input_value(), text(page, f"{PANEL} .lf [role=status]")) == ("n5", "11 of 60")
    field.press_sequentially("7")
    eventually(lambda: rows.locator("th").all_inner_texts() == ["n57"])
    click(page, eventually, "#do-stage")
    assert (field.input_value(), rows.count(), page.locator(".meanwhile").count()) == ("n57", 1, 0)
    eventually(lambda: "finds=topology.spread1%3An57" in page.evaluate("location.search"))
    page.reload()
    eventually(lambda: (field.input_value(), rows.count()) == ("n57", 1))
    field.press("Escape")
    eventually(lambda: rows.count() == 12)
    assert field.input_value() == ""
    assert text(page, "#panel-inspector .insp-t h3") == "new"
