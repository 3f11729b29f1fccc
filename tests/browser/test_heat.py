"""The heat map of large clusters: hover, selection, keys, marks and colours at 500 nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.workbench import Eventually, apply, connected, head, new_sandbox, press, text
from tests.engine.cluster import node, pod

NODES = 500
HOVER = "#heat-map .hoverlayer .hovertext"


CELL = """([zone, column, row]) => {
    const side = document.querySelector('#heat-marks .is-start')?.getBBox().width;
    if (!side) return null;
    const room = document.querySelectorAll('#scroll-cluster .heat-room')[zone];
    const { x, y } = room.getBoundingClientRect();
    const across = Math.round(room.clientWidth / side - 0.5);
    return { x: x + (column + 0.5) * side, y: y + (row + 0.5) * side, across };
}"""
"""The middle of a cell, and the number of cells in a row of its zone; null until the frames are drawn. All of it is
measured at once, because an update may replace this panel by another one.
"""


def large() -> list[dict[str, Any]]:
    """Return nodes of three zones in turn. Every tenth is too small for a waiting pod."""
    nodes = []
    for number in range(NODES):
        nodes.append(node(f"node-{number:03}", f"zone-{'abc'[number % 3]}", "1" if number % 10 == 0 else "4"))
    return [*nodes, pod("web-1", "2")]


def opened(page: Page, eventually: Eventually, query: str = "") -> None:
    page.goto(new_sandbox(page))
    apply(page, *large())
    page.goto(page.url.partition("?")[0] + query)
    connected(page)
    if "panel=" not in query:
        eventually(page.locator("#heat-map .nsewdrag").count)


@pytest.fixture(name="map_page")
def open_map_page(page: Page, eventually: Eventually) -> Page:
    opened(page, eventually)
    return page


def cell(page: Page, zone: int, column: int, row: int) -> tuple[float, float]:
    """Return where the middle of a cell is on the page."""
    problems = measured(page, zone, column, row)
    return problems["x"], problems["y"]


def measured(page: Page, zone: int, column: int, row: int) -> dict[str, float]:
    place: dict[str, float] = page.wait_for_function(CELL, arg=[zone, column, row]).json_value()
    return place


def marked(page: Page, kind: str) -> str:
    element = page.locator(f"#heat-marks .is-{kind}")
    return str(element.get_attribute("data-marked")) if element.count() else ""


def inspected(page: Page) -> str:
    heading = page.locator("#panel-inspector h3").first
    return heading.inner_text() if heading.count() else ""


def test_nodes_have_no_element_each(map_page: Page) -> None:
    assert map_page.locator("#panel-cluster [data-node]").count() == 0
    assert map_page.locator("#heat-map .heatmaplayer .hm").count() == 3
    assert map_page.locator("#panel-cluster *").count() < 300


def test_hovering_shows_node_zone_place_and_value(map_page: Page, eventually: Eventually) -> None:
    map_page.mouse.move(*cell(map_page, 1, 2, 0))
    hover_text = eventually(lambda: map_page.locator(HOVER).count() and map_page.locator(HOVER).text_content())
    assert hover_text == "node-007zone-b, place 80 % in use"


def test_a_node_under_the_pointer_is_lit_in_the_other_panels_and_theirs_on_the_map(
    map_page: Page, eventually: Eventually
) -> None:
    press(map_page, eventually, "n")
    eventually(lambda: map_page.locator("#panel-scores tr[data-node]").count())
    row = map_page.locator("#panel-scores tr[data-node]").first
    name = row.get_attribute("data-node") or ""
    row.locator("th").hover()
    eventually(lambda: marked(map_page, "lit") == name)
    map_page.locator("#panel-cluster h2").hover()
    eventually(lambda: marked(map_page, "lit") == "")
    number = int(name.removeprefix("node-"))
    columns = int(measured(map_page, 0, 0, 0)["across"])
    map_page.mouse.move(*cell(map_page, number % 3, number // 3 % columns, number // 3 // columns))
    eventually(lambda: "is-linked" in (row.get_attribute("class") or ""))
    assert marked(map_page, "lit") == name
    map_page.locator("#panel-cluster h2").hover()
    eventually(lambda: "is-linked" not in (row.get_attribute("class") or ""))


def test_a_click_chooses_the_node_and_frames_it(map_page: Page, eventually: Eventually) -> None:
    map_page.mouse.click(*cell(map_page, 0, 1, 0))
    eventually(lambda: inspected(map_page) == "node-003")
    assert marked(map_page, "chosen") == "node-003"
    map_page.keyboard.press("Escape")
    eventually(lambda: marked(map_page, "chosen") == "")


def test_after_steps_the_legend_counts_the_verdicts_and_the_winner_is_framed(
    map_page: Page, eventually: Eventually
) -> None:
    map_page.evaluate("document.querySelector('.heat-plot').dataset.mine = 'yes'")
    press(map_page, eventually, "s", "s", "s", "s")
    legend = text(map_page, "#panel-cluster .heat-l")
    assert legend.startswith("Verdict fits ")
    assert "refused, eviction" in legend
    eventually(lambda: map_page.locator("#heat-map .shapelayer path").count() >= 2)
    assert marked(map_page, "best") == ""
    press(map_page, eventually, "n")
    winner = map_page.locator("#panel-scores tr.is-win").get_attribute("data-node")
    eventually(lambda: marked(map_page, "best") == winner)
    assert text(map_page, "#panel-cluster .heat-l").startswith("Total score ")
    assert map_page.locator("#heat-map > .heat-plot").get_attribute("data-mine") == "yes"


def test_the_coloured_quantity_can_be_chosen_and_the_address_stores_it(map_page: Page, eventually: Eventually) -> None:
    map_page.click("#colour-memory")
    eventually(lambda: map_page.locator("#colour-memory").get_attribute("aria-pressed") == "true")
    eventually(lambda: "colour=memory" in map_page.evaluate("location.search"))
    map_page.click("#as-tiles")
    eventually(lambda: map_page.locator("#panel-cluster .tile").count() == NODES)
    map_page.click("#as-map")
    eventually(map_page.locator("#heat-map .nsewdrag").count)
    assert text(map_page, "#panel-cluster .heat-l > b") == "Share of memory in use"


def test_keys_go_from_node_to_node_and_enter_chooses_also_after_an_update(
    map_page: Page, eventually: Eventually
) -> None:
    map_page.locator("#colour-memory").focus()
    map_page.keyboard.press("Tab")
    assert map_page.evaluate("document.activeElement.id") == "heat-map"
    assert text(map_page, "#heat-note") == "node-000, zone-a, place 1, 0 % in use"
    for key in ("ArrowRight", "PageDown", "ArrowRight"):
        map_page.keyboard.press(key)
    assert text(map_page, "#heat-note") == "node-004, zone-b, place 5, 0 % in use"
    press(map_page, eventually, "s", "s", "s", "s")
    map_page.keyboard.press("ArrowRight")
    assert text(map_page, "#heat-note").startswith("node-007, zone-b, place 8, every filter passed")
    map_page.keyboard.press("Enter")
    eventually(lambda: inspected(map_page) == "node-007")


def test_a_phrase_of_the_message_frames_its_nodes(map_page: Page, eventually: Eventually) -> None:
    before = head(map_page)
    apply(map_page, pod("huge-1", "64"))
    eventually(lambda: head(map_page) == before + 1)
    press(map_page, eventually, "n", "n")
    phrase = map_page.locator("#panel-filter [data-nodes]").first
    eventually(phrase.count)
    phrase.click()
    eventually(lambda: len(marked(map_page, "pinned").split()) > 100)


def test_dark_colours_reach_the_map(map_page: Page, eventually: Eventually) -> None:
    def drawn() -> str:
        return str(map_page.locator("#heat-map .heatmaplayer image").first.get_attribute("href"))

    light = drawn()
    map_page.click("#theme")
    eventually(lambda: drawn() != light)


def test_a_hidden_map_is_not_drawn(new_page: Callable[..., Page], eventually: Eventually) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    opened(page, eventually, "?panel=queue")
    press(page, eventually, "s")
    assert page.evaluate("typeof Plotly") == "undefined"
    page.click(".dock [data-panel=cluster]")
    eventually(page.locator("#heat-map .nsewdrag").count)


def test_a_map_that_is_unfolded_is_drawn(map_page: Page, eventually: Eventually) -> None:
    map_page.click("#fold-cluster")
    eventually(lambda: not map_page.locator("#heat-map").is_visible())
    before = map_page.locator("#heat-map .heatmaplayer image").first.get_attribute("href")
    press(map_page, eventually, "s", "s", "s", "s")
    map_page.wait_for_timeout(500)
    assert map_page.locator("#heat-map .heatmaplayer image").first.get_attribute("href") == before
    map_page.click("#fold-cluster")
    eventually(lambda: map_page.locator("#heat-map .heatmaplayer image").first.get_attribute("href") != before)
