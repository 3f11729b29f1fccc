"""The states that axe-core looks at: each opens a page and leads it to where there is something to look at."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from sandbox.guide import scenarios
from tests.browser.workbench import (
    Eventually,
    open_blank,
    open_editor,
    open_example,
    open_lesson,
    open_scenario,
    press,
    press_apply,
    text,
    write,
)

SLUG = "a-scheduling-cycle"
WRONG = "apiVersion: v1\nkind: Pod\nmetadata: {name: Web_1}\nspec: {containerz: []}\n"


def at(address: str) -> Callable[[Page, Eventually], Page]:
    """A page of the site that is there as soon as it is loaded."""

    def open_page(page: Page, eventually: Eventually) -> Page:
        page.goto(address)
        return page

    return open_page


def question(page: Page, eventually: Eventually) -> Page:
    """At the part of a lesson that asks first."""
    open_lesson(page, SLUG)
    for part in ("1", "2"):
        page.keyboard.press("t")
        eventually(lambda: page.locator("#les-on").count() == 1)
        page.keyboard.press("c")
        eventually(lambda part=part: page.locator("#panel-lesson").get_attribute("data-part") == part)
    page.locator("#les-q-2 input").first.wait_for()
    return page


def answered(page: Page, eventually: Eventually) -> Page:
    """What was named wrongly, and what is right."""
    question(page, eventually)
    page.locator("#les-q-2 input").first.check()
    page.locator("#les-q-2 button[type=submit]").click()
    eventually(lambda: "You answered" in text(page, "#panel-lesson"))
    page.locator("#les-step").click()
    eventually(lambda: page.locator(".les-a").count() == 1)
    return page


def challenge(page: Page, eventually: Eventually) -> Page:
    open_lesson(page, "the-critical-pod")
    return page


def at_filter(page: Page, eventually: Eventually) -> Page:
    open_example(page)
    press(page, eventually, *"ssss")
    eventually(lambda: page.locator("#panel-filter td").count() > 8)
    page.locator("#panel-filter td button").first.click()
    eventually(lambda: page.locator("#panel-filter .arith").count())
    return page


def at_scores(page: Page, eventually: Eventually) -> Page:
    open_example(page)
    press(page, eventually, *"nnnn")
    page.locator("#tab-scores").click()
    eventually(lambda: page.locator("#panel-scores td button").count())
    page.locator("#panel-scores td button").first.click()
    eventually(lambda: page.locator("#panel-scores .arith").count())
    return page


def at_preemption(page: Page, eventually: Eventually) -> Page:
    """Several candidates, criteria that were not needed, and the message of a pod that fits nowhere."""
    open_scenario(page, "preemption-several-candidates")
    page.keyboard.press("n")
    eventually(lambda: page.locator("#panel-preemption .rung").count())
    eventually(lambda: page.locator("#panel-preemption").is_visible())
    page.locator("#film-next").click()
    eventually(lambda: page.locator(".film .is-later").count())
    return page


def the_past(page: Page, eventually: Eventually) -> Page:
    open_example(page)
    press(page, eventually, *"nns")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    eventually(lambda: page.locator("#panel-timeline.is-past .is-later").count())
    return page


def long_message(page: Page, eventually: Eventually) -> Page:
    open_scenario(page, "nothing-fits")
    press(page, eventually, "n")
    return page


def wrong_pod(page: Page, eventually: Eventually) -> Page:
    """A form with errors at fields, at a row and in the YAML beside it."""
    open_blank(page)
    page.keyboard.press("a")
    page.locator("#add-pod").click()
    page.locator("#form-pod [name=name]").fill("Web_1")
    page.locator("#form-pod [name=cpu]").fill("lots")
    page.locator("#form-pod .btn-ink").click()
    eventually(lambda: page.locator("#form-pod [aria-invalid=true]").count() >= 2)
    return page


def wrong_yaml(page: Page, eventually: Eventually) -> Page:
    open_blank(page)
    open_editor(page)
    write(page, WRONG)
    press_apply(page)
    eventually(lambda: page.locator("#form-paste .err-go").count())
    return page


def wrong_import(page: Page, eventually: Eventually) -> Page:
    page.goto("/")
    page.fill("#door textarea", "kind: List\nitems: &a\n- *a\n")
    page.locator("#door button.btn-ink").click()
    eventually(lambda: "unknown anchor" in text(page, "#door .door-told"))
    return page


def wrong_name(page: Page, eventually: Eventually) -> Page:
    """The door of a room, at which a name is taken."""
    code, _ = open_room(page)
    page.goto("/join/")
    for _ in range(2):
        page.goto(f"/join/{code}/")
        page.locator("[name=name]").fill("Ada")
        page.get_by_role("button", name="Join").click()
        page.wait_for_load_state()
    page.locator("[aria-invalid=true]").wait_for()
    return page


def open_room(page: Page) -> tuple[str, Page]:
    """A room; its code and the trainer's page."""
    page.goto("/workshop/")
    page.get_by_role("button", name="Open the room").click()
    page.locator("#board").wait_for()
    return page.locator(".room-in .room-code").inner_text(), page


def trainer(page: Page, eventually: Eventually) -> Page:
    """With somebody in the room who has answered a question."""
    participant(page, eventually)
    return page


def participant(page: Page, eventually: Eventually) -> Page:
    """With an open question."""
    code, _ = open_room(page)
    other = page.context.new_page()
    other.goto(f"/join/{code}/")
    other.locator("[name=name]").fill("Ada")
    other.get_by_role("button", name="Join").click()
    other.frame_locator("iframe[title='Your sandbox']").locator("#do-stage").wait_for()
    page.get_by_role("button", name="Which node wins").click()
    other.locator("#asked [name=chosen]").first.check()
    other.locator("#asked form button").click()
    eventually(lambda: "1 of 1 have answered" in page.locator("#asked").inner_text())
    return other


def beamer(page: Page, eventually: Eventually) -> Page:
    participant(page, eventually)
    address = str(page.get_by_role("link", name="Beamer view").get_attribute("href"))
    shown = page.context.new_page()
    shown.goto(address)
    eventually(lambda: "1 of 1 have answered" in shown.locator("#asked").inner_text())
    return shown


def embed(page: Page, eventually: Eventually) -> Page:
    page.goto(f"/embed/scenario/{next(iter(scenarios()))}/?panels=sentence,ribbon,map,lanes,matrix,ladder&steps=1")
    page.locator("#panel-filter, .matrix").first.wait_for()
    return page


STATES: dict[str, Callable[[Page, Eventually], Page]] = {
    "first page": at("/"),
    "course": at("/course/"),
    "misconceptions": at("/misconceptions/"),
    "challenges": at("/challenges/"),
    "before": at("/before/"),
    "workshops": at("/workshop/"),
    "lesson": question,
    "lesson, answered": answered,
    "challenge": challenge,
    "Filter": at_filter,
    "Scores": at_scores,
    "Preemption": at_preemption,
    "long message": long_message,
    "past": the_past,
    "wrong pod": wrong_pod,
    "wrong YAML": wrong_yaml,
    "wrong import": wrong_import,
    "wrong name": wrong_name,
    "trainer": trainer,
    "participant": participant,
    "beamer": beamer,
    "embed": embed,
}
