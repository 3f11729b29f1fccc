"""Figures: dragging a value shows what the engine decides, also in a lesson, and no choice is lost."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route

from tests.browser.axe import PHONE
from tests.browser.workbench import Eventually, arrive, open_lesson, press, text

FIRST = "/figures/a-pod-that-grows-"


def drag(page: Page, figure: str, place: int) -> None:
    page.locator(f"{figure} input[type=range]").fill(str(place))


def best(page: Page, figure: str = ".fig") -> list[str]:
    return page.locator(f"{figure} .node.is-best .node-n").all_inner_texts()


def test_the_first_page_decides_anew_and_opens_as_it_stands(page: Page, eventually: Eventually) -> None:
    page.goto("/")
    assert best(page) == ["node-b1"]
    page.get_by_label("none", exact=True).check(force=True)
    eventually(lambda: best(page) == ["node-c2"])
    page.get_by_label("dedicated=gpu", exact=True).check(force=True)
    drag(page, ".hero", 6)
    eventually(lambda: best(page) == [] and "none of 6 nodes fits" in text(page, ".fig-now"))
    assert text(page, ".fig-drag output") == "4"
    assert page.locator(".fig-drag input").get_attribute("aria-valuetext") == "4"
    page.locator(".fig-end button").click()
    arrive(page)
    assert "PostFilter" in text(page, "#panel-sentence")


def test_of_many_choices_the_last_one_is_shown(page: Page, eventually: Eventually) -> None:
    page.goto("/")
    asked: list[str] = []
    held: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route.request.url.partition(FIRST)[2])
        held.append(route)

    page.route(re.compile(FIRST), hold)
    for place in (3, 4, 5, 6):
        drag(page, ".hero", place)
    # Only a call to the page lets requests arrive here.
    eventually(lambda: page.title() and len(held) == 1)
    held[0].continue_()
    eventually(lambda: page.title() and len(held) == 2)
    held[1].continue_()
    eventually(lambda: "none of 6 nodes fits" in text(page, ".fig-now"))
    assert asked == ["3-1/", "6-1/"]


def test_a_lost_answer_is_told_and_the_next_one_counts(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("Failed to load resource")
    page.goto("/")
    page.route(re.compile(f"{FIRST}3"), lambda route: route.abort())
    drag(page, ".hero", 3)
    eventually(lambda: page.locator(".fig-err").is_visible())
    assert best(page) == ["node-b1"]
    drag(page, ".hero", 6)
    eventually(lambda: "none of 6 nodes fits" in text(page, ".fig-now") and not page.locator(".fig-err").is_visible())


def test_a_lesson_keeps_its_figure_while_the_sandbox_changes(page: Page, eventually: Eventually) -> None:
    open_lesson(page, "topology-spread")
    for part in (1, 2):
        page.locator("#les-skip").click()
        eventually(lambda part=part: page.locator("#panel-lesson").get_attribute("data-part") == str(part))
    eventually(lambda: best(page, "#lesson .fig") == ["node-c1"])
    drag(page, "#lesson .fig", 3)
    eventually(lambda: page.locator("#lesson .fig .node .verd-no").count() == 0)
    before = text(page, "#lesson .fig-f")
    sentence = text(page, "#sentence-text")
    press(page, eventually, "s")
    # The key reaches the page, although the slider has the focus.
    eventually(lambda: text(page, "#sentence-text") != sentence)
    assert text(page, "#lesson .fig-f") == before
    assert text(page, "#lesson .fig-drag output") == "4"
    page.locator("#les-on").click()
    eventually(lambda: page.locator("#lesson .fig").count() == 0)


def test_a_figure_of_a_lesson_that_failed_comes_with_the_next_update(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("Failed to load resource")
    page.route(re.compile("/figures/"), lambda route: route.abort())
    open_lesson(page, "topology-spread")
    for part in (1, 2):
        page.locator("#les-skip").click()
        eventually(lambda part=part: page.locator("#panel-lesson").get_attribute("data-part") == str(part))
    eventually(lambda: page.locator("#lesson .fig-err").is_visible())
    page.route(re.compile("/figures/"), lambda route: route.continue_())
    press(page, eventually, "s")
    eventually(lambda: best(page, "#lesson .fig") == ["node-c1"])
    assert page.locator("#lesson .fig").count() == 1
    assert not page.locator("#lesson .fig-err").is_visible()


def test_long_words_leave_room_for_each_other(page: Page) -> None:
    page.goto("/")
    page.evaluate(
        """() => {
            document.querySelector('.fig-drag span').textContent = 'W'.repeat(80);
            document.querySelector('.fig-drag output').textContent = 'very long '.repeat(6);
            for (const label of document.querySelectorAll('.fig-two label span')) label.textContent = 'y'.repeat(60);
        }"""
    )
    figure = page.locator(".fig").bounding_box()
    assert figure
    for part in page.locator(".fig-drag span, .fig-drag output, .fig-two label").all():
        box = part.bounding_box()
        assert box
        assert box["width"] > 90
        assert box["x"] + box["width"] <= figure["x"] + figure["width"]


@pytest.mark.parametrize("path", ["/", "/embed/figure/preemption-2/"])
def test_on_a_phone_nothing_is_cut_off(path: str, new_page: Callable[..., Page]) -> None:
    page = new_page(viewport=PHONE)
    page.goto(path)
    figure = page.locator(".fig").bounding_box()
    assert figure
    for part in page.locator(".fig .node, .fig .zone-h, .fig .node-h > *, .fig .bars").all():
        box = part.bounding_box()
        if box is None:
            continue
        inside = figure["x"] <= box["x"] and box["x"] + box["width"] <= figure["x"] + figure["width"]
        assert inside, (part.inner_text(), box, figure)


def test_an_embed_can_be_dragged(page: Page, eventually: Eventually) -> None:
    page.goto("/embed/figure/preemption-2/")
    assert "shop-1" in text(page, ".fig-f")
    drag(page, ".fig", 0)
    eventually(lambda: best(page) == [])
    assert page.locator(".fig .node .verd-no").count() == 2
