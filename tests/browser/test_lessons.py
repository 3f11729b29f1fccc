"""A lesson beside the workbench, and its predictions: by keyboard, on a phone, for two people, and for watchers."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.axe import PHONE
from tests.browser.workbench import Eventually, connected, head, level, open_example, open_lesson, post, press, text
from tests.screens.states import LESSON


def part(page: Page) -> str:
    return str(page.locator("#panel-lesson").get_attribute("data-part"))


def go_on(page: Page, eventually: Eventually) -> None:
    """Go through one part by keyboard, without answering."""
    before = part(page)
    if page.locator("#les-step").count():
        page.keyboard.press("t")
        eventually(lambda: page.locator("#les-on").count() == 1)
    page.keyboard.press("c")
    eventually(lambda: part(page) == str(int(before) + 1))


@pytest.fixture
def lesson(page: Page) -> Page:
    open_lesson(page, LESSON)
    return page


def test_a_whole_lesson_goes_by_keyboard_alone(lesson: Page, eventually: Eventually) -> None:
    go_on(lesson, eventually)
    go_on(lesson, eventually)
    lesson.locator("#les-q-2 input").first.focus()
    lesson.keyboard.press("Space")
    lesson.keyboard.press("Enter")
    eventually(lambda: "You answered: node-a1" in text(lesson, "#panel-lesson"))
    lesson.evaluate("document.activeElement.blur()")
    lesson.keyboard.press("t")
    eventually(lambda: "Not quite." in text(lesson, "#panel-lesson"))
    assert "Insufficient cpu" in text(lesson, "#panel-lesson")
    lesson.keyboard.press("c")
    eventually(lambda: part(lesson) == "3")
    for _ in range(3):
        go_on(lesson, eventually)
    lesson.keyboard.press("h")
    eventually(lambda: lesson.locator(".les-hints li").count() == 1)
    for _ in range(9):
        before = head(lesson)
        lesson.keyboard.press("s")
        eventually(lambda before=before: head(lesson) == before + 1)
    eventually(lambda: "Done." in text(lesson, "#panel-lesson"))
    lesson.keyboard.press("c")
    eventually(lambda: part(lesson) == "7")
    go_on(lesson, eventually)
    assert "What you know now" in text(lesson, "#panel-lesson")
    kept = json.loads(lesson.evaluate("localStorage.getItem('lessons')"))[LESSON]
    assert (kept["part"], kept["parts"], kept["done"]) == (8, 8, True)


def test_pointers_light_up_what_they_name_and_open_it(lesson: Page, eventually: Eventually) -> None:
    lesson.locator(".ptr[data-point='pod:default/web-1']").focus()
    eventually(lambda: lesson.locator(".q.is-linked[data-pod='default/web-1']").count() == 1)
    lesson.locator(".ptr[data-point='queue:activeQ']").hover()
    eventually(lambda: lesson.locator(".lane.is-pointed").get_attribute("data-queue") == "activeQ")
    assert text(lesson, "#lesson-points") == "queue activeQ"
    lesson.locator(".ptr[data-point='pane:ribbon']").hover()
    eventually(lambda: lesson.locator("#panel-ribbon.is-pointed").count() == 1)
    lesson.locator("#bench").hover()
    eventually(lambda: lesson.locator(".is-pointed").count() == 0)
    lesson.locator(".ptr[data-point='pod:default/web-1']").click()
    eventually(lambda: "web-1" in text(lesson, "#panel-inspector"))


def tabs(page: Page) -> list[str]:
    return page.locator(".tab:visible").all_inner_texts()


def test_panels_come_when_the_lesson_uses_them(lesson: Page, eventually: Eventually) -> None:
    away = ("#panel-inspector", "#panel-bindings", "#panel-faults", "#panel-timeline")
    eventually(lambda: tabs(lesson) == [] and not any(lesson.locator(panel).is_visible() for panel in away))
    lesson.locator(".ptr[data-point='pod:default/web-1']").click()
    eventually(lambda: lesson.locator("#panel-inspector").is_visible() and "pod=" in lesson.url)
    lesson.reload()
    connected(lesson)
    eventually(lambda: lesson.locator("#panel-inspector").is_visible())
    go_on(lesson, eventually)
    go_on(lesson, eventually)
    go_on(lesson, eventually)
    eventually(lambda: tabs(lesson) == ["Filter", "Scores"])
    assert not lesson.locator("#panel-timeline").is_visible()
    lesson.locator("#all-panels").click()
    eventually(lambda: len(tabs(lesson)) > 2 and all(lesson.locator(panel).is_visible() for panel in away))
    lesson.reload()
    connected(lesson)
    eventually(lambda: len(tabs(lesson)) > 2)
    lesson.locator("#all-panels").click()
    eventually(lambda: not lesson.locator("#panel-timeline").is_visible())


def test_the_decision_shows_the_moment_in_view_also_where_the_tab_of_the_stage_is_away(
    lesson: Page, eventually: Eventually
) -> None:
    press(lesson, eventually, *"ssss")
    eventually(lambda: "All 3 nodes visited" in text(lesson, "#panel-filter"))
    lesson.keyboard.press("ArrowLeft")
    eventually(lambda: "NodeAffinity skips Filter" in text(lesson, "#panel-filter"))
    lesson.keyboard.press("ArrowLeft")
    eventually(lambda: "web-1 at Snapshot:" in text(lesson, "#sentence-text"))
    eventually(lambda: "web-1 has not reached Filter yet." in text(lesson, "#panel-filter"))
    lesson.keyboard.press("End")
    eventually(lambda: "All 3 nodes visited" in text(lesson, "#panel-filter"))
    press(lesson, eventually, *"bbbb")
    eventually(lambda: "No pod has been scheduled yet." in text(lesson, "#panel-filter"))


def test_reloading_keeps_the_place(lesson: Page, eventually: Eventually) -> None:
    go_on(lesson, eventually)
    lesson.reload()
    connected(lesson)
    assert part(lesson) == "1"
    assert head(lesson) == 3


def test_two_browsers_follow_each_other(lesson: Page, new_page: Callable[..., Page], eventually: Eventually) -> None:
    other = new_page()
    other.goto(lesson.url)
    connected(other)
    go_on(lesson, eventually)
    eventually(lambda: part(other) == "1")
    lesson.locator("#les-back").click()
    eventually(lambda: part(other) == "0")
    lesson.locator("#les-catch-up").click()
    eventually(lambda: head(other) == 2)


def test_a_watcher_reads_and_cannot_answer(lesson: Page, new_page: Callable[..., Page], eventually: Eventually) -> None:
    go_on(lesson, eventually)
    go_on(lesson, eventually)
    watching = new_page()
    watching.goto(str(lesson.locator("#share-view").get_attribute("value")))
    connected(watching)
    assert part(watching) == "2"
    assert watching.locator("#les-step, .les-q").count() == 0
    assert "so you cannot answer" in text(watching, "#panel-lesson")


def test_on_a_phone_the_lesson_opens_first_and_its_button_is_in_reach(
    new_page: Callable[..., Page], eventually: Eventually
) -> None:
    page = new_page(viewport=PHONE)
    open_lesson(page, LESSON)
    box = page.locator("#les-step").bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert box["y"] + box["height"] < PHONE["height"]
    page.locator("#les-step").click()
    eventually(lambda: page.locator("#les-on").is_visible())
    page.locator(".ptr[data-point='queue:inFlight']").click()
    eventually(lambda: page.locator("#panel-queues").is_visible())
    page.locator(".dock [data-panel=lesson]").click()
    eventually(lambda: page.locator("#les-on").is_visible())
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


FOCUS = "document.activeElement.id"
AT = "([x, y]) => document.elementFromPoint(x, y).closest('button')?.id ?? ''"
"""The button at a place of the page, "" = none."""


def turn(page: Page, eventually: Eventually, number: int) -> None:
    """Open one part after the other, without its steps."""
    for each in range(int(part(page)) + 1, number + 1):
        post(page, "lesson/turn/", part=str(each))
        eventually(lambda each=each: part(page) == str(each))


def middle(page: Page, selector: str) -> list[float]:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]


def test_the_focus_skips_to_the_lesson_and_stays_there(lesson: Page, eventually: Eventually) -> None:
    lesson.keyboard.press("Tab")
    assert lesson.evaluate(FOCUS) == "skip-lesson"
    lesson.keyboard.press("Enter")
    eventually(lambda: lesson.evaluate(FOCUS) == "scroll-lesson")
    go_on(lesson, eventually)
    assert lesson.evaluate(FOCUS) == "scroll-lesson"
    lesson.evaluate("document.activeElement.blur()")
    go_on(lesson, eventually)
    assert lesson.evaluate(FOCUS) == "scroll-lesson"
    lesson.locator("#les-q-2 input").first.focus()
    lesson.keyboard.press("Space")
    lesson.keyboard.press("Enter")
    eventually(lambda: "You answered: node-a1" in text(lesson, "#panel-lesson"))
    assert lesson.evaluate(FOCUS) == "scroll-lesson"


def test_on_a_phone_a_long_sentence_unfolds_and_no_button_takes_the_place_of_another(
    new_page: Callable[..., Page], eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["Failed to load resource", "Response Status Error Code"]
    page = new_page(viewport=PHONE)
    open_lesson(page, "three-queues")
    words = page.locator("#sentence-text")
    cut = "element => element.scrollHeight > element.clientHeight + 2"
    assert words.evaluate(cut)
    page.locator("#now-rest").click()
    assert not words.evaluate(cut)
    assert page.locator("#now-precise").inner_text() == "Show the plugins' answers"
    page.locator("#now-precise").click()
    assert page.locator("#now-precise").inner_text() == "Hide the plugins' answers"
    assert page.locator(".precise .pop").is_visible()
    page.locator(".les-h").click(position={"x": 5, "y": 5}, force=True)
    assert not page.locator(".precise .pop").is_visible()

    turn(page, eventually, 2)
    page.locator("#les-step").click()
    page.locator("#les-on").wait_for()
    place = middle(page, "#les-on")
    page.locator("#les-on").click()
    eventually(lambda: part(page) == "3")
    assert page.locator("#les-back").is_visible()
    assert page.evaluate(AT, place) == ""

    turn(page, eventually, 4)
    answer = ".les-q [type=submit]"
    assert page.evaluate("([x, y]) => document.elementFromPoint(x, y).type", middle(page, answer)) == "submit"
    page.locator(answer).click()
    eventually(lambda: text(page, ".les-no") == "Choose one answer.")
    assert text(page, "#notice") == ""
    assert page.evaluate(AT, middle(page, "#les-back")) == "les-back"
    page.locator(".les-q input").first.check()
    eventually(lambda: text(page, ".les-no") == "")


def test_on_a_phone_all_panels_are_in_reach_and_a_figure_stays_beside_its_slider(
    new_page: Callable[..., Page], eventually: Eventually
) -> None:
    page = new_page(viewport=PHONE)
    open_lesson(page, "priority-and-priority-classes")
    page.locator(".dock [data-panel=decision]").click()
    page.locator("#all-panels").click()
    eventually(lambda: page.locator("[data-tabs=cluster]").is_visible())
    page.locator("#all-panels").click()
    eventually(lambda: not page.locator("[data-tabs=cluster]").is_visible())
    turn(page, eventually, 4)
    page.locator(".dock [data-panel=lesson]").click()
    page.locator(".ptr[data-point='tab:workloads']").click()
    eventually(lambda: "usual" in text(page, "#panel-workloads"))

    open_lesson(page, "topology-spread")
    turn(page, eventually, 2)
    page.locator(".lesson .fig-z").wait_for()
    page.locator(".lesson .fig-z .node").last.scroll_into_view_if_needed()
    under = "([x, y]) => document.elementFromPoint(x, y).type"
    assert page.evaluate(under, middle(page, ".lesson .fig-drag input")) == "range"


def test_the_column_folds_and_the_bench_takes_its_room(lesson: Page, eventually: Eventually) -> None:
    before = lesson.locator("#bench").bounding_box()
    lesson.locator("#fold-lesson").click()
    eventually(lambda: (lesson.locator("#bench").bounding_box() or {})["width"] > (before or {})["width"] + 200)
    assert not lesson.locator("#les-step").is_visible()


def test_predictions_are_asked_while_they_are_switched_on(page: Page, eventually: Eventually) -> None:
    open_example(page)
    assert not page.locator("#lesson").is_visible()
    page.keyboard.press("p")
    eventually(lambda: page.locator("#les-predict").is_visible())
    for _ in range(3):
        before = level(page)
        page.keyboard.press("s")
        eventually(lambda before=before: head(page) == before + 1)
    eventually(lambda: "Which nodes pass" in text(page, "#les-predict"))
    page.locator("#les-predict .les-q input").first.check()
    page.locator("#les-predict .les-q button[type=submit]").click()
    eventually(lambda: "Your answer is saved" in text(page, "#les-predict"))
    page.locator("#les-predict .les-kept summary").click()
    page.locator("#les-predict .les-again input:checked").uncheck()
    page.locator("#les-predict .les-again button[type=submit]").click()
    eventually(lambda: "You answered: none." in text(page, "#les-predict"))
    page.keyboard.press("s")
    eventually(lambda: "1 of 1 right" in text(page, "#les-predict"))
    page.reload()
    connected(page)
    eventually(lambda: page.locator("#les-predict").is_visible())
    page.keyboard.press("p")
    eventually(lambda: not page.locator("#lesson").is_visible())
