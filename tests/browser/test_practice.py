"""Practice in a browser: choose a topic, answer, and be asked again later. Wrong answers stay in this browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from scheduler_engine.lesson.practice import practice, round_of
from tests.browser.axe import PHONE
from tests.browser.workbench import Eventually, connected, text
from tests.questions import Put, parts_of

DAY = 86_400_000


def stored(page: Page) -> Any:
    return json.loads(page.evaluate("localStorage.getItem('practice') ?? '{}'"))


def cards(page: Page) -> list[tuple[str, int]]:
    """Return key and box of each wrong answer."""
    return [(card["key"], card["box"]) for card in stored(page).get("cards", [])]


def days_pass(page: Page, count: int) -> None:
    """Let the stored times be this many days earlier."""
    value = stored(page)
    for card in value["cards"]:
        card["due"] -= count * DAY
    page.evaluate("value => localStorage.setItem('practice', value)", json.dumps(value))


def start(page: Page, button: str) -> list[Put]:
    """Press a button that opens a round. Return its questions."""
    page.get_by_role("button", name=button, exact=True).click()
    page.wait_for_url("**/s/**")
    connected(page)
    link = page.locator("#panel-lesson").get_attribute("data-round") or ""
    drawn = round_of(f"practice-{link}")
    assert drawn is not None
    return [put for _, put in parts_of(practice(drawn)) if put]


def answer(page: Page, eventually: Eventually, put: Put, rightly: bool) -> None:
    """Answer the question of the open part, run its steps, and continue."""
    part = page.locator("#panel-lesson").get_attribute("data-part")
    for choice in put.answers()[0 if rightly else 1]:
        page.locator(f".les-q input[value='{choice}']").check()
    page.locator(".les-q button[type=submit]").click()
    page.locator(".les-q").wait_for(state="detached")
    page.locator("#les-step").click()
    eventually(lambda: ("You were right." if rightly else "Not quite.") in text(page, "#panel-lesson"))
    page.locator("#les-on").click()
    eventually(lambda: page.locator("#panel-lesson").get_attribute("data-part") != part)


def test_todays_challenge_shows_how_far_this_browser_is(page: Page, eventually: Eventually) -> None:
    page.goto("/practice/")
    today = page.locator("#today li")
    assert today.get_by_role("link", name="Continue").count() == 0
    today.get_by_role("button").click()
    page.wait_for_url("**/s/**")
    connected(page)
    begun = page.url.partition("?")[0]
    for path in ("/practice/", "/challenges/"):
        page.goto(path)
        eventually(lambda: "part 1 of 1" in today.inner_text())
        assert begun.endswith(str(today.get_by_role("link", name="Continue").get_attribute("href")))


def test_wrong_answers_come_back_later_and_go_once_they_are_right(page: Page, eventually: Eventually) -> None:
    page.goto("/practice/")
    assert not page.locator("#due").is_visible()
    page.get_by_text("Taints", exact=False).first.click()
    puts = start(page, "Start")
    for number, put in enumerate(puts):
        answer(page, eventually, put, rightly=number not in (1, 2))
    assert "3 of 5 right." in text(page, "#panel-lesson")
    assert cards(page) == [("taints-1", 0)] * 2
    page.reload()
    connected(page)
    assert len(cards(page)) == 2, "an answer counts once"

    page.goto("/practice/")
    assert "2 questions come back later" in text(page, "#due")
    assert page.get_by_role("button", name="Ask again").count() == 0
    days_pass(page, 1)
    page.reload()
    eventually(lambda: "2 questions from taints, level 1" in text(page, "#due"))
    puts = start(page, "Ask again")
    answer(page, eventually, puts[0], rightly=True)
    eventually(lambda: sorted(cards(page)) == [("taints-1", 0), ("taints-1", 1)])
    answer(page, eventually, puts[1], rightly=False)
    eventually(lambda: sorted(cards(page)) == [("taints-1", 0), ("taints-1", 1)])

    days_pass(page, 7)
    answer(page, eventually, puts[2], rightly=True)
    answer(page, eventually, puts[3], rightly=True)
    eventually(lambda: sorted(cards(page)) == [("taints-1", 1), ("taints-1", 2)])
    days_pass(page, 7)
    answer(page, eventually, puts[4], rightly=True)
    eventually(lambda: cards(page) == [("taints-1", 1)])


def test_the_last_box_ends_it_and_answers_can_be_forgotten(page: Page, eventually: Eventually) -> None:
    page.goto("/practice/")
    value = {"cards": [{"key": "scores-2", "box": 2, "due": 0}, {"key": "queue-1", "box": 0, "due": 0}]}
    page.evaluate("value => localStorage.setItem('practice', value)", json.dumps(value))
    page.reload()
    eventually(lambda: page.get_by_role("button", name="Ask again").count() == 2)
    page.locator("#due li", has_text="scores").get_by_role("button").click()
    page.wait_for_url("**/s/**")
    connected(page)
    drawn = round_of(f"practice-{page.locator('#panel-lesson').get_attribute('data-round')}")
    assert drawn is not None
    assert (drawn.topic, drawn.level) == ("scores", 2)
    first = next(put for _, put in parts_of(practice(drawn)) if put)
    answer(page, eventually, first, rightly=True)
    eventually(lambda: cards(page) == [("queue-1", 0)])
    page.goto("/practice/")
    page.get_by_role("button", name="Forget my answers").click()
    eventually(lambda: not page.locator("#due").is_visible())
    assert cards(page) == []


ODD = [
    "{",
    "[1]",
    {"cards": None, "counted": None},
    {"cards": "all", "counted": "all"},
    {"cards": [None, 5, "x", {"key": 5, "box": 0, "due": 0}, {"key": "queue-1", "box": "length", "due": 0}]},
    {"cards": [{"key": "queue-1", "box": 0, "due": due} for due in ("soon", None, 1e300)]},
    {"cards": [{"key": key, "box": 0, "due": 0} for key in ("queue-9", "queue-0", "nothing-1", "queue")]},
]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_odd_cards_are_left_out_and_new_ones_count(odd: Any, page: Page, eventually: Eventually) -> None:
    page.goto("/practice/queue-1-7/")
    text_of_odd = odd if isinstance(odd, str) else json.dumps(odd)
    page.evaluate("value => localStorage.setItem('practice', value)", text_of_odd)
    page.goto("/practice/")
    page.wait_for_load_state("networkidle")
    assert not page.locator("#due").is_visible()
    page.goto("/practice/queue-1-7/")
    puts = start(page, "Start these 5 questions")
    path = page.evaluate("location.pathname")
    if isinstance(odd, dict):
        page.evaluate("value => localStorage.setItem('practice', value)", json.dumps({**odd, "counted": {path: 5}}))
    answer(page, eventually, puts[0], rightly=False)
    known = [card for card in cards(page) if card[0] == "queue-1"]
    assert known == [("queue-1", 0)]
    assert stored(page)["counted"][path] == ["0"]


def test_a_forgotten_answer_does_not_come_back_with_its_round(page: Page, eventually: Eventually) -> None:
    page.goto("/practice/queue-1-7/")
    puts = start(page, "Start these 5 questions")
    answer(page, eventually, puts[0], rightly=False)
    eventually(lambda: cards(page) == [("queue-1", 0)])
    round_address = page.url
    page.goto("/practice/")
    page.get_by_role("button", name="Forget my answers").click()
    eventually(lambda: not page.locator("#due").is_visible())
    page.goto(round_address)
    connected(page)
    answer(page, eventually, puts[1], rightly=True)
    assert cards(page) == []
    answer(page, eventually, puts[2], rightly=False)
    eventually(lambda: cards(page) == [("queue-1", 0)])


def test_on_a_phone_the_verdict_comes_into_view(new_page: Callable[..., Page], eventually: Eventually) -> None:
    page = new_page(viewport=PHONE)
    page.goto("/practice/preemption-3-7/")
    puts = start(page, "Start these 5 questions")
    for choice in puts[0].answers()[1]:
        page.locator(f".les-q input[value='{choice}']").check()
    page.locator(".les-q button[type=submit]").click()
    page.locator(".les-q").wait_for(state="detached")
    page.evaluate("document.getElementById('scroll-lesson').scrollTop = 0")
    page.locator("#les-step").click()
    verdict = page.locator("#panel-lesson .les-a")
    verdict.wait_for()
    foot = page.locator(".les-f")

    def in_view() -> bool:
        shown, below = verdict.locator(".les-v").bounding_box(), foot.bounding_box()
        return bool(shown and below and shown["y"] + shown["height"] <= below["y"])

    eventually(in_view)


def test_five_more_are_other_questions(page: Page, eventually: Eventually) -> None:
    page.goto("/practice/queue-1-7/")
    puts = start(page, "Start these 5 questions")
    for put in puts:
        answer(page, eventually, put, rightly=True)
    assert "5 of 5 right." in text(page, "#panel-lesson")
    assert cards(page) == []
    start(page, "Five more")
    assert page.locator("#panel-lesson").get_attribute("data-round") == "queue-1-8"


def test_without_storage_and_scripts_a_round_still_opens(new_page: Callable[..., Page]) -> None:
    page = new_page(java_script_enabled=False)
    page.goto("/practice/")
    assert not page.locator("#due").is_visible()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/s/**")
    assert "Part 1 of 5" in text(page, "#panel-lesson")
