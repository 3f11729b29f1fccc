"""Each lesson, taken to its end: its questions answered, its buttons pressed."""

from __future__ import annotations

import json
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page

from sandbox.lessons.shelf import lessons, shelf
from scheduler_engine.lesson.model import Part
from scheduler_engine.scenario import command_of
from tests.browser.test_lessons import open_lesson, part
from tests.browser.workbench import Eventually


def carry_out(page: Page, steps: Part) -> None:
    """The right way of a task, given to the sandbox of the page."""
    site, _, base = page.url.partition("/s/")
    url = f"{site}/api/v1/sandboxes/{base.partition('?')[0]}commands"
    for step in steps.way:
        body = json.dumps(command_of(step)).encode()
        with urlopen(Request(url, body, {"Content-Type": "application/json"}), timeout=30) as answer:
            assert answer.status == 200


ONE_OF_EACH = ("misconceptions", "challenges")
"""Shelves whose entries are made as lessons are; tests/engine/lesson plays them all."""
OPENED = [slug for slug, placed in lessons().items() if placed.shelf not in ONE_OF_EACH]
OPENED += [shelf(name)[0].slug for name in ONE_OF_EACH]


@pytest.mark.parametrize("slug", OPENED)
def test_it_goes_to_its_end(page: Page, eventually: Eventually, slug: str) -> None:
    open_lesson(page, slug)
    for number, one in enumerate(lessons()[slug].lesson.parts):
        eventually(lambda number=number: part(page) == str(number))
        if one.question:
            form = page.locator(".les-q")
            if form.locator("datalist").count():
                form.locator("input").fill(form.locator("option").first.get_attribute("value") or "")
            else:
                form.locator("input").first.check()
            form.locator("button[type=submit]").click()
            form.wait_for(state="detached")
        if one.do:
            page.locator("#les-step").click()
        if one.task:
            carry_out(page, one)
        page.locator("#les-on").click()
    eventually(lambda: page.locator("#panel-lesson[data-finished]").count() == 1)
