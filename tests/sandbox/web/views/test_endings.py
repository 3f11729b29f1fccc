"""The end of a lesson: the cost of a challenge, and the way back to its shelf."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from inspect import unwrap
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client, RequestFactory

from sandbox.changes import store
from sandbox.content import shelf
from sandbox.limits import ratelimit
from sandbox.storage.models import Sandbox, Study
from sandbox.web.views import learning, pages
from scheduler_engine.lesson.model import Lesson
from scheduler_engine.scenario import command_of
from tests.html import words

pytestmark = pytest.mark.django_db

OWN = """
kind: Lesson
title: "One part"
parts:
- text: "Read this."
"""
SHELVES = {
    "a-scheduling-cycle": ("/course/", "Back to the course"),
    "limits-count": ("/misconceptions/", "Back to the misconceptions"),
    "a-drain-that-never-ends": ("/challenges/", "Back to the challenges"),
    "daily": ("/challenges/", "Back to the challenges"),
}


def opened(slug: str) -> str:
    """Open a lesson in a new sandbox. Return its path."""
    return str(Client().post("/new/", {"lesson": slug})["Location"])


def sandbox_at(path: str) -> Sandbox:
    return Sandbox.objects.get(pk=path.split("/")[2])


def end(path: str, lesson: Lesson, skipped: bool = False) -> str:
    """Return the text of the lesson's panel at its end."""
    progress = {"skipped": [0]} if skipped else {}
    Study.objects.filter(sandbox=sandbox_at(path)).update(part=len(lesson.parts), progress=json.dumps(progress))
    return str(Client().get(f"{path}panel/lesson/").content.decode())


def play(path: str, *steps: dict[str, Any]) -> None:
    for step in steps:
        store.execute(sandbox_at(path), step)


@pytest.mark.parametrize("slug", SHELVES)
def test_the_end_leads_back_to_the_shelf_of_the_lesson(slug: str) -> None:
    page, title = SHELVES[slug]
    lesson = shelf.daily_challenge().lesson if slug == "daily" else shelf.lessons()[slug].lesson
    html = end(opened(slug), lesson)
    assert re.findall(r'<a class="lnk" id="les-leave" href="([^"]+)">([^<]+)<', html) == [(page, title)]


def test_the_end_of_an_own_lesson_leads_back_to_where_it_was_opened() -> None:
    answer = Client().post("/lessons/open/", {"file": SimpleUploadedFile("one.yaml", OWN.encode())})
    html = end(answer["Location"], shelf.lesson_of("", OWN) or pytest.fail("it is read"))
    assert 'href="/course/#own">Open another of your lessons</a>' in html


@pytest.mark.parametrize(("name", "way_back"), shelf.WAYS_BACK.items())
def test_a_refusal_leads_back_to_the_shelf_it_came_from(name: str, way_back: tuple[str, str, str]) -> None:
    answer = Client().post(f"/new/?shelf={name}", {"lesson": "no-such"}, headers={"Sec-Fetch-Mode": "navigate"})
    assert answer.status_code == 404
    assert f'href="/{way_back[0]}/{way_back[1]}"' in answer.content.decode()


@pytest.mark.parametrize("name", ["", "nonsense"])
def test_a_refusal_from_elsewhere_leads_to_the_first_page(name: str) -> None:
    answer = Client().post(f"/new/?shelf={name}", {"lesson": "no-such"}, headers={"Sec-Fetch-Mode": "navigate"})
    assert "Go to the start page" in answer.content.decode()


def test_too_many_new_sandboxes_lead_back_to_the_challenges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratelimit, "wait", lambda *_: 3.0)
    answer = Client().post("/new/?shelf=challenges", {"lesson": "daily"}, headers={"Sec-Fetch-Mode": "navigate"})
    assert answer.status_code == 429
    assert "Back to the challenges" in answer.content.decode()


@pytest.mark.parametrize("name", ["course", "misconceptions", "challenges"])
def test_each_form_that_opens_a_lesson_names_its_shelf(name: str) -> None:
    text = Client().get(f"/{name}/").content.decode()
    forms = re.findall(r'<form method="post" action="([^"]+)"[^>]*><input type="hidden" name="lesson"', text)
    assert {*forms} == {f"/new/?shelf={'lessons' if name == 'course' else name}"}


