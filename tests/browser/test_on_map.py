"""Questions answered on the page itself: clicks on nodes, pods and lanes fill the form, and the form marks them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.workbench import Eventually, open_lesson, text


def named(page: Page) -> list[str]:
    """Return the choices that are ticked."""
    return page.locator(".les-q [name=named]:checked").evaluate_all("all => all.map(({ value }) => value)")


def marked(page: Page, key: str) -> list[str]:
    return page.locator(".is-named").evaluate_all(f"all => all.map(({{ dataset }}) => dataset.{key})")


def card(page: Page, node: str) -> None:
    page.locator(f"article[data-node={node}] .bars").click()


def test_clicks_on_nodes_name_them_and_ticks_mark_them(page: Page, eventually: Eventually) -> None:
    open_lesson(page, "topology-spread")
    for node in ("node-b1", "node-c1", "node-b1"):
        card(page, node)
    assert named(page) == marked(page, "node") == ["node-c1"]
    assert text(page, "#lesson-points") == "Your answer does not include node-b1."
    page.locator(".les-q").get_by_label("node-a1").check()
    assert marked(page, "node") == ["node-a1", "node-c1"]
    page.locator(".les-q button[type=submit]").click()
    eventually(lambda: page.locator(".les-q").count() == 0)
    assert "node-a1, node-c1" in text(page, "#panel-lesson")
    eventually(lambda: marked(page, "node") == [])


def test_the_name_of_a_node_still_opens_it(page: Page, eventually: Eventually) -> None:
    open_lesson(page, "topology-spread")
    page.locator("[id='n:node-b1']").click()
    eventually(lambda: "node-b1" in text(page, "#panel-inspector"))
    assert named(page) == []


@pytest.mark.parametrize(
    ("lesson", "key", "first", "second"),
    [
        pytest.param(
            "spread-or-pack",
            "node",
            "article[data-node=node-1] .bars",
            "article[data-node=node-3] .bars",
            id="a winner",
        ),
        pytest.param(
            "preemption",
            "pod",
            "#panel-cluster .pod[data-pod='default/shop-1']",
            "#panel-cluster .pod[data-pod='default/batch-1']",
            id="victims",
        ),
        pytest.param("backoff", "queue", "", "", id="a lane"),
    ],
)
def test_each_kind_of_question_has_its_things(
    page: Page, eventually: Eventually, lesson: str, key: str, first: str, second: str
) -> None:
    open_lesson(page, lesson)
    first = first or "[data-queue=activeQ] .lane-h"
    second = second or "[data-queue=backoffQ] .lane-h"
    many = page.locator(".les-q [name=named]").first.get_attribute("type") == "checkbox"
    page.locator(first).click()
    one = named(page)
    assert len(one) == 1
    assert marked(page, key) == one
    page.locator(second).click()
    assert len(named(page)) == (2 if many else 1)
    assert sorted(marked(page, key)) == sorted(named(page))
    assert named(page) != one


def test_an_answer_points_at_what_it_names(page: Page, eventually: Eventually) -> None:
    open_lesson(page, "topology-spread")
    card(page, "node-b1")
    page.locator(".les-q button[type=submit]").click()
    eventually(lambda: page.locator(".les-q").count() == 0)
    page.locator("#les-step").click()
    row = page.locator(".les-a .ptr", has_text="node-b1")
    eventually(lambda: row.count() == 1)
    row.hover()
    eventually(lambda: page.locator("article[data-node=node-b1].is-linked").count() == 1)
