"""Names as long as Kubernetes allows, in many zones: nothing covers its neighbour, and names stay distinct."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from sandbox.panels import TABS
from scheduler_engine.testing import make_node, make_pod
from tests.browser.workbench import Eventually, apply, head, open_blank, open_scenario, press

ZONES = 6
NODE = "node-{:03}.xxxxxxxxxxxxxxxxxx.example-yyyyyyyyyyyyyyyyyy.internal"
ZONE = "a-zone-with-a-name-of-forty-letters-no-{}"
POD = f"web-{'z' * 59}"


def cluster() -> list[dict[str, Any]]:
    nodes = [make_node(NODE.format(number)).zone(ZONE.format(number % ZONES)).obj() for number in range(48)]
    return [*nodes, make_pod(POD).cpu("1").obj()]


@pytest.fixture(name="long")
def opened_with_long_names(new_page: Callable[..., Page], eventually: Eventually) -> Callable[..., Page]:
    """Open the pod's attempt at a tab. The theme does not matter here, so every second page is dark."""

    def opened(tab: str, width: int = 1440, height: int = 900) -> Page:
        page = new_page(viewport={"width": width, "height": height}, color_scheme="dark" if width > 1440 else "light")
        open_blank(page)
        apply(page, *cluster())
        eventually(lambda: head(page) == 1)
        press(page, eventually, "n")
        page.goto(f"{page.url.partition('?')[0]}?tab={tab}&panel=decision")
        eventually(lambda: page.locator(f"#tab-{tab}[aria-selected=true]").count())
        eventually(lambda: page.locator(f"#scroll-{tab}").bounding_box())
        return page

    return opened


def box(page: Page, selector: str) -> dict[str, float]:
    bounds = page.locator(selector).first.bounding_box()
    assert bounds, selector
    return dict(bounds)


def cut_off(page: Page, selector: str) -> list[str]:
    """Return the texts of the elements that are cut off."""
    return list(
        page.locator(selector).evaluate_all(
            "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent)"
        )
    )


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080), (390, 844)])
def test_the_table_of_scores_keeps_room_beside_a_long_verdict(
    long: Callable[..., Page], width: int, height: int, eventually: Eventually
) -> None:
    page = long("scores", width, height)
    panel, table = box(page, "#panel-scores"), box(page, "#scroll-scores")
    assert table["height"] >= 90
    assert panel["y"] + panel["height"] <= box(page, ".foot")["y"] + 1
    reach = page.locator("#panel-scores").evaluate("panel => panel.scrollHeight - panel.scrollTop")
    difference = box(page, ".dif")
    assert difference["y"] + difference["height"] <= panel["y"] + reach + 1
    style = "panel => getComputedStyle(panel).overflowY"
    eventually(lambda: page.locator("#panel-scores").evaluate(style) == "auto")