# --- the cost ---

DRAIN = "a-drain-that-never-ends"
SCALE = {"kind": "scale", "object_kind": "StatefulSet", "key": "default/db", "replicas": 3}


def test_the_end_of_a_challenge_itemises_its_cost() -> None:
    path, lesson = opened(DRAIN), shelf.lessons()[DRAIN].lesson
    play(path, SCALE, {"kind": "advance", "seconds": 45})
    html = end(path, lesson)
    text = words(html)
    assert "Cost 6, par 6. You paid for 1 pod that had to leave its node and 1 change:" in text
    assert "scale StatefulSet default/db to 3 1 Pod default/db-0 5" in text
    assert 'data-cost="6"' in html
    assert "commands" not in text


def test_two_changes_are_two_changes_whatever_they_cost() -> None:
    slug = "four-replicas-three-nodes"
    path, lesson = opened(slug), shelf.lessons()[slug].lesson
    way = lesson.parts[0].task or pytest.fail("there is a task")
    play(path, *(command_of(step) for step in way.right[0]))
    assert "Cost 11, par 11. You paid for 1 new node and 1 change:" in words(end(path, lesson))


def test_a_challenge_that_was_skipped_has_no_cost() -> None:
    path, lesson = opened(DRAIN), shelf.lessons()[DRAIN].lesson
    html = end(path, lesson, skipped=True)
    assert "par 6" not in words(html)
    assert "data-cost" not in html
    assert "You skipped one part." in html


def test_nothing_is_cheaper_for_going_back_into_the_setup() -> None:
    """A command that replaces one of the setup has its cost as well."""
    path, lesson = opened(DRAIN), shelf.lessons()[DRAIN].lesson
    setup = [command_of(step) for step in lesson.scenario.setup]
    store.go_to(sandbox_at(path), lambda _: len(setup) - 2)
    play(path, SCALE, *setup[-2:])
    assert "Cost 7, par 6." in words(end(path, lesson)), "the drain is a command by hand now, and is a change, too"


def test_a_long_bill_ends_with_how_much_more_there_is() -> None:
    path, lesson = opened(DRAIN), shelf.lessons()[DRAIN].lesson
    play(path, *({"kind": "cordon", "node": "node-b1", "on": number % 2 == 0} for number in range(14)))
    assert "Cost 14, par 6. You paid for 14 changes:" in words(end(path, lesson))
    assert words(end(path, lesson)).count("cordon node-b1 1") == 12
    assert "and 2 more" in words(end(path, lesson))


def test_a_challenge_at_the_end_of_which_nothing_was_done_says_so() -> None:
    text = words(end(opened(DRAIN), shelf.lessons()[DRAIN].lesson))
    assert "Cost 0, par 6. You made no changes that cost anything." in text


# --- singular forms ---

ONE_OF_MANY = re.compile(r"(?<![\w.-])(?:1|[Oo]ne) (?:parts|lessons|sentences|challenges|hours|tasks|changes)\b")


def test_a_lesson_of_one_part_has_one() -> None:
    answer = Client().post("/lessons/open/", {"file": SimpleUploadedFile("one.yaml", OWN.encode())})
    lesson = shelf.lesson_of("", OWN) or pytest.fail("it is read")
    text = words(end(answer["Location"], lesson))
    assert "One part Finished." in text
    assert not ONE_OF_MANY.search(text)


@pytest.mark.parametrize("view", [learning.course, learning.misconceptions, learning.challenges, pages.landing])
def test_a_page_with_one_lesson_counts_it_as_one(
    view: Callable[..., HttpResponse], monkeypatch: pytest.MonkeyPatch, rf: RequestFactory
) -> None:
    """Ask the view behind the cache, which would keep the page for other tests."""

    def alone(kind: str) -> list[Lesson]:
        return [replace(shelf.shelf(kind)[0], minutes=20)]

    monkeypatch.setattr(learning, "shelf", alone)
    monkeypatch.setattr(pages, "shelf", alone)
    text = words(unwrap(view)(rf.get("/")).content.decode())
    assert not ONE_OF_MANY.search(text), ONE_OF_MANY.search(text)
