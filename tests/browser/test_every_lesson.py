"""Answer each question of the lessons, misconceptions and challenges by clicks: right and wrong, quickly and slowly, in
turn. The verdict comes only at the end, and agrees with the engine.

The suite answers each question once and clicks through one lesson in nine to its end. ``tests/sandbox/web/views``
presses every lesson's buttons. ``make questions`` gives each answer in both ways and clicks through each lesson.
"""

from __future__ import annotations

import json
import os

import pytest
from playwright.sync_api import Page

from sandbox.content.shelf import SHELVES, lessons, shelf
from sandbox.words.amounts import short_name
from scheduler_engine.lesson import Lesson
from scheduler_engine.lesson.model import Part
from scheduler_engine.scenario import command_of
from scheduler_engine.shapes import Data
from tests.browser.conftest import wait_until
from tests.browser.test_lessons import part as part_on
from tests.browser.workbench import Eventually, connected, head, new_sandbox
from tests.questions import Put, commands_of, parts_of

COMPLETE = bool(os.environ.get("EVERY_ANSWER"))
"""Give every answer in both ways, for ``make questions``; else answer each question once."""
AT_ONCE = 9
"""Lessons per page."""
CHUNKS = [(name, start) for name in SHELVES for start in range(0, len(shelf(name)), AT_ONCE)]


OCCUPIED = 409
"""Another command is still running: wait for its end and retry."""


def give(page: Page, *commands: Data, base: str = "") -> None:
    """Send commands as somebody else, to the page's sandbox or to the one at the path ``base``."""
    path = base.removeprefix("/s/") or page.url.partition("/s/")[2].partition("?")[0]

    def taken(command: Data) -> bool:
        answer = page.request.post(f"/api/v1/sandboxes/{path}commands", data=command_of(command))
        assert answer.ok or answer.status == OCCUPIED, answer.text()
        return answer.ok

    for command in commands:
        wait_until(lambda command=command: taken(command))


def answer(page: Page, put: Put, choices: tuple[str, ...]) -> None:
    form = page.locator(".les-q")
    form.wait_for()
    if form.locator("datalist").count():
        form.locator("input").fill(choices[0])
    for choice in () if form.locator("datalist").count() else choices:
        form.locator(f"input[value={json.dumps(choice, ensure_ascii=False)}]").check()
    form.locator("button[type=submit]").click()
    form.wait_for(state="detached")


def step_slowly(page: Page, eventually: Eventually, part: Part, put: Put) -> None:
    """Take the smallest steps. Assert that no verdict shows between the first and the last one."""
    *before, last = commands_of(part.do, True, put.start)
    reached = head(page)
    for commands in filter(None, (before[:1], before[1:])):
        give(page, *commands)
        reached += len(commands)
        eventually(lambda reached=reached: head(page) >= reached)
        assert page.locator(".les-a").count() == 0, "a verdict before the end"
    give(page, last)


def verdict(page: Page, eventually: Eventually, put: Put, choices: tuple[str, ...]) -> None:
    eventually(lambda: page.locator(".les-a").count() == 1)
    element = page.locator(".les-a")
    assert ("is-right" in (element.get_attribute("class") or "")) == put.agrees(choices)
    marked = element.locator("li:has(.mark.verd-yes) b").all_inner_texts()
    right = [short_name(choice) for choice in put.right]
    assert sorted(marked) == sorted(right) if put.many else {*marked} == {*right}


Parts = list[tuple[Part, Put | None]]


def take(page: Page, eventually: Eventually, lesson: Lesson, parts: Parts, turn: int, slow: bool, whole: bool) -> None:
    """Go through a lesson, part by part. ``turn`` chooses the answers. ``whole``: to its end, else only questions."""
    base = new_sandbox(page, lesson=lesson.slug)
    last = len(parts) - 1 if whole else max(number for number, (_, put) in enumerate(parts) if put)
    for number, (part, put) in enumerate(parts[: last + 1]):
        passed = not whole and not put
        if base not in page.url and not passed:
            page.goto(base)
            connected(page)
        if base in page.url:
            eventually(lambda number=number: part_on(page) == str(number))
        if passed:
            pass_by(page, base, part, number)
            continue
        if put:
            ask(page, eventually, part, put, turn + number, slow != bool(number % 2))
        elif part.do:
            page.locator("#les-step").click()
        if part.task:
            give(page, *part.way)
        if whole or number < last:
            page.locator("#les-on").click()
    if whole:
        eventually(lambda: page.locator("#panel-lesson[data-finished]").count() == 1)


def pass_by(page: Page, base: str, part: Part, number: int) -> None:
    """Go through a part without a question, by its buttons."""
    if part.task:
        give(page, *part.way, base=base)
    for verb, of in (("step", number), ("turn", number + 1)):
        assert page.request.post(f"{base}lesson/{verb}/", form={"part": str(of)}).ok


def ask(page: Page, eventually: Eventually, part: Part, put: Put, turn: int, slow: bool) -> None:
    answers = put.answers()
    choices = answers[turn % (len(answers) if COMPLETE else 2) % len(answers)]
    answer(page, put, choices)
    if slow and part.predicts:
        step_slowly(page, eventually, part, put)
    elif part.do:
        page.locator("#les-step").click()
    verdict(page, eventually, put, choices)


def turns(parts: Parts, place: int) -> list[tuple[int, bool, bool]]:
    """Return how to take a lesson: (which answers, slowly, as a whole) for each turn."""
    answers = [len(put.answers()) for _, put in parts if put]
    if not COMPLETE:
        whole = place % AT_ONCE == 0
        return [(place, bool(place // 2 % 2), whole)] if answers or whole else []
    return [(turn, slow, turn == 0) for turn in range(max(answers, default=0)) for slow in (False, True)]


@pytest.mark.parametrize(("name", "start"), CHUNKS)
def test_each_question_is_judged_at_its_end(page: Page, eventually: Eventually, name: str, start: int) -> None:
    for place, lesson in enumerate(shelf(name)[start : start + AT_ONCE], start):
        parts = [*parts_of(lesson)]
        for turn, slow, whole in turns(parts, place):
            print(lesson.slug, turn, slow)
            take(page, eventually, lesson, parts, turn, slow, whole)


def test_each_shelf_has_questions() -> None:
    asking = {placed.shelf for placed in lessons().values() if any(part.question for part in placed.lesson.parts)}
    assert asking == {*SHELVES}