@pytest.mark.parametrize("width", [1440, 1920])
def test_zones_differ_by_the_ends_of_their_names_and_their_counts_are_whole(
    long: Callable[..., Page], width: int
) -> None:
    page = long("filter", width, width * 9 // 16)
    assert cut_off(page, ".zone-h .quiet") == []
    for zone in range(ZONES):
        name = page.locator(f".zone-h h3[title='{ZONE.format(zone)}']")
        end = name.evaluate(
            """one => {
                const text = one.firstChild.firstChild;
                const range = document.createRange();
                range.setStart(text, text.length - 1);
                range.setEnd(text, text.length);
                const [last, all] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
                return all.left <= last.left && last.right <= all.right + 1;
            }"""
        )
        assert end, zone


def test_more_nodes_and_more_zones_of_a_reason_stay_within_reach(long: Callable[..., Page]) -> None:
    page = long("filter")
    for list_ in ("filter.", "filter.zones."):
        more = page.locator(f"#panel-filter .more-n[data-list^='{list_}ok']")
        inside = more.evaluate(
            """one => {
                const [own, cell] = [one.getBoundingClientRect(), one.closest('td').getBoundingClientRect()];
                return cell.left <= own.left && own.right <= cell.right + 1;
            }"""
        )
        assert inside, list_


def test_the_labels_of_the_node_order_stay_on_the_phone(long: Callable[..., Page]) -> None:
    page = long("filter", 390, 844)
    for label in page.locator(".ordl text").all():
        place = label.bounding_box()
        assert place
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_parts_of_a_stacked_bar_look_like_the_signs_of_their_plugins(
    new_page: Callable[..., Page], eventually: Eventually, scheme: str
) -> None:
    page = new_page(color_scheme=scheme)
    open_scenario(page, "three-zones-one-gpu-pool")
    press(page, eventually, "n", "n", "n", "n")
    page.locator("#tab-scores").click()
    eventually(lambda: page.locator("#panel-scores .stack").count())
    signs = page.locator("#panel-scores .psw").evaluate_all(
        "all => all.map(one => getComputedStyle(one).backgroundColor)"
    )
    parts = page.locator("#panel-scores .is-win .stack rect:not(.ref)")
    fills = parts.evaluate_all("all => all.map(one => getComputedStyle(one).fill)")
    assert len(set(fills)) == len(fills) > 1
    assert set(fills) <= set(signs)


MOST = 253
LONG_NODE, LONG_POD = (
    "".join(["a.name.of.all.letters."] * 12)[: MOST - 9].rstrip(".") + end for end in (".node-{}{}", ".pod-{}-{}")
)
NAMESPACE = "n" * 63


def widest() -> list[dict[str, Any]]:
    """Return nodes and pods with the longest names Kubernetes allows, one pod too large for every node."""
    host = "kubernetes.io/hostname"  # a label, which must be shorter than a name
    nodes = [
        make_node(LONG_NODE.format(row, place)).label(host, row + place).zone(f"{'z' * 62}{row}").obj()
        for row in "abc"
        for place in "123"
    ]
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    pods = [
        make_pod(LONG_POD.format(end, 1), namespace=NAMESPACE).cpu(cpu).obj() for end, cpu in (("a", "1"), ("b", "999"))
    ]
    return [space, *nodes, *pods]


WIDE = """selectors => selectors.filter(selector => [...document.querySelectorAll(selector)]
    .some(one => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1))"""
CUT_ENDS = """selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility()).filter(one => {
    const inside = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    let last = null;
    while (inside.nextNode()) if (inside.currentNode.data.trim()) last = inside.currentNode;
    const range = document.createRange();
    const end = last.data.trimEnd().length;
    range.setStart(last, end - 2);
    range.setEnd(last, end);
    const [text, box] = [range.getBoundingClientRect(), one.getBoundingClientRect()];
    return text.left < box.left - 1 || text.right > box.right + 1;
}).map(one => one.className)"""
TABS_OF_NAMES = {
    "filter": (["#panel-filter .msg", "#panel-filter .of-attempt"], ".mx .in b"),
    "scores": (["#panel-scores .blank", "#panel-scores .of-attempt"], ".mx .in b"),
    "cache": (["#scroll-cache", ".tree-s"], ":is(.ni b, .tn-n)"),
    "nodes": (["#scroll-nd-list"], ".nd-n b"),
    "events": (["#scroll-kube"], ".q-t"),
}
"""Tab → elements that must fit their place, and elements that must show the end of their name."""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_longest_names_are_cut_at_their_beginning_and_widen_nothing(
    new_page: Callable[..., Page], eventually: Eventually, width: int, height: int
) -> None:
    page = new_page(viewport={"width": width, "height": height})
    open_blank(page)
    apply(page, *widest())
    press(page, eventually, "n", "n")
    address = page.url.partition("?")[0]
    key = f"{NAMESPACE}/{LONG_POD.format('b', 1)}"
    for tab, (places, names) in TABS_OF_NAMES.items():
        page.goto(f"{address}?tab={tab}&panel=decision&pod={key}")
        eventually(lambda tab=tab: page.locator(f"#tab-{tab}[aria-selected=true]").count())
        eventually(
            lambda names=names, tab=tab: tab in ("scores", "filter") or width < 761 or page.locator(names).count()
        )
        assert page.evaluate(WIDE, places) == [], tab
        assert page.evaluate(CUT_ENDS, names) == [], tab
    for panel, names in (("cluster", ".node-n"), ("queue", ".q-t")):
        page.goto(f"{address}?panel={panel}")
        eventually(lambda names=names: page.locator(names).first.is_visible())
        assert page.evaluate(CUT_ENDS, names) == []
    in_sight = """() => {
        const text = document.getElementById('sentence-text');
        return text.querySelector('b[title]').getBoundingClientRect().bottom <= text.getBoundingClientRect().bottom + 1;
    }"""
    assert page.evaluate(in_sight)


DIGITS = ("10-0-12-7.compute", "7-web", "1-east")
"""A node, a pod and a zone, with names that begin with a digit."""
BACKWARDS = """names => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const wrong = [];
  let count = 0;
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    if (text.parentElement.closest('script, style, template, pre') || !text.parentElement.checkVisibility()) continue;
    for (const name of names) {
      const at = text.data.indexOf(name);
      if (at < 0) continue;
      const places = [at, at + name.length - 1].map((letter) => {
        const range = document.createRange();
        range.setStart(text, letter);
        range.setEnd(text, letter + 1);
        return range.getBoundingClientRect();
      });
      count += 1;
      if (places[0].top === places[1].top && places[0].left > places[1].left) wrong.push(text.parentElement.outerHTML);
    }
  }
  return { wrong, count };
}"""


def test_names_that_begin_with_a_digit_are_read_from_their_beginning(page: Page, eventually: Eventually) -> None:
    node, pod, zone = DIGITS
    open_blank(page)
    apply(page, make_node(node).zone(zone).obj(), make_pod(pod).cpu("1").obj())
    eventually(lambda: head(page) == 1)
    press(page, eventually, "n")
    page.locator("#find").click()
    page.locator("#find-text").fill("7")
    page.locator(f"#find-list li:has-text('{node}')").first.wait_for()
    assert page.evaluate(BACKWARDS, DIGITS)["wrong"] == []
    page.keyboard.press("Escape")
    for tab in TABS:
        page.evaluate("name => document.getElementById(`tab-${name}`).click()", tab)
        eventually(lambda tab=tab: page.locator(f"#panel-{tab}").is_visible())
        read = page.evaluate(BACKWARDS, DIGITS)
        assert read["count"] > len(DIGITS)
        assert read["wrong"] == [], tab
